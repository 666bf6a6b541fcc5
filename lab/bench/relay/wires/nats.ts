import type { End, Wire } from './wire.ts'

const LINE_END = Buffer.from('\r\n')
const NEWLINE = '\n'.charCodeAt(0)
const SPACE = ' '.charCodeAt(0)
const ZERO = '0'.charCodeAt(0)
const MSG = 'M'.charCodeAt(0)
const PING = 'PING'
const PONG = 'PONG'
const PONG_LINE = Buffer.from('PONG\r\n')
const OPTIONS = JSON.stringify({ verbose: false, pedantic: false, lang: 'bench', version: '1' })

/** Implements the NATS text protocol: one subject for each direction of each pair. */
export function createNatsWire({ pair, side }: End): Wire {
  const [own, others] =
    side === 'operator' ? [`ack.${pair}`, `control.${pair}`] : [`control.${pair}`, `ack.${pair}`]
  return {
    // The PONG for this PING arrives after the subscription was accepted.
    hello: () => `CONNECT ${OPTIONS}\r\nSUB ${own} 1\r\n${PING}\r\n`,
    read(data, received) {
      let position = 0
      for (;;) {
        const newline = data.indexOf(NEWLINE, position)
        if (newline < 0) return position
        const next = newline + 1
        if (data[position] === MSG) {
          const length = lastNumber(data, newline - 1)
          if (next + length + LINE_END.length > data.length) return position
          received.message(data, next, next + length)
          position = next + length + LINE_END.length
          continue
        }
        const line = data.toString('latin1', position, newline - 1)
        if (line === PING) received.answer(PONG_LINE)
        else if (line === PONG) received.ready()
        else if (line.startsWith('-ERR')) received.refused(line)
        position = next
      }
    },
    wrap: (payload) => Buffer.concat([Buffer.from(`PUB ${others} ${payload.length}\r\n`), payload, LINE_END]),
  }
}

/** Parses the number at the end of a line, whose carriage return is at `end`. */
function lastNumber(data: Buffer, end: number): number {
  let value = 0
  let scale = 1
  for (let at = end - 1; data[at] !== SPACE; at--) {
    value += ((data[at] as number) - ZERO) * scale
    scale *= 10
  }
  return value
}
