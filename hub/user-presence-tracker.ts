import { setTimeout as delay } from 'node:timers/promises'
import type { Server } from 'socket.io'
import { singleFlight } from '../src/core/concurrency/concurrency.ts'
import type { Caller } from '../src/core/http/endpoint.ts'
import type { Log } from '../src/core/log.ts'
import type { Guard } from '../src/core/process/guard.ts'
import type { UserPresenceRecorder } from '../src/modules/identity/index.ts'

/** A user counts as absent after three rounds without a connection. */
const ROUND_MS = 5_000
/** Pause after each statement. Users who connect during it share the next one. */
const PAUSE_MS = 100

/**
 * Records which users are connected to this hub: new ones within a tenth of a second, all of them every five seconds.
 * A hub that fails needs no cleanup: its users expire unless they connect to another hub.
 */
export function trackUserPresence(
  io: Server,
  deps: { userPresence: UserPresenceRecorder; guard: Guard; log: Log },
) {
  const { userPresence, guard, log } = deps
  const pendingUserIds = new Set<string>()
  let failing = false

  /** Users who connect while a statement runs, or in the pause after it, are recorded by the next one. */
  const write = singleFlight(async () => {
    try {
      while (pendingUserIds.size > 0) {
        const userIds = [...pendingUserIds]
        pendingUserIds.clear()
        await userPresence.markSeen(userIds)
        await delay(PAUSE_MS)
      }
      failing = false
    } catch (cause) {
      if (!failing) log.warn({ err: cause }, 'failed to record the presence of users')
      failing = true
    }
  })

  const round = guard.every('timer:user-presence', ROUND_MS, () => {
    for (const { data } of io.sockets.sockets.values()) pendingUserIds.add((data.caller as Caller).userId)
    void write()
  })

  return {
    markPresent(userId: string): void {
      pendingUserIds.add(userId)
      void write()
    },
    /** Stops recording; settles after the last statement. */
    async close(): Promise<void> {
      clearInterval(round)
      pendingUserIds.clear()
      await write()
    },
  }
}
