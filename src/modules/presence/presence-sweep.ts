import { isDatabaseUnreachable } from '../../core/errors/errors.ts'
import type { Log } from '../../core/log.ts'
import type { SessionLifecycle, SessionPresence } from '../sessions/index.ts'
import type { LostRobot, PresenceStore } from './presence.store.ts'

/** Sessions handled in one sweep; the rest waits for the next. */
const SESSIONS_PER_SWEEP = 500
const ROBOTS_PER_STATEMENT = 2_000
/** Nodes renew every second, so shorter timeouts of robots would declare every node dead, or none. */
const MIN_NODE_TIMEOUT_MS = 3_000

/**
 * Finds what gateways could not tell: the robots of a gateway that died, sessions that were not told of
 * their robot, robots that stayed away longer than the grace.
 *
 * A node counts as dead when its row stood still for `nodeTimeoutMs` of this process's own clock while the
 * database answered. Ages by the database's clock would declare every robot lost after an outage of the
 * database, when in truth only the renewals were missing.
 */
export function createSweep(deps: {
  store: PresenceStore
  sessions: SessionPresence
  lifecycle: SessionLifecycle
  log: Log
  nodeTimeoutMs: number
  /** How long robots that a draining gateway sent away may take to find another. */
  handoverMs: number
  robotGraceMs: number
  now: () => Date
  monotonicMs: () => number
}) {
  const { store, sessions, lifecycle, log, robotGraceMs, now, monotonicMs } = deps
  const nodeTimeoutMs = Math.max(deps.nodeTimeoutMs, MIN_NODE_TIMEOUT_MS)
  const handOverMs = Math.max(deps.handoverMs, nodeTimeoutMs)
  const seen = new Map<string, { mark: string; sinceMs: number }>()
  let lastAnswerMs = Number.NEGATIVE_INFINITY

  async function disconnectNode(nodeId: string, reason: string): Promise<void> {
    const robots = await store.connectedTo(nodeId)
    const lost: LostRobot[] = []
    for (let start = 0; start < robots.length; start += ROBOTS_PER_STATEMENT) {
      const batch = robots.slice(start, start + ROBOTS_PER_STATEMENT)
      // The heartbeats are in the database as far as they are known; this connection has no later sign of life.
      const disconnects = batch.map((robot) => ({ ...robot, lastSignMs: 0, lastHeartbeatMs: 0 }))
      lost.push(...(await store.disconnect(disconnects)).lostInSession)
    }
    for (const { robotId, lastSign } of lost) await sessions.handleRobotLost(robotId, lastSign)
    await store.forgetNode(nodeId)
    seen.delete(nodeId)
    log.warn({ nodeId, robots: robots.length, inSession: lost.length }, `robots swept: ${reason}`)
  }

  async function sweepNodes(): Promise<void> {
    const nodes = await store.nodes()
    const nowMs = monotonicMs()
    // After a gap in the answers nobody could renew: every node gets its full time again.
    if (nowMs - lastAnswerMs > nodeTimeoutMs / 2) seen.clear()
    lastAnswerMs = nowMs
    const known = new Set(nodes.map((node) => node.id))
    for (const nodeId of seen.keys()) if (!known.has(nodeId)) seen.delete(nodeId)
    for (const { id, seenMark, draining } of nodes) {
      // As soon as the last of its robots has arrived elsewhere.
      if (draining && (await store.forgetNode(id))) continue
      const before = seen.get(id)
      if (before?.mark !== seenMark) seen.set(id, { mark: seenMark, sinceMs: nowMs })
      else if (nowMs - before.sinceMs > (draining ? handOverMs : nodeTimeoutMs)) {
        await disconnectNode(id, 'gateway is silent')
      }
    }
    for (const nodeId of await store.orphanedNodes()) await disconnectNode(nodeId, 'gateway is unknown')
  }

  async function sweepSessions(): Promise<void> {
    const failures: Error[] = []
    /** One session's trouble must not keep the others waiting; only a database that is away ends the sweep. */
    async function each<T>(items: readonly T[], handle: (item: T) => Promise<unknown>): Promise<void> {
      for (const item of items) {
        try {
          await handle(item)
        } catch (cause) {
          if (isDatabaseUnreachable(cause)) throw cause
          failures.push(new Error(`not swept: ${JSON.stringify(item)}`, { cause }))
        }
      }
    }
    const { lost, returned: back } = await sessions.findPresenceMismatches(SESSIONS_PER_SWEEP)
    await each(lost, sessions.handleRobotInferredLost)
    await each(back, sessions.robotBack)
    const lostBefore = new Date(now().getTime() - robotGraceMs)
    const expired = await sessions.lostSince(lostBefore, SESSIONS_PER_SWEEP)
    await each(expired, (session) => lifecycle.endLost(session, lostBefore))
    if (failures.length > 0) throw new AggregateError(failures, 'some sessions could not be swept')
  }

  return {
    /** One sweep; call it again and again. Throws when the database is away. */
    async run(): Promise<void> {
      await sweepNodes()
      await sweepSessions()
    },
  }
}
export type Sweep = ReturnType<typeof createSweep>
