import pTimeout from 'p-timeout'
import { AppError, isDatabaseUnreachable, unavailable } from '../../../core/errors/errors.ts'
import { createAheadLimit } from '../../../core/events/ahead-limit.ts'
import type { Bus, RobotStop } from '../../../core/events/bus.ts'
import { can } from '../../../core/permissions/authorization.ts'
import type { SessionViewer } from '../../../core/permissions/session-part.ts'
import { stopReasonOf } from './session-stop.ts'

/** How long a stop waits for the database before it is answered with 503; the gateway then records it. */
const DATABASE_TIMEOUT_MS = 500
/** A remote stop that a user has requested through REST, MCP or the hub. */
export interface RequestedStop {
  /** The user, as this process knows it without the database; undefined if it does not. */
  readonly caller: SessionViewer | undefined
  readonly sessionId: string
  readonly reason: string | undefined
}

/**
 * Creates the way of a stop past the database and whatever else its request waits for: at once, to the gateway of the robot. The gateway
 * knows the owner and the operator of the session, and stops the robot for them and for admins. It waits for the report of the
 * recorded stop, and records the stop itself if there is none, which checks the permission again.
 * @param waitMs how long a stop waits for the database
 */
export function createDirectStop(bus: Bus, waitMs = DATABASE_TIMEOUT_MS) {
  const maySendAhead = createAheadLimit()

  /**
   * Settles like the work on the database, if that is soon.
   * @param isReplay whether the answer is that of an earlier request with the same idempotency key, which must not stop again
   * @throws 503 if the gateway is to record the stop instead
   */
  return async <T>(
    { caller, sessionId, reason }: RequestedStop,
    work: Promise<T>,
    isReplay: (answer: T) => boolean = () => false,
  ): Promise<T> => {
    if (!caller) return await work
    const send = (sender: RobotStop['sender']) =>
      bus.publish('robot.stop', {
        sessionId,
        reason: stopReasonOf(reason),
        eventSeq: null,
        ...(sender && { sender }),
        userId: caller.userId,
        byRole: caller.roles.includes('admin') ? 'admin' : null, // the gateway knows the owner and the operator
        byOwner: false,
        // The gateway compares them with the robot's.
        ...(can(caller, 'sessions.stop') && { organization: caller.organization }),
      })
    const isAhead = maySendAhead(caller.userId)
    if (isAhead) send('recording')
    const unavailableMark = Symbol('database unavailable')
    const answer = work.then(
      (value) => {
        if (isAhead && isReplay(value)) send('refused')
        return value
      },
      (cause) => {
        if (isDatabaseUnreachable(cause)) return unavailableMark
        if (isAhead && cause instanceof AppError && cause.status < 500) send('refused')
        throw cause
      },
    )
    const outcome = await pTimeout(answer, { milliseconds: waitMs, fallback: () => unavailableMark })
    if (outcome !== unavailableMark) return outcome as T
    send(undefined)
    throw unavailable(
      'stop_not_recorded',
      'The stop was sent to the gateway of the robot, which stops it for the owner, the operator and admins. It is not recorded yet, because the database does not answer.',
    )
  }
}
export type DirectStop = ReturnType<typeof createDirectStop>
