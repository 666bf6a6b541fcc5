import type { End, Wire, WireEvents } from './wire.ts'

// MQTT 3.1.1, the part that QoS 0 needs. https://docs.oasis-open.org/mqtt/mqtt/v3.1.1/

const CONNECT = 0x10
const CONNACK = 0x20
const PUBLISH = 0x30
const SUBSCRIBE = 0x82
const SUBACK = 0x90
const TYPE_BITS = 0xf0
const PROTOCOL_LEVEL = 4
const CLEAN_SESSION = 2
const NO_KEEP_ALIVE = 0
const PACKET_ID = 1
const QOS_0 = 0
const SUBSCRIPTION_REFUSED = 0x80
/** The length field continues in the next byte. */
const CONTINUES = 0x80

/** Returns one topic for each direction of each pair. */
export function createMqttWire({ pair, side }: End): Wire {
  const [own, others] =
    side === 'operator' ? [`ack/${pair}`, `control/${pair}`] : [`control/${pair}`, `ack/${pair}`]
  const topic = text(others)
  let received: WireEvents

  const see = (type: number, data: Buffer, start: number, end: number) => {
    if (type === PUBLISH) return received.message(data, start + 2 + data.readUInt16BE(start), end)
    if (type === CONNACK) {
      const code = data[start + 1]
      if (code !== 0) return received.refused(`CONNACK ${code}`)
      return received.answer(packet(SUBSCRIBE, [uint16(PACKET_ID), text(own), Buffer.from([QOS_0])]))
    }
    if (type !== SUBACK) return
    if (data[start + 2] === SUBSCRIPTION_REFUSED) received.refused('SUBACK 128')
    else received.ready()
  }

  return {
    hello: () =>
      packet(CONNECT, [
        text('MQTT'),
        Buffer.from([PROTOCOL_LEVEL, CLEAN_SESSION]),
        uint16(NO_KEEP_ALIVE),
        text(`${side}-${pair}`),
      ]),
    read(data, by) {
      received = by
      return walkPackets(data, see)
    },
    wrap: (payload) => packet(PUBLISH, [topic, payload]),
  }
}

/** Iterates over the complete packets in `data`; returns where the first incomplete one begins. */
function walkPackets(
  data: Buffer,
  see: (type: number, data: Buffer, start: number, end: number) => void,
): number {
  let position = 0
  while (position + 2 <= data.length) {
    let at = position + 1
    let length = 0
    let scale = 1
    let byte: number
    do {
      if (at >= data.length) return position
      byte = data[at++] as number
      length += (byte & ~CONTINUES) * scale
      scale *= 128
    } while (byte & CONTINUES)
    if (at + length > data.length) return position
    see((data[position] as number) & TYPE_BITS, data, at, at + length)
    position = at + length
  }
  return position
}

function packet(type: number, parts: readonly Buffer[]): Buffer {
  let rest = parts.reduce((total, part) => total + part.length, 0)
  const header = [type]
  do {
    const byte = rest % 128
    rest = Math.floor(rest / 128)
    header.push(rest > 0 ? byte | CONTINUES : byte)
  } while (rest > 0)
  return Buffer.concat([Buffer.from(header), ...parts])
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

const text = (value: string) => Buffer.concat([uint16(Buffer.byteLength(value)), Buffer.from(value)])
