import type { StopReason } from '@wheelhouse/protocol'
import type { RobotStop } from '../../src/core/events/bus.ts'
import type { Guard } from '../../src/core/process/guard.ts'
import { stopReasonOf } from '../../src/modules/sessions/index.ts'
import type { ControlSession } from './control-session.ts'
import type { ControlSessionRegistry } from './control-session-registry.ts'
import type { PendingStop } from './session-stops.ts'

/** A stop is sent to the database at once, but at most this often for each session; the periodic write does the rest. */
const MIN_RECORD_INTERVAL_MS = 250

/** Latches stops of participants and of other processes. The robot receives a stop before anything else happens. */
export function createStops(deps: {
  sessionRegistry: ControlSessionRegistry
  /** Begins to write what is pending of one session, unless that is running or waits after a failure. */
  beginWrite: (controlSession: ControlSession) => void
  guard: Guard
  clockMs: () => number
}) {
  const { sessionRegistry, beginWrite, guard, clockMs } = deps
  const counts = { stops: 0 }
  /** When the writer was last started because of a stop. */
  const recordedMs = new WeakMap<ControlSession, number>()

  function requestStop(controlSession: ControlSession, request: PendingStop, isAwaited = false): void {
    const nowMs = clockMs()
    const wasLatched = controlSession.stops.latched
    controlSession.stops.request(request, stopReasonOf(request.reason), nowMs, isAwaited)
    if (!wasLatched) counts.stops++
    if (isAwaited) return
    if (wasLatched && nowMs - (recordedMs.get(controlSession) ?? 0) < MIN_RECORD_INTERVAL_MS) return
    recordedMs.set(controlSession, nowMs)
    beginWrite(controlSession)
  }

  /** Guarded for each session, so that one failure does not affect the others. A robot that is cut off halts. */
  const repeat = guard.handler(
    'session:repeat-stop',
    (controlSession: ControlSession) => controlSession.stops.repeat(clockMs()),
    (controlSession) => controlSession.robot?.close('internalError'),
  )

  /** Applies a stop that is not recorded. The owner, members of its organization, the operator and admins may stop the session. */
  function onUnrecorded(controlSession: ControlSession, stop: RobotStop): void {
    const { sender, userId, byRole, reason, organization } = stop
    const { clientId, operatorId, groupId } = controlSession.session
    const isMember =
      organization?.id === clientId &&
      (organization.groupIds === null || (groupId !== null && organization.groupIds.includes(groupId)))
    const drives = userId !== null && controlSession.lease.holder?.user_id === userId
    const isAllowed = userId === clientId || userId === operatorId || drives || isMember || byRole === 'admin'
    if (userId === null || !isAllowed) return
    const requester = { userId, organizationId: organization?.id, drives }
    if (sender !== 'refused')
      return requestStop(controlSession, { ...requester, reason }, sender === 'recording')
    controlSession.stops.withdrawn(userId, clockMs())
    sessionRegistry.removeIfAbandoned(controlSession)
  }

  return {
    /** Stops that were latched before the database had them, or as soon as it had. */
    counts: counts as Readonly<typeof counts>,

    /** Stops the robot on behalf of a participant. */
    requestStop,

    /** Applies a stop that another process reports: a recorded one, or one that waits for the database here. */
    onRemoteStop(stop: RobotStop): void {
      const { sessionId, reason, eventSeq, byRole, byOwner } = stop
      const controlSession = sessionRegistry.of(sessionId)
      if (!controlSession) return
      if (eventSeq === null) return onUnrecorded(controlSession, stop)
      // Known already: requested again, or cleared since. A stop that is still latched is sent again.
      if (eventSeq <= controlSession.session.eventSeq) return controlSession.stops.reportedAgain(clockMs())
      if (!controlSession.stops.latched) counts.stops++
      controlSession.stops.applyReported({ eventSeq, reason, byRole, byOwner }, clockMs())
      sessionRegistry.removeIfAbandoned(controlSession)
    },

    /** Sends stops again that robots have not confirmed. Call it periodically. */
    repeatUnconfirmed(): void {
      for (const controlSession of sessionRegistry.all()) repeat(controlSession)
    },

    /** Halts every robot that may be moving. */
    haltAll(reason: StopReason): void {
      for (const controlSession of sessionRegistry.all()) controlSession.stops.haltIfMoving(reason, clockMs())
    },
  }
}
export type Stops = ReturnType<typeof createStops>
