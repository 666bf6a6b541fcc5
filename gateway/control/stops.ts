import type { RobotStop } from '../../src/core/events/bus.ts'
import { stopReasonOf } from '../../src/modules/sessions/index.ts'
import type { SessionWriter } from '../persistence/session-writer.ts'
import type { ControlSession, PendingStop } from './control-session.ts'
import type { ControlSessionRegistry } from './control-session-registry.ts'
import { mergeStops } from './stop-merging.ts'

/** However often somebody presses, the database is asked no more often. */
const MIN_RECORD_INTERVAL_MS = 250

/** The latched stop, whoever presses it and wherever: first the robot hears of it, then everything else. */
export function createStops(deps: {
  sessionRegistry: ControlSessionRegistry
  sessionWriter: SessionWriter
  clockMs: () => number
}) {
  const { sessionRegistry, sessionWriter, clockMs } = deps
  const counts = { stops: 0 }

  function requestStop(controlSession: ControlSession, by: PendingStop): void {
    const nowMs = clockMs()
    if (controlSession.stopLatched) {
      // It stands already and the first reason stays. But somebody may just have cleared that stop, and we are yet to
      // hear of it: the database decides whether this one stands upon another.
      const frameBefore = controlSession.stateFrame()
      if (controlSession.pendingStop === null) controlSession.pendingStop = by
      else if (controlSession.recordingStop)
        controlSession.nextPendingStop = mergeStops(controlSession, by, controlSession.nextPendingStop)
      else controlSession.pendingStop = mergeStops(controlSession, controlSession.pendingStop, by)
      if (controlSession.stateFrame() !== frameBefore) controlSession.broadcastState(nowMs)
      if (nowMs - controlSession.lastStopRequestMs < MIN_RECORD_INTERVAL_MS) return // the next turn of the clock writes it
    } else {
      counts.stops++
      controlSession.pendingStop = by
      controlSession.latch(stopReasonOf(by.reason), false, nowMs)
      controlSession.broadcastState(nowMs)
    }
    controlSession.lastStopRequestMs = nowMs
    sessionWriter.begin(controlSession)
  }

  return {
    /** Stops that came here from people or other processes, ahead of the database. */
    counts: counts as Readonly<typeof counts>,

    /** Somebody who takes part pressed it here. */
    press: requestStop,

    /** Another process tells of a stop ahead of the database, or instead of one that is away. */
    onRemoteStop({ sessionId, reason, eventSeq, userId, byRole, byOwner }: RobotStop): void {
      const controlSession = sessionRegistry.of(sessionId)
      if (!controlSession) return
      if (eventSeq === null) {
        if (userId !== null) requestStop(controlSession, { userId, reason })
        return
      }
      if (eventSeq <= controlSession.session.eventSeq) return // looked up already, and perhaps cleared since
      const authority = { stopByRole: byRole, stopByOwner: byOwner }
      controlSession.session = { ...controlSession.session, eventSeq, stopReason: reason, ...authority }
      if (!controlSession.stopLatched) counts.stops++
      controlSession.latch(reason, true, clockMs())
      controlSession.broadcastState(clockMs())
    },
  }
}
export type Stops = ReturnType<typeof createStops>
