import type { RobotStop } from '../src/core/events/bus.ts'
import { reasonOfStop } from '../src/modules/sessions/session-stop.ts'
import type { Drive, PressedStop } from './drive.ts'
import type { Drives } from './drives.ts'
import type { Records } from './records.ts'
import { joinStops } from './stop-joining.ts'

/** However often somebody presses, the database is asked no more often. */
const AGAIN_MS = 250

/** The latched stop, whoever presses it and wherever: first the robot hears of it, then everything else. */
export function createStops(parts: { drives: Drives; records: Records; clockMs: () => number }) {
  const { drives, records, clockMs } = parts
  const counts = { stops: 0 }

  function press(drive: Drive, by: PressedStop): void {
    const nowMs = clockMs()
    if (drive.stopLatched) {
      // It stands already and the first reason stays. But somebody may just have cleared that stop, and we are yet to
      // hear of it: the database decides whether this one stands upon another.
      const wasShown = drive.stateFrame()
      if (drive.pressed === null) drive.pressed = by
      else if (drive.recording) drive.pressedAgain = joinStops(drive, by, drive.pressedAgain)
      else drive.pressed = joinStops(drive, drive.pressed, by)
      if (drive.stateFrame() !== wasShown) drive.tellState(nowMs)
      if (nowMs - drive.pressedMs < AGAIN_MS) return // the next turn of the clock writes it
    } else {
      counts.stops++
      drive.pressed = by
      drive.latch(reasonOfStop(by.reason), false, nowMs)
      drive.tellState(nowMs)
    }
    drive.pressedMs = nowMs
    records.begin(drive)
  }

  return {
    /** Stops that came here from people or other processes, ahead of the database. */
    counts: counts as Readonly<typeof counts>,

    /** Somebody who takes part pressed it here. */
    press,

    /** Another process tells of a stop ahead of the database, or instead of one that is away. */
    heard({ sessionId, reason, eventSeq, userId, byRole, byOwner }: RobotStop): void {
      const drive = drives.of(sessionId)
      if (!drive) return
      if (eventSeq === null) {
        if (userId !== null) press(drive, { userId, reason })
        return
      }
      if (eventSeq <= drive.session.eventSeq) return // looked up already, and perhaps cleared since
      const authority = { stopByRole: byRole, stopByOwner: byOwner }
      drive.session = { ...drive.session, eventSeq, stopReason: reason, ...authority }
      if (!drive.stopLatched) counts.stops++
      drive.latch(reason, true, clockMs())
      drive.tellState(clockMs())
    },
  }
}
export type Stops = ReturnType<typeof createStops>
