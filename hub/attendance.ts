import type { Server } from 'socket.io'
import { alone } from '../src/core/concurrency/async.ts'
import type { Guard } from '../src/core/errors/guard.ts'
import type { Caller } from '../src/core/http/endpoint.ts'
import type { Log } from '../src/core/log.ts'
import type { UserPresence } from '../src/modules/identity/user-presence.ts'

/** A person counts as absent once three rounds have passed without them. */
const ROUND_MS = 5_000

/**
 * Keeps written down who is at this hub: newcomers at once, everybody every five seconds. A hub that dies takes
 * nothing back; its people are simply not seen again, unless at another hub.
 */
export function keepAttendance(io: Server, parts: { userPresence: UserPresence; guard: Guard; log: Log }) {
  const { userPresence, guard, log } = parts
  const newcomers = new Set<string>()
  let failing = false

  /** While one statement runs, further newcomers gather for the next. */
  const write = alone(async () => {
    try {
      while (newcomers.size > 0) {
        const userIds = [...newcomers]
        newcomers.clear()
        await userPresence.seen(userIds)
      }
      failing = false
    } catch (cause) {
      if (!failing) log.warn({ err: cause }, 'people at the hub not written down')
      failing = true
    }
  })

  const round = guard.every('timer:attendance', ROUND_MS, () => {
    for (const { data } of io.sockets.sockets.values()) newcomers.add((data.caller as Caller).userId)
    void write()
  })

  return {
    arrived(userId: string): void {
      newcomers.add(userId)
      void write()
    },
    /** Settles when nothing is being written any more. */
    async close(): Promise<void> {
      clearInterval(round)
      newcomers.clear()
      await write()
    },
  }
}
