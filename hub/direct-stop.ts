import { setTimeout as delay } from 'node:timers/promises'
import { type HubCommand, rooms } from '@wheelhouse/protocol'
import type { Socket } from 'socket.io'
import { isDatabaseUnreachable, unavailable } from '../src/core/errors/errors.ts'
import type { Bus } from '../src/core/events/bus.ts'
import type { Caller } from '../src/core/http/endpoint.ts'
import { stopReasonOf } from '../src/modules/sessions/index.ts'

/** How long a stop waits for the database before it goes to the robot without it. */
const DATABASE_TIMEOUT_MS = 500

/** The robots of the sessions that a socket watches, by session: as many as it may watch. */
export function watchedRobots({ data }: Socket): Map<string, string> {
  data.watchedRobots ??= new Map()
  return data.watchedRobots
}

/**
 * Lets an emergency stop reach the robot while the database is away, or too slow for it. Only from a socket that
 * watches the session: that its user may stop it was checked when it began to watch, and is checked again by the
 * gateway as soon as the database can be asked. Both people of a session stay the same as long as it lasts.
 */
export function createDirectStop(bus: Bus) {
  /**
   * Settles as the work on the database does, if that is soon.
   * @throws 503 when the stop went to the robot's gateway instead, which has it recorded later.
   */
  return async <T>(
    socket: Socket,
    caller: Caller,
    { session_id: sessionId, reason }: HubCommand<'session:action'>,
    work: Promise<T>,
  ): Promise<T> => {
    const robotId = watchedRobots(socket).get(sessionId)
    if (robotId === undefined || !socket.rooms.has(rooms.session(sessionId))) return await work
    const databaseAway = Symbol('away')
    const answer = work.catch((cause) => {
      if (isDatabaseUnreachable(cause)) return databaseAway
      throw cause
    })
    const outcome = await Promise.race([answer, delay(DATABASE_TIMEOUT_MS, databaseAway, { ref: false })])
    if (outcome !== databaseAway) return outcome as T
    bus.publish('robot.stop', {
      robotId,
      sessionId,
      reason: stopReasonOf(reason),
      eventSeq: null,
      userId: caller.userId,
      byRole: null, // the gateway knows both sides of the session
      byOwner: false,
    })
    throw unavailable(
      'stop_not_recorded', 'The stop was sent to the robot. It is not recorded yet, because the database does not answer.',
    )
  }
}
