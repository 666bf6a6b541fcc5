import { handleEach } from '../../core/errors/handle-each.ts'
import type { Log } from '../../core/log.ts'
import type { SessionLifecycle, SessionPresence } from '../sessions/index.ts'
import { createGatewaySilences } from './gateway-silences.ts'
import type { LostRobot, PresenceStore } from './presence.store.ts'

/** Sessions handled in one sweep; the next sweep handles the rest. */
const SESSIONS_PER_SWEEP = 500
const ROBOTS_PER_STATEMENT = 2_000
/** Lower bound for the node timeout: nodes renew every second, and a robot timeout may be shorter than that. */
const MIN_NODE_TIMEOUT_MS = 3_000

/**
 * Repairs the state that gateways could not persist: robots of a dead gateway, sessions whose status does not match
 * their robot's connection, and robots that stay away longer than the grace period.
 *
 * A node counts as dead when its row did not change for `nodeTimeoutMs` of this process's clock while the database
 * was reachable. A late sweep only looks, see `gateway-silences.ts`: robots that returned before it could not be stored, so no
 * robot is disconnected, and no session is paused or ended. Sessions are ended only some seconds later.
 */
export function createSweep(deps: {
  store: PresenceStore
  sessions: SessionPresence
  lifecycle: SessionLifecycle
  log: Log
  nodeTimeoutMs: number
  /** How long robots may take to reconnect after a draining gateway closed their connections. */
  handoverMs: number
  robotGraceMs: number
  now: () => Date
  monotonicMs: () => number
}) {
  const { store, sessions, lifecycle, log, robotGraceMs, now, monotonicMs } = deps
  const nodeTimeoutMs = Math.max(deps.nodeTimeoutMs, MIN_NODE_TIMEOUT_MS)
  const handoverMs = Math.max(deps.handoverMs, nodeTimeoutMs)
  const silences = createGatewaySilences(nodeTimeoutMs)

  async function disconnectNode(nodeId: string, reason: string): Promise<void> {
    const robots = await store.connectedTo(nodeId)
    const lost: LostRobot[] = []
    for (let start = 0; start < robots.length; start += ROBOTS_PER_STATEMENT) {
      const batch = robots.slice(start, start + ROBOTS_PER_STATEMENT)
      // The database already has the last known heartbeats; no later sign of life is known.
      const disconnects = batch.map((robot) => ({ ...robot, lastSignMs: 0, lastHeartbeatMs: 0 }))
      lost.push(...(await store.disconnect(disconnects)).lostInSession)
    }
    await handleEach(
      lost.map((robot) => ({ id: robot.robotId, ...robot })),
      ({ robotId, lastSign }) => sessions.handleRobotLost(robotId, lastSign),
      { log, failure: 'session of a lost robot not paused; the next sweep repeats it' },
    )
    await store.removeNode(nodeId)
    silences.forget(nodeId)
    log.warn({ nodeId, robots: robots.length, inSession: lost.length }, `node disconnected: ${reason}`)
  }

  async function readNodes() {
    try {
      return await store.nodes()
    } catch (cause) {
      silences.noteFailure()
      throw cause
    }
  }

  async function sweepNodes(nodes: Awaited<ReturnType<typeof readNodes>>): Promise<number> {
    const failedNodes = await handleEach(
      nodes,
      async ({ id, draining }) => {
        // Succeeds as soon as the last of its robots has reconnected elsewhere.
        if (draining && (await store.removeNode(id))) return
        if (silences.silentMs(id) > (draining ? handoverMs : nodeTimeoutMs))
          await disconnectNode(id, 'its gateway does not renew')
      },
      { log, failure: 'gateway not swept' },
    )
    const failedOrphans = await handleEach(
      await store.orphanedNodes(),
      (nodeId) => disconnectNode(nodeId, 'its gateway is unknown'),
      { log, failure: 'unknown gateway not swept' },
    )
    return failedNodes + failedOrphans
  }

  async function sweepSessions(): Promise<number> {
    const { lost, returned } = await sessions.findPresenceMismatches(SESSIONS_PER_SWEEP)
    const ofRobot = { log, failure: 'session of a robot not updated' }
    const failedRobots =
      (await handleEach(lost, sessions.handleRobotInferredLost, ofRobot)) +
      (await handleEach(returned, sessions.handleRobotReturned, ofRobot))
    if (!silences.mayEndSessions()) return failedRobots
    const lostBefore = new Date(now().getTime() - robotGraceMs)
    const failedEnds = await handleEach(
      await sessions.lostSince(lostBefore, SESSIONS_PER_SWEEP),
      (session) => lifecycle.endLost(session, lostBefore),
      { log, failure: 'session of a lost robot not ended' },
    )
    return failedRobots + failedEnds
  }

  return {
    /**
     * Runs one sweep. The job runner calls it periodically.
     * @throws when the database is unreachable, and when something could not be repaired
     */
    async run(): Promise<void> {
      const nodes = await readNodes()
      if (!silences.noteAnswer(nodes, monotonicMs())) return
      const failed = (await sweepNodes(nodes)) + (await sweepSessions())
      if (failed > 0) throw new Error(`the sweep failed for ${failed} gateways or sessions`)
    },
  }
}
