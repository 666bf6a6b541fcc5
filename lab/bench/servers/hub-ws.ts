import { setImmediate as nextTurn } from 'node:timers/promises'
import { type WebSocket, WebSocketServer } from 'ws'
import { offer, sendReady } from '../../../test/support/processes/rpc.ts'
import type { SessionEventRecord } from '../hub/packets.ts'
import { EVENT } from '../hub/packets.ts'

// The peer: `ws` that sends every event to all connections of its room.

const BATCH = 500

const rooms = new Map<string, Set<WebSocket>>()
let prepared: readonly SessionEventRecord[] = []

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, backlog: 4_096 })
server.on('connection', (socket, request) => {
  const name = request.url?.slice(1) ?? ''
  const room = rooms.get(name) ?? new Set()
  rooms.set(name, room.add(socket))
  socket.on('close', () => room.delete(socket))
})

/** Returns the same bytes as Socket.IO sends. */
function broadcast(event: SessionEventRecord): void {
  const packet = Buffer.from(EVENT + JSON.stringify(['session:event', event]))
  for (const socket of rooms.get(event.session_id) ?? []) socket.send(packet, { binary: false })
}

const handlers = {
  prepare(events: readonly SessionEventRecord[]): void {
    prepared = events
  },
  async publish(): Promise<void> {
    for (let start = 0; start < prepared.length; start += BATCH) {
      for (const event of prepared.slice(start, start + BATCH)) broadcast(event)
      await nextTurn()
    }
  },
}
export type WsPeer = typeof handlers

offer(handlers)
server.on('listening', () => {
  const address = server.address()
  if (typeof address === 'object' && address) sendReady(address.port)
})
