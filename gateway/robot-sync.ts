import type { RobotSession } from '@wheelhouse/protocol'
import type { Bus } from '../src/events/bus.ts'
import type { Log } from '../src/log.ts'
import type { LinkState, PresenceStore } from '../src/presence/presence.store.ts'
import type { RobotLink } from './robot-link.ts'

const ROBOTS_PER_QUERY = 2_000
/** Looking again over the last few seconds finds what a lost hint, or a slow commit, has hidden. */
const OVERLAP_MS = 5_000

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
        const states = await store.linkStates(batch)
        for (const state of states) apply(state)
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

/** Tells the robot of a change of its session; a robot that may not move any more is also told to stop. */
export function applySession(link: RobotLink, session: LinkState['session'], nowMs: number): void {
  const before = link.session
  if (before && before.session_id !== session?.id) {
    // An open session leaves the open states in one way only.
    link.send(JSON.stringify({ type: 'session', ...before, status: 'COMPLETED' }), nowMs)
    link.send('{"type":"stop","reason":"session_over","latched":false}', nowMs)
  }
  const now = robotSession(session)
  link.session = now
  if (!now) return
  if (before?.session_id === now.session_id && before.status === now.status) return
  link.send(JSON.stringify({ type: 'session', ...now }), nowMs)
  const wasActive = before?.session_id === now.session_id && before.status === 'ACTIVE'
  if (wasActive && now.status === 'PAUSED') {
    link.send('{"type":"stop","reason":"session_paused","latched":false}', nowMs)
  }
}
