import { stagger } from '../../src/core/concurrency/concurrency.ts'
import type { Log } from '../../src/core/log.ts'
import type { Presence, PresenceStore } from '../../src/modules/presence/index.ts'
import type { ControlSessionService } from '../control/control-session-service.ts'
import type { Episodes } from '../persistence/episodes.ts'
import type { RobotLogQueue } from '../persistence/robot-logs.ts'
import type { GatewayConnection } from './connection.ts'
import type { Heartbeats } from './heartbeats.ts'
import { RobotConnection } from './robot-connection.ts'

/**
 * Sends everybody elsewhere. First what the robots have sent is written, while the connections that own it still
 * stand; then they are closed, robots before people, who then hear where their robot is. A robot in a session is
 * handed over: the database goes on taking it for connected until it is, or until its time is up.
 */
export async function drainConnections(deps: {
  connections: () => Iterable<GatewayConnection>
  heartbeats: Heartbeats
  episodes: Episodes
  logs: RobotLogQueue
  controlService: ControlSessionService
  presence: Presence
  store: PresenceStore
  nodeId: string
  log: Log
  clockMs: () => number
  /** Called once the database knows that robots are handed over from now on. */
  onHandOver: () => void
}): Promise<void> {
  const {
    connections,
    heartbeats,
    episodes,
    logs,
    controlService,
    presence,
    store,
    nodeId,
    log,
    clockMs,
    onHandOver,
  } = deps
  await Promise.all([
    store
      .drainNode(nodeId)
      .then(onHandOver)
      .catch((cause) => log.warn({ err: cause }, 'robots in sessions will count as lost')),
    heartbeats.flush().catch((cause) => log.error({ err: cause }, 'heartbeats not written at shutdown')),
    episodes.flush().catch((cause) => log.warn({ err: cause }, 'episodes left to their robots at shutdown')),
    logs.flush().catch((cause) => log.warn({ err: cause }, 'log lines of robots not written at shutdown')),
    controlService.flush(),
  ])
  await stagger([...connections()], (connection) => {
    // Only now, since until here driving went on.
    if (connection instanceof RobotConnection)
      connection.controlSession?.haltIfMoving('gateway_draining', clockMs())
    connection.close('draining')
  })
  await Promise.all([presence.idle(), controlService.flush()])
}
