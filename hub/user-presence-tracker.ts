import type { Server } from 'socket.io'
import { singleFlight } from '../src/core/concurrency/concurrency.ts'
import type { Caller } from '../src/core/http/endpoint.ts'
import type { Log } from '../src/core/log.ts'
import type { Guard } from '../src/core/process/guard.ts'
import type { UserPresenceRecorder } from '../src/modules/identity/index.ts'

/** A person counts as absent once three rounds have passed without them. */
const ROUND_MS = 5_000

/**
 * Keeps written down who is at this hub: newcomers at once, everybody every five seconds. A hub that dies takes
 * nothing back; its people are simply not seen again, unless at another hub.
 */
export function trackUserPresence(
  io: Server,
  deps: { userPresence: UserPresenceRecorder; guard: Guard; log: Log },
) {
  const { userPresence, guard, log } = deps
  const pendingUserIds = new Set<string>()
  let failing = false

  /** While one statement runs, further newcomers gather for the next. */
  const write = singleFlight(async () => {
    try {
      while (pendingUserIds.size > 0) {
        const userIds = [...pendingUserIds]
        pendingUserIds.clear()
        await userPresence.markSeen(userIds)
      }
      failing = false
    } catch (cause) {
      if (!failing) log.warn({ err: cause }, 'people at the hub not written down')
      failing = true
    }
  })

  const round = guard.every('timer:attendance', ROUND_MS, () => {
    for (const { data } of io.sockets.sockets.values()) pendingUserIds.add((data.caller as Caller).userId)
    void write()
  })

  return {
    markPresent(userId: string): void {
      pendingUserIds.add(userId)
      void write()
    },
    /** Settles when nothing is being written any more. */
    async close(): Promise<void> {
      clearInterval(round)
      pendingUserIds.clear()
      await write()
    },
  }
}
