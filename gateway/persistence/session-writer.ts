import type { Log } from '../../src/core/log.ts'
import type { ControlPersistence } from '../../src/modules/sessions/index.ts'
import type { ControlSession, PendingStop } from '../control/control-session.ts'
import type { ControlSessionRegistry } from '../control/control-session-registry.ts'
import { mergeStops } from '../control/stop-merging.ts'

/** How often what was driven is added to the session's summary: not all sessions' at the same moment. */
const LATENCY_EVERY_MS = 10_000
const LATENCY_SLOTS = 100
/** How long to wait after the database has failed before asking it again for the same session. */
const RETRY_MS = 500
/** Sessions written of at a time, beyond which the summaries of others wait; what is urgent does not. */
const MAX_AT_ONCE = 50
/** Summaries of sessions that are over, kept while the database is away; of more than that, the newest. */
const MAX_ENDED = 1_000

/**
 * What driving leaves in the database, written beside the relay and never awaited by it: stops that were pressed
 * here, that a session is driven, that its operator is gone, how long commands took. What could not be written is
 * tried again until it is.
 */
export function createSessionWriter(deps: {
  driving: ControlPersistence
  sessionRegistry: ControlSessionRegistry
  requestLookup: (robotIds: Iterable<string>) => void
  operatorGraceMs: number
  log: Log
  clockMs: () => number
}) {
  const { driving, sessionRegistry, requestLookup, operatorGraceMs, log, clockMs } = deps
  /** Sessions that are being written of, or wait after a failure until a time. */
  const busyUntilMs = new WeakMap<ControlSession, number>()
  /** In which period a session's summary was last written. */
  const latencySavedIn = new WeakMap<ControlSession, number>()
  const ended = new Set<ControlSession>()
  const running = new Set<Promise<void>>()
  let failing = false

  /** Has the database know of a stop that was pressed here. */
  async function record(controlSession: ControlSession, pendingStop: PendingStop): Promise<number | 'over'> {
    const { reason, ...by } = pendingStop
    controlSession.recordingStop = true
    try {
      return await driving.recordStop({ sessionId: controlSession.session.id, ...by }, reason)
    } catch (cause) {
      // It is tried again, and then comes after all that was pressed by now.
      controlSession.pendingStop = mergeStops(controlSession, pendingStop, controlSession.nextPendingStop)
      controlSession.nextPendingStop = null
      throw cause
    } finally {
      controlSession.recordingStop = false
    }
  }

  async function recordPendingStops(controlSession: ControlSession): Promise<void> {
    if (!controlSession.pendingStop) return
    const frameBefore = controlSession.stateFrame()
    // Whoever pressed meanwhile had it pressed before anybody could clear what is recorded now, so theirs follows at
    // once; of those who go on pressing, the next turn of the clock takes care.
    try {
      for (let round = 0; round < 2 && controlSession.pendingStop; round++) {
        const { pendingStop } = controlSession
        const eventSeq = await record(controlSession, pendingStop)
        controlSession.pendingStop = controlSession.nextPendingStop
        controlSession.nextPendingStop = null
        recorded(controlSession, pendingStop, eventSeq)
      }
    } finally {
      if (controlSession.stateFrame() !== frameBefore) controlSession.broadcastState(clockMs())
    }
    requestLookup([controlSession.robotId])
    sessionRegistry.removeIfEmpty(controlSession)
  }

  function recorded(
    controlSession: ControlSession,
    { userId, ownerId }: PendingStop,
    eventSeq: number | 'over',
  ): void {
    if (eventSeq !== 'over') {
      if (controlSession.stop) controlSession.stop = { ...controlSession.stop, recorded: true }
      const { session } = controlSession
      const role = controlSession.roleOf(userId)
      controlSession.session = {
        ...session,
        eventSeq: Math.max(eventSeq, session.eventSeq),
        stopReason: controlSession.stop?.reason ?? null,
        stopByRole: session.stopReason === null ? role : session.stopByRole,
        stopByOwner: session.stopByOwner || role !== 'operator' || ownerId !== undefined,
      }
      return
    }
    // Nothing to latch: the session is over, which is about to be found, or the stop was not theirs to press. That
    // takes no stop away which somebody else has pressed.
    if (
      controlSession.pendingStop !== null ||
      controlSession.session.stopReason !== null ||
      !controlSession.stopLatched
    )
      return
    controlSession.unlatch(clockMs())
    controlSession.halt('stop_refused', clockMs())
  }

  /** What could not be recorded before the operator joined, because the database was away. */
  async function recordFirstJoin(controlSession: ControlSession): Promise<void> {
    if (!controlSession.operatorJoined || controlSession.session.driven) return
    const eventSeq = await driving.recordJoin(controlSession.session.id)
    controlSession.session = { ...controlSession.session, driven: true }
    if (eventSeq === undefined || eventSeq > controlSession.session.eventSeq)
      requestLookup([controlSession.robotId])
  }

  async function recordOperatorLost(controlSession: ControlSession): Promise<void> {
    const sinceMs = controlSession.unattendedSinceMs
    if (sinceMs === 0 || clockMs() - sinceMs < operatorGraceMs) return
    await driving.operatorLost(controlSession.session.id)
    requestLookup([controlSession.robotId])
  }

  /** Every session's periods begin at a time of its own. */
  const periodOf = (controlSession: ControlSession): number =>
    Math.floor(clockMs() / LATENCY_EVERY_MS + (controlSession.ordinal % LATENCY_SLOTS) / LATENCY_SLOTS)

  async function recordLatency(controlSession: ControlSession): Promise<void> {
    const period = periodOf(controlSession)
    if (latencySavedIn.get(controlSession) === period && !ended.has(controlSession)) return
    const latencySummary = controlSession.latencyRecorder.take()
    if (latencySummary) {
      try {
        await driving.addLatency(controlSession.session.id, latencySummary)
      } catch (cause) {
        controlSession.latencyRecorder.restore(latencySummary)
        throw cause
      }
    }
    latencySavedIn.set(controlSession, period)
  }

  /** Writes all there is to write of one session, the stop first. */
  async function write(controlSession: ControlSession): Promise<void> {
    busyUntilMs.set(controlSession, Number.POSITIVE_INFINITY)
    const last = ended.has(controlSession)
    try {
      for (const job of [recordPendingStops, recordFirstJoin, recordOperatorLost, recordLatency])
        await job(controlSession)
      if (last && !controlSession.pendingStop) ended.delete(controlSession) // if somebody pressed again, that is still to be written
      busyUntilMs.delete(controlSession)
      failing = false
    } catch (cause) {
      busyUntilMs.set(controlSession, clockMs() + RETRY_MS)
      if (!failing) log.warn({ err: cause, sessionId: controlSession.session.id }, 'driving not recorded yet')
      failing = true
    }
  }

  function begin(controlSession: ControlSession): void {
    if (clockMs() < (busyUntilMs.get(controlSession) ?? 0)) return
    const job: Promise<void> = write(controlSession).finally(() => running.delete(job))
    running.add(job)
  }

  const isUrgent = (controlSession: ControlSession): boolean =>
    controlSession.pendingStop !== null ||
    (controlSession.operatorJoined && !controlSession.session.driven) ||
    (controlSession.unattendedSinceMs !== 0 &&
      clockMs() - controlSession.unattendedSinceMs >= operatorGraceMs)

  const isDue = (controlSession: ControlSession): boolean =>
    running.size < MAX_AT_ONCE && latencySavedIn.get(controlSession) !== periodOf(controlSession)

  return {
    /** Writes of one session at once what waits. */
    begin,

    /** Begins what is due. Call it again and again. */
    tick(): void {
      for (const controlSession of sessionRegistry.all())
        if (isUrgent(controlSession) || isDue(controlSession)) begin(controlSession)
      for (const controlSession of ended)
        if (isUrgent(controlSession) || running.size < MAX_AT_ONCE) begin(controlSession)
    },

    /** A session is gone from here: what was measured of it last is still to be written. */
    ended(controlSession: ControlSession): void {
      ended.add(controlSession)
      const oldest = ended.values().next().value
      if (ended.size > MAX_ENDED && oldest) ended.delete(oldest)
      // Its robot may be driven elsewhere already, where nobody knows of the stop; and who says so is the database.
      if (!controlSession.pendingStop || busyUntilMs.get(controlSession) === Number.POSITIVE_INFINITY) return
      busyUntilMs.delete(controlSession)
      begin(controlSession)
    },

    /** Begins everything, due or not, and waits for all that is under way. */
    async flush(): Promise<void> {
      for (const controlSession of sessionRegistry.all()) ended.add(controlSession)
      for (const controlSession of ended) begin(controlSession)
      await Promise.all(running)
    },
  }
}
export type SessionWriter = ReturnType<typeof createSessionWriter>
