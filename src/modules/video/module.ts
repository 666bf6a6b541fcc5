import type { CoreServices } from '../../core/core-services.ts'
import type { Guard } from '../../core/process/guard.ts'
import { createCameras } from './camera.service.ts'
import { createCameraStore } from './camera.store.ts'
import type { TurnSettings } from './ice-servers.ts'
import { createMediaRequests } from './media-requests.ts'
import {
  createPeers,
  type RobotTokenReader,
  type TicketReader,
  type TicketVerdicts,
} from './peers.service.ts'

/** Creates the services of cameras and of their publishers and viewers. */
export function createVideo(
  core: CoreServices,
  deps: {
    guard: Guard
    robotTokens: RobotTokenReader
    tickets: TicketReader
    ticketStore: TicketVerdicts
    turn: TurnSettings | undefined
  },
) {
  const store = createCameraStore(core)
  const requests = createMediaRequests({ bus: core.bus, guard: deps.guard })
  return {
    cameraStore: store,
    cameras: createCameras({ ...core, store, turn: deps.turn }),
    peers: createPeers({ ...deps, store, requests }),
    turn: deps.turn,
  }
}
