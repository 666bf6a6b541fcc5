import type { MetricsPage } from '../../src/core/metrics/metrics-http.ts'
import type { EpisodeStore } from '../../src/modules/datasets/index.ts'
import type { RevocationSources } from '../../src/modules/identity/index.ts'
import type { PresenceStore } from '../../src/modules/presence/index.ts'
import type { RecorderNodes, RecordingStreams } from '../../src/modules/recordings/index.ts'
import type { RobotLogStore } from '../../src/modules/robots/index.ts'
import type { ControlPersistence, SessionPresence, TicketStore } from '../../src/modules/sessions/index.ts'

/**
 * The methods of other services that the gateway calls. Their arguments and results are plain data, so that the services can run in
 * another thread.
 */
export const serviceMethods = {
  store: [
    'connect',
    'disconnect',
    'saveHeartbeats',
    'linkStates',
    'changedWithin',
    'connectedTo',
    'drainNode',
  ],
  sessionPresence: ['handleRobotLost', 'handleRobotReturned'],
  episodeStore: ['save'],
  logStore: ['append'],
  controlPersistence: [
    'recordStop',
    'operatorLost',
    'recordJoin',
    'recordReturn',
    'addLatency',
    'endedCredentials',
    'revokedParticipants',
  ],
  ticketStore: ['verdictOf'],
  recorderNodes: ['live'],
  streams: ['addGapOfSession'],
  apiKeys: ['revokedWithin'],
  users: ['permissionsChangedWithin'],
  metrics: ['page'],
} as const

type Methods = typeof serviceMethods
type ServiceName = keyof Methods
interface Implementations {
  store: PresenceStore
  sessionPresence: SessionPresence
  episodeStore: EpisodeStore
  logStore: RobotLogStore
  controlPersistence: ControlPersistence
  ticketStore: TicketStore
  recorderNodes: RecorderNodes
  streams: RecordingStreams
  apiKeys: RevocationSources['apiKeys']
  users: RevocationSources['users']
  metrics: { page: MetricsPage }
}

/** The services that a gateway needs. */
export type GatewayServices = {
  [Name in ServiceName]: Pick<Implementations[Name], Methods[Name][number] & keyof Implementations[Name]>
}
