import type { RobotSession } from '@wheelhouse/protocol'
import type { Bus } from '../src/events/bus.ts'
import type { Log } from '../src/log.ts'
import type { LinkState, OpenSession, PresenceStore } from '../src/presence/presence.store.ts'
import type { RobotLink } from './robot-link.ts'

const ROBOTS_PER_QUERY = 2_000
/** Looking again over the last few seconds finds what a lost hint, or a slow commit, has hidden. */
const OVERLAP_MS = 5_000
/** How long a robot may take to stand and say so before it is told again. */
const REPEAT_STOP_MS = 1_000

/**
 * Keeps connections in step with what the database says of their robots: sessions, tokens, newer
 * connections elsewhere. Hints make it quick; polling makes it sure.
 */
export function createRobotSync(parts: {
  store: PresenceStore
  nodeId: string
  bus: Bus
  log: Log
  linkOf: (robotId: string) => RobotLink | undefined
  clockMs: () => number
}) {
  const { store, nodeId, bus, log, linkOf, clockMs } = parts
  let wanted = new Set<string>()
  let running: Promise<void> | undefined
  let lastPollMs = clockMs()
  let failed = false

  /** Looks these robots up soon, many in one query. Bounded by the robots that are connected here. */
  function want(robotIds: Iterable<string>): void {
    for (const robotId of robotIds) if (linkOf(robotId)) wanted.add(robotId)
    if (wanted.size > 0) running ??= drain()
  }

  async function drain(): Promise<void> {
    try {
      while (wanted.size > 0) {
        const batch = [...wanted].slice(0, ROBOTS_PER_QUERY)
        for (const robotId of batch) wanted.delete(robotId)
        const asked = new Map(batch.map((robotId) => [robotId, linkOf(robotId)]))
        for (const state of await store.linkStates(batch)) {
          // A connection that came meanwhile: what was found may be older than it.
          if (linkOf(state.robotId) === asked.get(state.robotId)) apply(state)
          else wanted.add(state.robotId)
        }
      }
    } catch (cause) {
      wanted = new Set() // the next poll covers the time since the last one that worked
      failed = true
      log.warn({ err: cause }, 'robots not looked up; polling will find them')
    } finally {
      running = undefined
    }
  }

  function apply(state: LinkState): void {
    const link = linkOf(state.robotId)
    if (!link || link.epoch === 0) return
    if (state.epoch > link.epoch) return link.close('replaced')
    if (state.epoch < link.epoch) return link.close('draining') // the database forgot this connection: come anew
    if (state.tokenVersion !== link.tokenVersion) return link.close('credentialRevoked')
    if (!state.connected) return link.close('draining')
    applySession(link, state.session, clockMs())
  }

  return {
    want,
    /** The hints of other processes; returns how to stop listening. */
    listen: () => bus.subscribe('robots.changed', ({ robotIds }) => want(robotIds)),

    /** Finds changes whose hint did not arrive. Throws when the database is away. */
    async poll(): Promise<void> {
      const startedMs = clockMs()
      failed = false
      want(await store.changedWithin(nodeId, startedMs - lastPollMs + OVERLAP_MS))
      await running
      if (!failed) lastPollMs = startedMs
    },
  }
}
export type RobotSync = ReturnType<typeof createRobotSync>

/** An open session as its robot is told of it. */
export function robotSession(session: LinkState['session']): RobotSession | null {
  return session && { session_id: session.id, status: session.status, operator_name: session.operatorName }
}

/** A stop in force as a robot is told of it: it stands until `stop_cleared`. */
export function latchedStop(reason: string | null): { reason: string; latched: true } | null {
  return reason === null ? null : { reason, latched: true }
}

/**
 * Tells the robot of a change of its session; a robot that may not move any more is also told to stop. A latched
 * stop goes out before everything that follows from it. A pause, or a stop, that was over before anybody looked is
 * told as a pause: whatever is obeyed late must still be obeyed.
 */
export function applySession(link: RobotLink, session: LinkState['session'], nowMs: number): void {
  if (link.session && link.session.session_id !== session?.id) sessionOver(link, link.session, nowMs)
  if (session && pausedUnseen(link, session)) applySession(link, { ...session, status: 'PAUSED' }, nowMs)
  const before = link.session
  const now = robotSession(session)
  link.session = now
  link.activeSinceMs = session?.activeSinceMs ?? 0
  const cleared = applyStop(link, session?.stopReason ?? null, nowMs)
  if (!now) return
  const changed = before?.status !== now.status
  if (changed) link.send(JSON.stringify({ type: 'session', ...now }), nowMs)
  // Also after a stop was cleared: that the robot may move again is for the operator to say, by resuming.
  const mayNotMove = now.status === 'PAUSED' && link.stopReason === null
  if (mayNotMove && (cleared || (changed && before))) stopUnlatched(link, 'session_paused', nowMs)
}

/** Whether the robot was told of an earlier stretch of ACTIVE time than the present one, and of nothing since. */
function pausedUnseen(link: RobotLink, session: OpenSession): boolean {
  const active = link.session?.status === 'ACTIVE' && session.status === 'ACTIVE'
  return active && link.activeSinceMs !== session.activeSinceMs
}

/** An open session leaves the open states in one way only. Its latched stop ends with it; the robot stands on. */
function sessionOver(link: RobotLink, before: RobotSession, nowMs: number): void {
  link.send(JSON.stringify({ type: 'session', ...before, status: 'COMPLETED' }), nowMs)
  link.session = null
  applyStop(link, null, nowMs)
  stopUnlatched(link, 'session_over', nowMs)
}

/** Tells the robot of a latched stop that is new to it, or of the end of one; answers whether one ended. */
function applyStop(link: RobotLink, reason: string | null, nowMs: number): boolean {
  if (reason === link.stopReason) return false
  link.stopReason = reason
  const stop = latchedStop(reason)
  link.stopSentMs = stop ? nowMs : 0
  link.send(stop ? JSON.stringify({ type: 'stop', ...stop }) : '{"type":"stop_cleared"}', nowMs)
  return stop === null
}

/** Tells the robot once more of a latched stop, unless it has said that it stands. Call it again and again. */
export function repeatStop(link: RobotLink, nowMs: number): void {
  if (link.stopSentMs === 0 || nowMs - link.stopSentMs < REPEAT_STOP_MS) return
  link.stopSentMs = nowMs
  link.sendIfFlowing(JSON.stringify({ type: 'stop', ...latchedStop(link.stopReason) }), nowMs)
}

function stopUnlatched(link: RobotLink, reason: 'session_paused' | 'session_over', nowMs: number): void {
  link.send(JSON.stringify({ type: 'stop', reason, latched: false }), nowMs)
}
