import type { Server } from 'socket.io'
import type { Log } from '../src/core/log.ts'
import type { Guard } from '../src/core/process/guard.ts'

const CHECK_MS = 1_000
/** Packets one client may have waiting: a burst of ten thousand robots fits, an endless backlog does not. */
const MAX_WAITING_PACKETS = 50_000
/** Characters one client may have waiting; several pages of a session's log fit. */
const MAX_WAITING_LENGTH = 8 * 1024 * 1024
/** How long packets may wait without the transport taking any. */
const MAX_BLOCKED_CHECKS = 10

/** Cuts off clients that read too slowly; they come back and ask for what they missed. */
export function guardSlowClients(io: Server, { guard, log }: { guard: Guard; log: Log }): NodeJS.Timeout {
  const blockedChecks = new WeakMap<object, number>()
  return guard.every('timer:slow-clients', CHECK_MS, () => {
    for (const socket of io.sockets.sockets.values()) {
      const { conn } = socket
      // Typed as private, yet the only measure there is of what a client has not taken.
      const { writeBuffer } = conn as unknown as { writeBuffer: { data?: unknown }[] }
      const waiting = writeBuffer.length
      const blocked = waiting > 0 && !conn.transport.writable ? (blockedChecks.get(conn) ?? 0) + 1 : 0
      blockedChecks.set(conn, blocked)
      if (waiting <= MAX_WAITING_PACKETS && blocked < MAX_BLOCKED_CHECKS && !isLong(writeBuffer)) continue
      log.info({ userId: socket.data.caller?.userId, waiting }, 'slow client cut off')
      conn.close(true) // discards what waits: it would only be late
    }
  })
}

function isLong(packets: readonly { data?: unknown }[]): boolean {
  let length = 0
  for (const { data } of packets) {
    if (typeof data === 'string') length += data.length
    if (length > MAX_WAITING_LENGTH) return true
  }
  return false
}
