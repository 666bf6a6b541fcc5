import pTimeout from 'p-timeout'
import { stagger } from '../../src/core/concurrency/concurrency.ts'
import type { Log } from '../../src/core/log.ts'
import type { Presence } from '../../src/modules/presence/index.ts'
import type { GatewayConnection } from '../base/connection.ts'
import type { GatewayServices } from '../base/services.ts'
import type { GatewayRecording } from '../recording/session-recording.ts'
import type { Heartbeats } from '../robots/heartbeats.ts'
import { RobotConnection } from '../robots/robot-connection.ts'
import type { Episodes } from '../writer/episodes.ts'
import type { RobotLogQueue } from '../writer/robot-logs.ts'
import type { SessionWriter } from '../writer/session-writer.ts'

/** How long a database that does not answer may keep the connections open. */
const WRITE_LIMIT_MS = 4_000

/**
 * Drains the gateway. First it writes the data of robots, while their connections are still the current ones.
 * Then it closes all connections, robots before participants, so that participants find the robot's new gateway. A robot
 * in a session is handed over: the database counts it as connected until it reconnects or a time limit passes.
 */
export async function drainConnections(deps: {
  connections: () => Iterable<GatewayConnection>
  heartbeats: Heartbeats
  episodes: Episodes
  logs: RobotLogQueue
  sessionWriter: SessionWriter
  presence: Presence
  store: GatewayServices['store']
  nodeId: string
  log: Log
  clockMs: () => number
  recording: GatewayRecording
  /** Called once the database has recorded that robots are handed over. */
  onHandOver: () => void
}): Promise<void> {
  const {
    connections,
    heartbeats,
    episodes,
    logs,
    sessionWriter,
    presence,
    store,
    nodeId,
    log,
    clockMs,
    recording,
    onHandOver,
  } = deps
  const written = Promise.all([
    store
      .drainNode(nodeId)
      .then(onHandOver)
      .catch((cause) => log.warn({ err: cause }, 'failed to hand robots over; their sessions will pause')),
    heartbeats.flush().catch((cause) => log.error({ err: cause }, 'failed to write heartbeats at shutdown')),
    episodes
      .flush()
      .catch((cause) =>
        log.warn({ err: cause }, 'failed to store episodes at shutdown; their robots send them again'),
      ),
    logs
      .flush()
      .catch((cause) => log.warn({ err: cause }, 'failed to write log lines of robots at shutdown')),
    sessionWriter.flush(),
  ])
  await pTimeout(written, {
    milliseconds: WRITE_LIMIT_MS,
    fallback: () => log.warn('the database does not answer; the connections close before all was written'),
  })
  await stagger([...connections()], (connection) => {
    // Robots could be driven until here.
    if (connection instanceof RobotConnection)
      connection.controlSession?.stops.haltIfMoving('gateway_draining', clockMs())
    connection.close('draining')
  })
  await Promise.all([presence.idle(), sessionWriter.drain(), recording.drain()])
}
