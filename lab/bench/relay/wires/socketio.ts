import { maskedFrame, OPCODE_TEXT } from '../../fleet/wire.ts'
import { createWebSocketWire } from './websocket.ts'
import type { End, Wire, WireEvents } from './wire.ts'

const PATH = '/socket.io/?EIO=4&transport=websocket'
const OPENED = '0'.charCodeAt(0)
const PING = '2'.charCodeAt(0)
const PONG = maskedFrame(OPCODE_TEXT, Buffer.from('3'))
const COMMA = ','.charCodeAt(0)
const CONNECTED = '40'
const EVENT = '42'
const REFUSED = '44'

/** Implements Socket.IO 4 over a WebSocket: every message is an event with one JSON argument. */
export function createSocketIoWire(end: End): Wire {
  const { pair, side } = end
  const connectPacket = Buffer.from(`${CONNECTED}${JSON.stringify({ pair, side })}`)
  const event = Buffer.from(`${EVENT}["${side === 'operator' ? 'control' : 'ack'}",`)
  const eventEnd = Buffer.from(']')
  let outside: WireEvents
  const inside: WireEvents = {
    ready() {}, // the upgrade does not complete the connection
    refused: (why) => outside.refused(why),
    answer: (bytes) => outside.answer(bytes),
    message(data, start, stop) {
      const first = data[start]
      if (first === OPENED) return outside.answer(maskedFrame(OPCODE_TEXT, connectPacket))
      if (first === PING) return outside.answer(PONG)
      const type = data.toString('latin1', start, start + 2)
      if (type === EVENT) outside.message(data, data.indexOf(COMMA, start) + 1, stop - eventEnd.length)
      else if (type === CONNECTED) outside.ready()
      else if (type === REFUSED) outside.refused(data.toString('utf8', start, stop))
    },
  }
  const websocket = createWebSocketWire({ ...end, path: PATH }, 'upgrade')
  return {
    hello: websocket.hello,
    read(data, received) {
      outside = received
      return websocket.read(data, inside)
    },
    wrap: (payload) => maskedFrame(OPCODE_TEXT, Buffer.concat([event, payload, eventEnd])),
  }
}
