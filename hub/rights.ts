import { rooms } from '@wheelhouse/protocol'
import type { Server, Socket } from 'socket.io'
import type { ApiKeys } from '../src/accounts/api-key.service.ts'
import type { Users } from '../src/accounts/user.service.ts'
import { alone } from '../src/async.ts'
import type { Bus } from '../src/events/bus.ts'
import type { Guard } from '../src/guard.ts'
import type { Caller } from '../src/http/endpoint.ts'
import type { Log } from '../src/log.ts'

/** Well within the second that it may take until nothing reaches who has lost the right to it. */
const POLL_MS = 500
/** What was still committing at the last look is found by looking back further. */
const OVERLAP_MS = 30_000

/**
 * Ends what was opened with rights that are gone. Sockets of a revoked API key are sent away, quickly on a hint and
 * surely by polling. Sockets of somebody whose rights have changed are cut off, as a network would do it: they come
 * back and get what their user may see now, which commands decide anew; so no room has to be looked through here.
 */
export function watchRights(
  io: Server,
  parts: { apiKeys: ApiKeys; users: Users; bus: Bus; guard: Guard; log: Log; monotonicMs?: () => number },
): { close(): void } {
  const { apiKeys, users, bus, guard, log, monotonicMs = () => performance.now() } = parts
  const revoke = (apiKeyId: string) => io.local.in(rooms.apiKey(apiKeyId)).disconnectSockets(true)
  const unsubscribe = guard.subscribe(bus, 'credential.revoked', ({ apiKeyId }) => revoke(apiKeyId))

  let lastMs = monotonicMs()
  let failing = false
  const poll = alone(async () => {
    const startedMs = monotonicMs()
    const sinceMs = startedMs - lastMs + OVERLAP_MS
    try {
      const [revoked, changed] = await Promise.all([
        apiKeys.revokedWithin(sinceMs),
        users.rightsChangedWithin(sinceMs),
      ])
      for (const apiKeyId of revoked) revoke(apiKeyId)
      for (const user of changed) cutOutdated(io, user)
      lastMs = startedMs
      failing = false
    } catch (cause) {
      if (!failing) log.warn({ err: cause }, 'revoked keys and changed rights not looked up')
      failing = true
    }
  })
  const timer = guard.every('timer:permissions', POLL_MS, poll)
  return {
    close() {
      clearInterval(timer)
      unsubscribe()
    },
  }
}

/** Cuts off the user's sockets that were let in before the change. */
function cutOutdated(io: Server, { id, rights_version }: { id: string; rights_version: number }): void {
  for (const socketId of io.sockets.adapter.rooms.get(rooms.user(id)) ?? []) {
    const socket: Socket | undefined = io.sockets.sockets.get(socketId)
    if (!socket) continue
    const caller: Caller = socket.data.caller
    if (caller.rightsVersion < rights_version) socket.conn.close()
  }
}
