import { type WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { sendReady } from '../../../test/support/processes/rpc.ts'

// The peer: a server of the rosbridge protocol with topics only. It forwards every `publish` to the subscribers of its
// topic as JSON, like rosbridge_server without throttling and queue limits, which are its defaults.

const MOST_FRAME_BYTES = 65_536

const Op = z.object({ op: z.string(), topic: z.string().max(200).optional(), msg: z.unknown().optional() })

const subscribers = new Map<string, Set<WebSocket>>()

function receive(socket: WebSocket, text: string): void {
  const { op, topic, msg } = Op.parse(JSON.parse(text))
  if (topic === undefined) return
  if (op === 'subscribe') {
    const sockets = subscribers.get(topic) ?? new Set()
    subscribers.set(topic, sockets.add(socket))
  } else if (op === 'unsubscribe') subscribers.get(topic)?.delete(socket)
  else if (op === 'publish') {
    const frame = JSON.stringify({ op, topic, msg })
    for (const subscriber of subscribers.get(topic) ?? []) subscriber.send(frame)
  }
}

function forget(socket: WebSocket): void {
  for (const [topic, sockets] of subscribers) {
    sockets.delete(socket)
    if (sockets.size === 0) subscribers.delete(topic)
  }
}

const host = process.env.HOST ?? '127.0.0.1'
const server = new WebSocketServer({ host, port: 0, perMessageDeflate: false, maxPayload: MOST_FRAME_BYTES })
server.on('connection', (socket) => {
  socket.on('message', (data) => {
    try {
      receive(socket, String(data))
    } catch {
      socket.close(1007)
    }
  })
  socket.on('error', () => {}) // 'close' follows
  socket.on('close', () => forget(socket))
})
server.on('listening', () => {
  const address = server.address()
  if (typeof address === 'object' && address) sendReady(address.port)
})
