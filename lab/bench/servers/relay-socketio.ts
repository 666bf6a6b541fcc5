import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server, type Socket } from 'socket.io'
import { sendReady } from '../../../test/support/processes/rpc.ts'

// The peer: Socket.IO that emits every event to the other end of its pair.

const ends = { operator: new Map<number, Socket>(), robot: new Map<number, Socket>() }

const http = createServer()
const server = new Server(http, { transports: ['websocket'], serveClient: false })
server.on('connection', (socket) => {
  const { side, pair } = socket.handshake.auth as { side: 'operator' | 'robot'; pair: number }
  ends[side].set(pair, socket)
  socket.on('control', (frame: unknown) => ends.robot.get(pair)?.emit('control', frame))
  socket.on('ack', (frame: unknown) => ends.operator.get(pair)?.emit('ack', frame))
  socket.on('disconnect', () => ends[side].delete(pair))
})
http.listen({ host: process.env.HOST ?? '127.0.0.1', port: 0, backlog: 4_096 }, () => {
  sendReady((http.address() as AddressInfo).port)
})
