import type { Server } from 'socket.io'
import type { Log } from '../src/core/log.ts'
import type { Guard } from '../src/core/process/guard.ts'

const CHECK_MS = 1_000
/** Packets that may wait for one client: a burst of ten thousand robots fits. */
const MAX_WAITING_PACKETS = 50_000
/** Characters that may wait for one client: several pages of a session's log fit. */
const MAX_WAITING_LENGTH = 8 * 1024 * 1024
/** How many checks in a row may find that the transport accepts no packet. */
const MAX_BLOCKED_CHECKS = 10

/** Closes clients that read too slowly. They reconnect and request the events that they missed. */
export function guardSlowClients(io: Server, { guard, log }: { guard: Guard; log: Log }): NodeJS.Timeout {
  const blockedChecks = new WeakMap<object, number>()
  return guard.every('timer:slow-clients', CHECK_MS, () => {
    for (const socket of io.sockets.sockets.values()) {
      const { conn } = socket
      // Typed as private, but there is no other measure of the packets that wait for a client.
      const { writeBuffer } = conn as unknown as { writeBuffer: { data?: unknown }[] }
      const waiting = writeBuffer.length
      const blocked = waiting > 0 && !conn.transport.writable ? (blockedChecks.get(conn) ?? 0) + 1 : 0
      blockedChecks.set(conn, blocked)
      if (waiting <= MAX_WAITING_PACKETS && blocked < MAX_BLOCKED_CHECKS && !isLong(writeBuffer)) continue
      log.info({ userId: socket.data.caller?.userId, waiting }, 'closed a slow client')
      conn.close(true) // discards the waiting packets
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
