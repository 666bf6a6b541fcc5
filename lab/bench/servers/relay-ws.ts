import { type WebSocket, WebSocketServer } from 'ws'
import { sendReady } from '../../../test/support/processes/rpc.ts'

// The peer: `ws` that forwards every message to the other end of its pair.

const ends = { operator: new Map<string, WebSocket>(), robot: new Map<string, WebSocket>() }
const host = process.env.HOST ?? '127.0.0.1'

const server = new WebSocketServer({ host, port: 0, perMessageDeflate: false, backlog: 4_096 })
server.on('connection', (socket, request) => {
  const [, role, pair = ''] = (request.url ?? '').split('/')
  const side = role === 'robot' ? 'robot' : 'operator'
  const others = ends[side === 'robot' ? 'operator' : 'robot']
  ends[side].set(pair, socket)
  socket.on('message', (data, binary) => others.get(pair)?.send(data, { binary }))
  socket.on('close', () => ends[side].delete(pair))
})
server.on('listening', () => {
  const address = server.address()
  if (typeof address === 'object' && address) sendReady(address.port)
})
