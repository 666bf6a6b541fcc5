import type { Log } from '../src/core/log.ts'
import type { Driving } from '../src/modules/sessions/control/driving.service.ts'
import type { Drive, PressedStop } from './drive.ts'
import type { Drives } from './drives.ts'
import { joinStops } from './stop-joining.ts'

/** How often what was driven is added to the session's summary: not all sessions' at the same moment. */
const LATENCY_EVERY_MS = 10_000
const LATENCY_TURNS = 100
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
export function createRecords(parts: {
  driving: Driving
  drives: Drives
  lookUp: (robotIds: Iterable<string>) => void
  operatorGraceMs: number
  log: Log
  clockMs: () => number
}) {
  const { driving, drives, lookUp, operatorGraceMs, log, clockMs } = parts
  /** Sessions that are being written of, or wait after a failure until a time. */
  const busyUntilMs = new WeakMap<Drive, number>()
  /** In which period a session's summary was last written. */
  const latencySavedIn = new WeakMap<Drive, number>()
  const ended = new Set<Drive>()
  const running = new Set<Promise<void>>()
  let failing = false

  /** Has the database know of a stop that was pressed here. */
  async function record(drive: Drive, pressed: PressedStop): Promise<number | 'over'> {
    const { reason, ...by } = pressed
    drive.recording = true
    try {
      return await driving.recordStop({ sessionId: drive.session.id, ...by }, reason)
    } catch (cause) {
      // It is tried again, and then comes after all that was pressed by now.
      drive.pressed = joinStops(drive, pressed, drive.pressedAgain)
      drive.pressedAgain = null
      throw cause
    } finally {
      drive.recording = false
    }
  }

  async function stop(drive: Drive): Promise<void> {
    if (!drive.pressed) return
    const wasShown = drive.stateFrame()
    // Whoever pressed meanwhile had it pressed before anybody could clear what is recorded now, so theirs follows at
    // once; of those who go on pressing, the next turn of the clock takes care.
    try {
      for (let round = 0; round < 2 && drive.pressed; round++) {
        const { pressed } = drive
        const eventSeq = await record(drive, pressed)
        drive.pressed = drive.pressedAgain
        drive.pressedAgain = null
        recorded(drive, pressed, eventSeq)
      }
    } finally {
      if (drive.stateFrame() !== wasShown) drive.tellState(clockMs())
    }
    lookUp([drive.robotId])
    drives.deserted(drive)
  }

  function recorded(drive: Drive, { userId, ownerId }: PressedStop, eventSeq: number | 'over'): void {
    if (eventSeq !== 'over') {
      if (drive.stop) drive.stop = { ...drive.stop, recorded: true }
      const { session } = drive
      const role = drive.roleOf(userId)
      drive.session = {
        ...session,
        eventSeq: Math.max(eventSeq, session.eventSeq),
        stopReason: drive.stop?.reason ?? null,
        stopByRole: session.stopReason === null ? role : session.stopByRole,
        stopByOwner: session.stopByOwner || role !== 'operator' || ownerId !== undefined,
      }
      return
    }
    // Nothing to latch: the session is over, which is about to be found, or the stop was not theirs to press. That
    // takes no stop away which somebody else has pressed.
    if (drive.pressed !== null || drive.session.stopReason !== null || !drive.stopLatched) return
    drive.unlatch(clockMs())
    drive.stand('stop_refused', clockMs())
  }

  /** What could not be recorded before the operator joined, because the database was away. */
  async function joined(drive: Drive): Promise<void> {
    if (!drive.driven || drive.session.driven) return
    const eventSeq = await driving.recordJoin(drive.session.id)
    drive.session = { ...drive.session, driven: true }
    if (eventSeq === undefined || eventSeq > drive.session.eventSeq) lookUp([drive.robotId])
  }

  async function operatorLost(drive: Drive): Promise<void> {
    const sinceMs = drive.unattendedSinceMs
    if (sinceMs === 0 || clockMs() - sinceMs < operatorGraceMs) return
    await driving.operatorLost(drive.session.id)
    lookUp([drive.robotId])
  }

  /** Every session's periods begin at a time of its own. */
  const periodOf = (drive: Drive): number =>
    Math.floor(clockMs() / LATENCY_EVERY_MS + (drive.turn % LATENCY_TURNS) / LATENCY_TURNS)

  async function latency(drive: Drive): Promise<void> {
    const period = periodOf(drive)
    if (latencySavedIn.get(drive) === period && !ended.has(drive)) return
    const stretch = drive.tally.take()
    if (stretch) {
      try {
        await driving.addLatency(drive.session.id, stretch)
      } catch (cause) {
        drive.tally.giveBack(stretch)
        throw cause
      }
    }
    latencySavedIn.set(drive, period)
  }

  /** Writes all there is to write of one session, the stop first. */
  async function write(drive: Drive): Promise<void> {
    busyUntilMs.set(drive, Number.POSITIVE_INFINITY)
    const last = ended.has(drive)
    try {
      for (const job of [stop, joined, operatorLost, latency]) await job(drive)
      if (last && !drive.pressed) ended.delete(drive) // if somebody pressed again, that is still to be written
      busyUntilMs.delete(drive)
      failing = false
    } catch (cause) {
      busyUntilMs.set(drive, clockMs() + RETRY_MS)
      if (!failing) log.warn({ err: cause, sessionId: drive.session.id }, 'driving not recorded yet')
      failing = true
    }
  }

  function begin(drive: Drive): void {
    if (clockMs() < (busyUntilMs.get(drive) ?? 0)) return
    const job: Promise<void> = write(drive).finally(() => running.delete(job))
    running.add(job)
  }

  const isUrgent = (drive: Drive): boolean =>
    drive.pressed !== null ||
    (drive.driven && !drive.session.driven) ||
    (drive.unattendedSinceMs !== 0 && clockMs() - drive.unattendedSinceMs >= operatorGraceMs)

  const isDue = (drive: Drive): boolean =>
    running.size < MAX_AT_ONCE && latencySavedIn.get(drive) !== periodOf(drive)

  return {
    /** Writes of one session at once what waits. */
    begin,

    /** Begins what is due. Call it again and again. */
    tick(): void {
      for (const drive of drives.all()) if (isUrgent(drive) || isDue(drive)) begin(drive)
      for (const drive of ended) if (isUrgent(drive) || running.size < MAX_AT_ONCE) begin(drive)
    },

    /** A session is gone from here: what was measured of it last is still to be written. */
    ended(drive: Drive): void {
      ended.add(drive)
      const oldest = ended.values().next().value
      if (ended.size > MAX_ENDED && oldest) ended.delete(oldest)
      // Its robot may be driven elsewhere already, where nobody knows of the stop; and who says so is the database.
      if (!drive.pressed || busyUntilMs.get(drive) === Number.POSITIVE_INFINITY) return
      busyUntilMs.delete(drive)
      begin(drive)
    },

    /** Begins everything, due or not, and waits for all that is under way. */
    async flush(): Promise<void> {
      for (const drive of drives.all()) ended.add(drive)
      for (const drive of ended) begin(drive)
      await Promise.all(running)
    },
  }
}
export type Records = ReturnType<typeof createRecords>
