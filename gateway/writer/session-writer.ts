import { setTimeout as delay } from 'node:timers/promises'
import pTimeout from 'p-timeout'
import type { Log } from '../../src/core/log.ts'
import type { ControlPersistence } from '../../src/modules/sessions/index.ts'
import type { ControlSession } from '../control/control-session.ts'
import type { ControlSessionRegistry } from '../control/control-session-registry.ts'

/** How often the measured latency is added to a session's summary; staggered over all sessions. */
const LATENCY_EVERY_MS = 10_000
const LATENCY_SLOTS = 100
/** How long to wait after a failure before the same session is written again. */
const RETRY_MS = 500
/** Sessions that are written at a time. Beyond it summaries wait; urgent writes do not. */
const MAX_CONCURRENT = 50
/** How long a gateway that drains tries to record its last stops. */
const LAST_ATTEMPTS_MS = 3_000
const LAST_ATTEMPT_EVERY_MS = 250
/** Ended sessions that wait for the database; of more than that, the newest. */
const MAX_ENDED = 1_000

/**
 * Writes what happens in control sessions to the database: requested stops, the first operator, the loss of an operator,
 * and the latency of commands. The relay never waits for it. Failed writes are retried until they succeed.
 */
export function createSessionWriter(deps: {
  controlPersistence: ControlPersistence
  sessionRegistry: ControlSessionRegistry
  requestLookup: (robotIds: Iterable<string>) => void
  operatorGraceMs: number
  log: Log
  clockMs: () => number
}) {
  const { controlPersistence, sessionRegistry, requestLookup, operatorGraceMs, log, clockMs } = deps
  /** Until when a session is not written again: it is being written, or waits after a failure. */
  const busyUntilMs = new WeakMap<ControlSession, number>()
  /** The period in which a session's summary was last written. */
  const latencySavedIn = new WeakMap<ControlSession, number>()
  const ended = new Set<ControlSession>()
  const running = new Set<Promise<void>>()
  let failing = false

  /** Records a pending stop, if there is one. Returns whether there was. */
  async function recordStop(controlSession: ControlSession): Promise<boolean> {
    const { session, stops } = controlSession
    const request = stops.beginRecording(clockMs())
    if (!request) return false
    const { reason, ...requester } = request
    let eventSeq: number | 'over'
    try {
      eventSeq = await controlPersistence.recordStop({ sessionId: session.id, ...requester }, reason)
    } catch (cause) {
      stops.recordingFailed()
      throw cause
    }
    if (eventSeq === 'over') stops.refused(clockMs())
    else stops.recorded(request, eventSeq)
    return true
  }

  async function recordPendingStops(controlSession: ControlSession): Promise<void> {
    if (!controlSession.stops.pending) return
    const frameBefore = controlSession.stateFrame()
    try {
      // A request that arrived while the first was recorded precedes any clearing of that stop, so it is recorded at
      // once as well. The next periodic write records later ones.
      if (!(await recordStop(controlSession))) return // another process is recording it
      await recordStop(controlSession)
    } finally {
      if (controlSession.stateFrame() !== frameBefore) controlSession.broadcastState(clockMs())
    }
    requestLookup([controlSession.robotId])
    sessionRegistry.removeIfAbandoned(controlSession)
  }

  /** Records the first operator if the database was unavailable when the operator joined. */
  async function recordFirstJoin(controlSession: ControlSession): Promise<void> {
    if (!controlSession.isJoinUnrecorded) return
    const eventSeq = await controlPersistence.recordJoin(controlSession.session.id)
    controlSession.markDriven()
    if (eventSeq === undefined || eventSeq > controlSession.session.eventSeq)
      requestLookup([controlSession.robotId])
  }

  /** Returns whether the database does not know yet that the operator has returned in the current pause. */
  const isReturnUnrecorded = ({ operator, session }: ControlSession): boolean =>
    operator !== null && session.operatorGone

  /** Records that the operator has returned, so that the platform does not end the session as abandoned. */
  async function recordReturn(controlSession: ControlSession): Promise<void> {
    if (!isReturnUnrecorded(controlSession)) return
    await controlPersistence.recordReturn(controlSession.session.id)
    requestLookup([controlSession.robotId])
  }

  const isOperatorLost = (controlSession: ControlSession): boolean => {
    const unattendedMs = controlSession.unattendedMs(clockMs())
    return unattendedMs > 0 && unattendedMs >= operatorGraceMs
  }

  async function recordOperatorLost(controlSession: ControlSession): Promise<void> {
    if (!isOperatorLost(controlSession)) return
    const { lease, connectedUserIds } = controlSession
    await controlPersistence.operatorLost(controlSession.session.id, { epoch: lease.epoch, connectedUserIds })
    requestLookup([controlSession.robotId])
  }

  /** Returns the number of the session's current period. Sessions begin their periods at different times. */
  const periodOf = (controlSession: ControlSession): number =>
    Math.floor(clockMs() / LATENCY_EVERY_MS + (controlSession.ordinal % LATENCY_SLOTS) / LATENCY_SLOTS)

  async function recordLatency(controlSession: ControlSession): Promise<void> {
    const period = periodOf(controlSession)
    if (latencySavedIn.get(controlSession) === period && !ended.has(controlSession)) return
    const latencySummary = controlSession.latencyRecorder.take()
    if (latencySummary) {
      const speed = controlSession.speed.take()
      const pictureAges = controlSession.pictureAgeCounts.take()
      try {
        await controlPersistence.addLatency(controlSession.session.id, {
          ...latencySummary,
          speed,
          video: pictureAges,
        })
      } catch (cause) {
        controlSession.pictureAgeCounts.restore(pictureAges)
        controlSession.latencyRecorder.restore(latencySummary)
        controlSession.speed.restore(speed)
        throw cause
      }
    }
    latencySavedIn.set(controlSession, period)
  }

  /** Writes all pending data of one session, the stop first. */
  async function write(controlSession: ControlSession): Promise<void> {
    busyUntilMs.set(controlSession, Number.POSITIVE_INFINITY)
    const last = ended.has(controlSession)
    try {
      for (const job of [
        recordPendingStops,
        recordFirstJoin,
        recordReturn,
        recordOperatorLost,
        recordLatency,
      ])
        await job(controlSession)
      if (last && !controlSession.stops.pending) ended.delete(controlSession) // a later request is still to be written
      busyUntilMs.delete(controlSession)
      failing = false
    } catch (cause) {
      busyUntilMs.set(controlSession, clockMs() + RETRY_MS)
      if (!failing)
        log.warn(
          { err: cause, sessionId: controlSession.session.id },
          'failed to write a control session; retrying',
        )
      failing = true
    }
  }

  function begin(controlSession: ControlSession): void {
    if (clockMs() < (busyUntilMs.get(controlSession) ?? 0)) return
    const job: Promise<void> = write(controlSession).finally(() => running.delete(job))
    running.add(job)
  }

  /** Begins to write one session, also if it waits after a failure. */
  function beginNow(controlSession: ControlSession): void {
    if (busyUntilMs.get(controlSession) !== Number.POSITIVE_INFINITY) busyUntilMs.delete(controlSession)
    begin(controlSession)
  }

  /** Begins to write every session, due or not, and waits for all running writes. */
  async function flush(): Promise<void> {
    for (const controlSession of sessionRegistry.all()) ended.add(controlSession)
    for (const controlSession of ended) beginNow(controlSession)
    await Promise.all(running)
  }

  const isUrgent = (controlSession: ControlSession): boolean =>
    controlSession.stops.pending ||
    controlSession.isJoinUnrecorded ||
    isReturnUnrecorded(controlSession) ||
    isOperatorLost(controlSession)

  const isDue = (controlSession: ControlSession): boolean =>
    running.size < MAX_CONCURRENT && latencySavedIn.get(controlSession) !== periodOf(controlSession)

  return {
    /** Begins to write one session, unless that is running or waits after a failure. */
    begin,

    /** Begins to write the sessions that are due. Call it periodically. */
    tick(): void {
      for (const controlSession of sessionRegistry.all())
        if (isUrgent(controlSession) || isDue(controlSession)) begin(controlSession)
      for (const controlSession of ended)
        if (isUrgent(controlSession) || running.size < MAX_CONCURRENT) begin(controlSession)
    },

    /** Writes the rest of a session that has left the registry. */
    ended(controlSession: ControlSession): void {
      ended.add(controlSession)
      const oldest = ended.values().next().value
      if (ended.size > MAX_ENDED && oldest) ended.delete(oldest)
      // The robot's new gateway learns of a pending stop from the database only, so it is recorded at once.
      if (controlSession.stops.pending) beginNow(controlSession)
    },

    /** Writes all pending data; settles also if the database fails. */
    flush,

    /**
     * Flushes for the last time. Retries for a few seconds while the database does not have a stop: no other process knows
     * of it, and a robot that reconnects to another gateway would be allowed to move. A database that does not answer takes no longer.
     */
    async drain(): Promise<void> {
      const untilMs = performance.now() + LAST_ATTEMPTS_MS
      const leftMs = () => untilMs - performance.now()
      const unrecorded = () => [...ended].filter(({ stops }) => stops.pending)
      const attempt = () => pTimeout(flush(), { milliseconds: Math.max(1, leftMs()), fallback: () => {} })
      await attempt()
      while (unrecorded().length > 0 && leftMs() > 0) {
        await delay(LAST_ATTEMPT_EVERY_MS)
        await attempt()
      }
      for (const { session, robotId } of unrecorded())
        log.error(
          { sessionId: session.id, robotId },
          'a remote stop is lost: the database did not record it in time',
        )
    },
  }
}
export type SessionWriter = ReturnType<typeof createSessionWriter>
