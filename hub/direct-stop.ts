import { type HubCommand, rooms } from '@wheelhouse/protocol'
import pTimeout from 'p-timeout'
import type { Socket } from 'socket.io'
import { isDatabaseUnreachable, unavailable } from '../src/core/errors/errors.ts'
import type { Bus } from '../src/core/events/bus.ts'
import type { Caller } from '../src/core/http/endpoint.ts'
import { stopReasonOf } from '../src/modules/sessions/index.ts'

const DATABASE_TIMEOUT_MS = 500

/** Returns the robots of the sessions that a socket watches, by session. */
export function watchedRobots({ data }: Socket): Map<string, string> {
  data.watchedRobots ??= new Map()
  return data.watchedRobots
}

/**
 * Sends a remote stop to the robot while the database is unavailable or too slow. It accepts only a socket that watches
 * the session: the permission of its user was checked at `session:watch`, and the gateway checks it again once the
 * database answers. The owner and the operator of a session never change.
 * @param waitMs how long a stop waits for the database before the hub sends it to the robot's gateway directly
 */
export function createDirectStop(bus: Bus, waitMs = DATABASE_TIMEOUT_MS) {
  /**
   * Settles like the work on the database, if that is soon.
   * @throws 503 if the stop was sent to the robot's gateway instead, which records it later.
   */
  return async <T>(
    socket: Socket,
    caller: Caller,
    { session_id: sessionId, reason }: HubCommand<'session:action'>,
    work: Promise<T>,
  ): Promise<T> => {
    const robotId = watchedRobots(socket).get(sessionId)
    if (robotId === undefined || !socket.rooms.has(rooms.session(sessionId))) return await work
    const unavailableMark = Symbol('database unavailable')
    const answer = work.catch((cause) => {
      if (isDatabaseUnreachable(cause)) return unavailableMark
      throw cause
    })
    const outcome = await pTimeout(answer, {
      milliseconds: waitMs,
      fallback: () => unavailableMark,
    })
    if (outcome !== unavailableMark) return outcome as T
    bus.publish('robot.stop', {
      robotId,
      sessionId,
      reason: stopReasonOf(reason),
      eventSeq: null,
      userId: caller.userId,
      byRole: null, // the gateway knows the owner and the operator
      byOwner: false,
    })
    throw unavailable(
      'stop_not_recorded',
      'The stop was sent to the robot. It is not recorded yet, because the database does not answer.',
    )
  }
}
