import { rooms } from '@wheelhouse/protocol'
import type { Server, Socket } from 'socket.io'
import type { Caller } from '../src/core/http/endpoint.ts'
import { type RevocationSources, watchRevocations } from '../src/modules/identity/index.ts'

/**
 * Ends what was opened with permissions that are gone. Sockets of a revoked API key are sent away. Sockets of a user
 * whose permissions have changed are cut off, as a network would do it: they come back and get what their user may
 * see now, which commands decide anew; so no room has to be looked through here.
 */
export function watchPermissionChanges(
  io: Server,
  deps: RevocationSources & { monotonicMs?: () => number },
): { close(): void } {
  return watchRevocations(deps, {
    keyRevoked: (apiKeyId) => io.local.in(rooms.apiKey(apiKeyId)).disconnectSockets(true),
    permissionsChanged: (user) => cutOffOutdated(io, user),
  })
}

/** Cuts off the user's sockets that were let in before the change. */
function cutOffOutdated(
  io: Server,
  { id, permissions_version }: { id: string; permissions_version: number },
): void {
  for (const socketId of io.sockets.adapter.rooms.get(rooms.user(id)) ?? []) {
    const socket: Socket | undefined = io.sockets.sockets.get(socketId)
    if (!socket) continue
    const caller: Caller = socket.data.caller
    if (caller.permissionsVersion < permissions_version) socket.conn.close()
  }
}
