import { isDatabaseUnreachable } from '../../core/errors/errors.ts'
import type { Log } from '../../core/log.ts'
import type { SessionLifecycle, SessionPresence } from '../sessions/index.ts'
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
 * was reachable. The database's clock would declare every robot lost after an outage of the database, because no node
 * could renew its row during the outage.
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
  const seen = new Map<string, { mark: string; sinceMs: number }>()
  let lastAnswerMs = Number.NEGATIVE_INFINITY
  let failedSince = false
  let wasLate = false

  async function disconnectNode(nodeId: string, reason: string): Promise<void> {
    const robots = await store.connectedTo(nodeId)
    const lost: LostRobot[] = []
    for (let start = 0; start < robots.length; start += ROBOTS_PER_STATEMENT) {
      const batch = robots.slice(start, start + ROBOTS_PER_STATEMENT)
      // The database already has the last known heartbeats; no later sign of life is known.
      const disconnects = batch.map((robot) => ({ ...robot, lastSignMs: 0, lastHeartbeatMs: 0 }))
      lost.push(...(await store.disconnect(disconnects)).lostInSession)
    }
    for (const { robotId, lastSign } of lost) await sessions.handleRobotLost(robotId, lastSign)
    await store.removeNode(nodeId)
    seen.delete(nodeId)
    log.warn({ nodeId, robots: robots.length, inSession: lost.length }, `node disconnected: ${reason}`)
  }

  async function readNodes() {
    try {
      return await store.nodes()
    } catch (cause) {
      failedSince = true
      throw cause
    }
  }

  /**
   * Gives every node the full timeout again after an outage of the database, in which no node could renew its row. A single late sweep
   * counts as one: this process, and gateways with it, may have been suspended. Sweeps that are always late are overloaded.
   */
  function resetAfterOutage(nowMs: number): void {
    const late = nowMs - lastAnswerMs > nodeTimeoutMs / 2
    if (late && (failedSince || !wasLate)) seen.clear()
    wasLate = late && !failedSince
    failedSince = false
    lastAnswerMs = nowMs
  }

  async function sweepNodes(): Promise<void> {
    const nodes = await readNodes()
    const nowMs = monotonicMs()
    resetAfterOutage(nowMs)
    const known = new Set(nodes.map((node) => node.id))
    for (const nodeId of seen.keys()) if (!known.has(nodeId)) seen.delete(nodeId)
    for (const { id, seenMark, draining } of nodes) {
      // Succeeds as soon as the last of its robots has reconnected elsewhere.
      if (draining && (await store.removeNode(id))) continue
      const previous = seen.get(id)
      if (previous?.mark !== seenMark) seen.set(id, { mark: seenMark, sinceMs: nowMs })
      else if (nowMs - previous.sinceMs > (draining ? handoverMs : nodeTimeoutMs)) {
        await disconnectNode(id, 'its gateway does not renew')
      }
    }
    for (const nodeId of await store.orphanedNodes()) await disconnectNode(nodeId, 'its gateway is unknown')
  }

  async function sweepSessions(): Promise<void> {
    const failures: Error[] = []
    /** Handles all items: one failed session must not delay the others. Only an unreachable database ends the sweep. */
    async function each<T>(items: readonly T[], handle: (item: T) => Promise<unknown>): Promise<void> {
      for (const item of items) {
        try {
          await handle(item)
        } catch (cause) {
          if (isDatabaseUnreachable(cause)) throw cause
          failures.push(new Error(`sweep failed for ${JSON.stringify(item)}`, { cause }))
        }
      }
    }
    const { lost, returned } = await sessions.findPresenceMismatches(SESSIONS_PER_SWEEP)
    await each(lost, sessions.handleRobotInferredLost)
    await each(returned, sessions.handleRobotReturned)
    const lostBefore = new Date(now().getTime() - robotGraceMs)
    const expired = await sessions.lostSince(lostBefore, SESSIONS_PER_SWEEP)
    await each(expired, (session) => lifecycle.endLost(session, lostBefore))
    if (failures.length > 0) throw new AggregateError(failures, 'the sweep failed for some sessions')
  }

  return {
    /** Runs one sweep. The job runner calls it periodically. Throws when the database is unreachable. */
    async run(): Promise<void> {
      await sweepNodes()
      await sweepSessions()
    },
  }
}
