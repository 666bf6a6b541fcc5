import type { Server, Socket } from 'socket.io'
import type { Guard } from '../src/core/process/guard.ts'

type Connection = Socket['conn']

/**
 * Writes the packets that wait for a client with one system call. Without this, Socket.IO makes a call for every packet,
 * which takes most of the time of a burst: packets wait while an earlier one of the same turn is being written.
 */
export function batchWrites(io: Server, guard: Guard): void {
  // The engine emits `flush` and `drain` in one turn, before and after it passes the packets to the socket.
  guard.on(io.engine, 'flush', 'engine:flush', (conn: Connection, packets: readonly unknown[]) => {
    if (packets.length > 1) conn.request.socket.cork()
  })
  guard.on(io.engine, 'drain', 'engine:drain', (conn: Connection) => conn.request.socket.uncork())
}
