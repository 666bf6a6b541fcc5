import {
  maskedFrame,
  OPCODE_BINARY,
  OPCODE_CLOSE,
  OPCODE_PING,
  OPCODE_PONG,
  OPCODE_TEXT,
  upgradeRequest,
  walkFrames,
} from '../../fleet/wire.ts'
import type { End, Wire, WireEvents } from './wire.ts'

const HEADERS_END = '\r\n\r\n'
const BRACE = '{'.charCodeAt(0)

/** When a server has admitted a client: bare servers only upgrade, Wheelhouse sends a message first. */
export type ReadyOn = 'upgrade' | 'first message'

/** Implements WebSocket: JSON in text frames, everything else in binary ones. */
export function createWebSocketWire(end: End, readyOn: ReadyOn): Wire {
  let upgraded = false
  let ready = readyOn === 'upgrade'
  let received: WireEvents

  const see = (opcode: number, data: Buffer, start: number, stop: number) => {
    if (opcode === OPCODE_PING) received.answer(maskedFrame(OPCODE_PONG, data.subarray(start, stop)))
    if (opcode === OPCODE_CLOSE) received.refused(`closed: ${closing(data, start, stop)}`)
    if (opcode !== OPCODE_TEXT && opcode !== OPCODE_BINARY) return
    received.message(data, start, stop)
    if (!ready) received.ready()
    ready = true
  }

  return {
    hello: () => upgradeRequest(end.path ?? `/${end.side}/${end.pair}`, end.token),
    read(data, by) {
      received = by
      let from = 0
      if (!upgraded) {
        const headersEnd = data.indexOf(HEADERS_END)
        if (headersEnd < 0) return 0
        const status = data.toString('latin1', 0, data.indexOf('\r\n'))
        if (!status.includes(' 101 ')) {
          received.refused(status)
          return data.length
        }
        upgraded = true
        if (ready) received.ready()
        from = headersEnd + HEADERS_END.length
      }
      return walkFrames(data, from, see)
    },
    wrap: (payload) => maskedFrame(payload[0] === BRACE ? OPCODE_TEXT : OPCODE_BINARY, payload),
  }
}

function closing(data: Buffer, start: number, end: number): string {
  return end - start < 2
    ? 'without a code'
    : `${data.readUInt16BE(start)} ${data.toString('utf8', start + 2, end)}`
}
