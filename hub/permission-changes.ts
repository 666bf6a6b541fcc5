import { rooms } from '@wheelhouse/protocol'
import type { Server, Socket } from 'socket.io'
import type { Caller } from '../src/core/http/endpoint.ts'
import { type RevocationSources, watchRevocations } from '../src/modules/identity/index.ts'

/**
 * Closes the sockets of revoked API keys, and of users whose permissions have changed. The latter reconnect, as after a
 * network failure, and their commands are authorized again; so no room has to be checked here.
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

/** Closes the connections of the user's sockets that were admitted before the change. */
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
