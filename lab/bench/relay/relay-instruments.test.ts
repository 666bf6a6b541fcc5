import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maskedFrame, OPCODE_BINARY } from '../fleet/wire.ts'
import { percentile } from '../stats.ts'
import { Histogram } from './histogram.ts'
import { PAUSE_MS, PauseWatch } from './pauses.ts'
import { ackFrame, controlFrame, forms, kindOf, seqOf } from './payload.ts'
import { createMqttWire } from './wires/mqtt.ts'
import { createNatsWire } from './wires/nats.ts'
import type { WireEvents } from './wires/wire.ts'

// Tests of the benchmark's instruments, whose errors would otherwise be unnoticed.

describe('the histogram', () => {
  test('returns every percentile as sorting does, to 0.28 %', () => {
    const values = fc.array(fc.double({ min: 1, max: 1e8, noNaN: true }), { minLength: 1, maxLength: 500 })
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (sample, share) => {
        const histogram = new Histogram()
        for (const value of sample) histogram.record(value)
        const exact = share === 0 ? Math.min(...sample) : percentile(sample, share)
        const found = histogram.percentile(share)
        expect(found).toBeGreaterThanOrEqual(exact * 0.999_999)
        expect(found).toBeLessThanOrEqual(exact * 1.002_8)
      }),
    )
  })

  test('preserves the largest value and counts out-of-range values at its edges', () => {
    const histogram = new Histogram()
    for (const value of [0, -3, 0.2, 7e9]) histogram.record(value)
    expect(histogram.summary()).toMatchObject({ count: 4, maxUs: 7e9 })
    expect(histogram.percentile(0.75)).toBeLessThan(1.01)
  })

  test('returns NaN without values', () => {
    const histogram = new Histogram()
    histogram.record(5)
    histogram.reset()
    expect(histogram.summary()).toEqual({
      count: 0,
      p50Us: Number.NaN,
      p90Us: Number.NaN,
      p99Us: Number.NaN,
      p999Us: Number.NaN,
      maxUs: Number.NaN,
    })
  })
})

describe('the pause detector', () => {
  const short = PAUSE_MS / 10

  test('excludes frames that were sent before the end of a pause and read in the two turns after it', () => {
    const watch = new PauseWatch(0)
    watch.turn(short)
    const sentMs = short
    watch.poll(10) // a read after nearly 10 ms without one
    expect(watch.doubtful(sentMs)).toBe(true)
    watch.turn(10 + short)
    expect(watch.doubtful(sentMs)).toBe(true) // still unread when the pause ended
    watch.turn(10 + 2 * short)
    expect(watch.doubtful(sentMs)).toBe(false) // everything that had arrived by then was read
    expect(watch.lengths.summary()).toMatchObject({ count: 1 })
    expect(watch.lengths.summary().maxUs).toBeCloseTo((10 - short) * 1_000)
  })

  test('counts frames that were sent after a pause', () => {
    const watch = new PauseWatch(0)
    watch.turn(10)
    expect(watch.doubtful(10)).toBe(false)
    expect(watch.doubtful(9.99)).toBe(true)
  })

  test('covers one whole turn after a pause that was detected between two turns', () => {
    const watch = new PauseWatch(0)
    watch.turn(10)
    watch.poll(10 + short)
    expect(watch.doubtful(5)).toBe(true)
    watch.turn(10 + 2 * short)
    expect(watch.doubtful(5)).toBe(true)
    watch.turn(10 + 3 * short)
    expect(watch.doubtful(5)).toBe(false)
  })

  test('does not confuse a slow server with a pause of the generator', () => {
    const watch = new PauseWatch(0)
    for (let nowMs = short; nowMs < 50; nowMs += short) watch.turn(nowMs)
    expect(watch.doubtful(1)).toBe(false)
    expect(watch.lengths.count).toBe(0)
  })
})

describe('frames', () => {
  test.each(forms)('of the form %s are parsed', (form) => {
    for (const seq of [1, 9, 10, 65_536, 4_294_967_295]) {
      const frame = controlFrame(form, seq, 12.5)
      expect(kindOf(frame, 0)).toBe('control')
      expect(seqOf(frame, 0, frame.length)).toBe(seq)
    }
  })

  test('that invite to a data channel are no control frames', () => {
    for (const type of ['channel_available', 'channel_offer', 'welcome'])
      expect(kindOf(Buffer.from(JSON.stringify({ type })), 0)).toBe('other')
  })

  test('contain 64 bytes in both forms', () => {
    const json = JSON.parse(controlFrame('JSON', 1, 0).toString())
    expect(Buffer.byteLength(JSON.stringify(json.data))).toBe(64)
    expect(controlFrame('binary', 1, 0)).toHaveLength(16 + 64)
  })

  test('that Wheelhouse has serialized are parsed, without the seq of the next frame', () => {
    const text = '{"type":"control","session_id":"x","seq":42,"t":1,"ttl_ms":250,"data":{}}'
    const other = '{"type":"control","data":{}}'
    const data = Buffer.from(`${text}${other}${ackFrame(7)}`)
    expect(seqOf(data, 0, text.length)).toBe(42)
    expect(seqOf(data, text.length, text.length + other.length)).toBeNaN()
    expect(kindOf(data, text.length + other.length)).toBe('ack')
    expect(seqOf(data, text.length + other.length, data.length)).toBe(7)
  })

  test('are masked as WebSocket requires', () => {
    const payload = Buffer.from(controlFrame('binary', 5, 1))
    const frame = maskedFrame(OPCODE_BINARY, payload)
    const unmasked = frame.subarray(6).map((byte, index) => byte ^ (frame[2 + (index % 4)] as number))
    expect([...frame.subarray(0, 2)]).toEqual([0x82, 0x80 | payload.length])
    expect(Buffer.from(unmasked)).toEqual(payload)
  })
})

describe('the wires parse messages across any TCP segmentation', () => {
  const sizes = [0, 1, 80, 300, 20_000]
  const payloads = sizes.map((size) => Buffer.alloc(size, 'r\n'))
  const mqtt = createMqttWire({ pair: 3, side: 'robot' })
  const nats = createNatsWire({ pair: 3, side: 'robot' })
  const asNatsDelivers = (payload: Buffer) =>
    Buffer.concat([Buffer.from(`MSG control.3 1 ${payload.length}\r\n`), payload, Buffer.from('\r\n')])
  const cases = [
    { name: 'MQTT', wire: mqtt, stream: Buffer.concat(payloads.map((payload) => mqtt.wrap(payload))) },
    { name: 'NATS', wire: nats, stream: Buffer.concat(payloads.map(asNatsDelivers)) },
  ]

  test.each(cases)('$name', ({ wire, stream }) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: stream.length }), { maxLength: 12 }), (locations) => {
        const cuts = [...new Set([...locations, stream.length])].sort((a, b) => a - b)
        const seen: Buffer[] = []
        const received: WireEvents = {
          ready() {},
          refused: (why) => expect.unreachable(why),
          answer: () => expect.unreachable('No message needs an answer.'),
          message: (data, start, end) => void seen.push(Buffer.from(data.subarray(start, end))),
        }
        let from = 0
        for (const cut of cuts) from += wire.read(stream.subarray(from, cut), received)
        expect(from).toBe(stream.length)
        expect(seen).toEqual(payloads)
      }),
    )
  })
})
