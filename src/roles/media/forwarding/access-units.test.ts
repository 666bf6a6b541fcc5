import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type AccessUnit, AccessUnits } from './access-units.ts'
import type { VideoPacket } from './reorder-buffer.ts'

const FRAME_MS = 33
const MTU = 100

/** Sends packets to the depacketizer, 1 ms apart. */
function setUp(codec: 'VP8' | 'H264') {
  const units: AccessUnit[] = []
  let lost = 0
  const receiver = new AccessUnits(codec, {
    unit: (unit) => units.push(unit),
    lost: () => {
      lost++
    },
    captureMs: (timestamp) => timestamp / 90,
  })
  return { receiver, units, lost: () => lost, texts: () => units.map(({ data }) => data.toString('hex')) }
}

/** A frame, and its packets without sequence numbers. */
interface Frame {
  readonly isKeyframe: boolean
  readonly data: Buffer
  readonly payloads: readonly Buffer[]
}

function packetsOf(frames: readonly Frame[], firstNumber = 0): VideoPacket[] {
  let number = firstNumber
  return frames.flatMap(({ payloads }, frame) =>
    payloads.map((payload, index) => ({
      payload,
      arrivedMs: 0,
      header: {
        sequenceNumber: number++ & 0xffff,
        timestamp: (frame * FRAME_MS * 90) >>> 0,
        marker: index === payloads.length - 1,
      },
    })),
  )
}

function vp8Frame(number: number, { isKeyframe = false, bytes = 250 } = {}): Frame {
  const data = Buffer.alloc(bytes, number)
  data[0] = isKeyframe ? 0x10 : 0x11
  const payloads: Buffer[] = []
  for (let at = 0; at < bytes; at += MTU) {
    // A descriptor with a picture number of two bytes
    const descriptor = Buffer.from([at === 0 ? 0x90 : 0x80, 0x80, 0x80 | (number >> 8), number & 0xff])
    payloads.push(Buffer.concat([descriptor, data.subarray(at, at + MTU)]))
  }
  return { isKeyframe, data, payloads }
}

const startCode = Buffer.from([0, 0, 0, 1])
const annexB = (...units: Uint8Array[]) => Buffer.concat(units.flatMap((unit) => [startCode, unit]))
const unitOf = (type: number, bytes: number, fill = 0x55) => {
  const unit = Buffer.alloc(bytes, fill)
  unit[0] = 0x60 | type
  return unit
}
const sequence = Buffer.from([0x67, 0x42, 0xe0, 0x1f, 0xda, 0x01])
const picture = Buffer.from([0x68, 0xce, 0x38, 0x80])

function fragmentsOf(unit: Buffer): Buffer[] {
  const [header = 0] = unit
  const fragments: Buffer[] = []
  for (let at = 1; at < unit.length; at += MTU) {
    const flags = (at === 1 ? 0x80 : 0) | (at + MTU >= unit.length ? 0x40 : 0)
    fragments.push(
      Buffer.concat([
        Buffer.from([(header & 0xe0) | 28, flags | (header & 0x1f)]),
        unit.subarray(at, at + MTU),
      ]),
    )
  }
  return fragments
}
const aggregationOf = (...units: Buffer[]) =>
  Buffer.concat([
    Buffer.from([0x78]),
    ...units.flatMap((unit) => [Buffer.from([unit.length >> 8, unit.length & 0xff]), unit]),
  ])

function h264Frame(number: number, { isKeyframe = false, bytes = 250 } = {}): Frame {
  const slice = unitOf(isKeyframe ? 5 : 1, bytes, number)
  const parameters = isKeyframe ? [sequence, picture] : []
  return {
    isKeyframe,
    data: annexB(...parameters, slice),
    payloads: [
      ...(isKeyframe ? [aggregationOf(sequence, picture)] : []),
      ...(bytes > MTU ? fragmentsOf(slice) : [slice]),
    ],
  }
}

const makers = { VP8: vp8Frame, H264: h264Frame } as const
const codecs = ['VP8', 'H264'] as const
const hex = (frames: readonly Frame[]) => frames.map(({ data }) => data.toString('hex'))

describe.each(codecs)('%s', (codec) => {
  const frameOf = makers[codec]
  /** Returns frames of which every tenth is a keyframe. */
  const framesOf = (count: number) =>
    Array.from({ length: count }, (_, number) => frameOf(number, { isKeyframe: number % 10 === 0 }))

  function send(receiver: AccessUnits, packets: readonly VideoPacket[], startMs = 0): void {
    for (const [index, packet] of packets.entries())
      receiver.receive({ ...packet, arrivedMs: startMs + index })
  }

  test('frames arrive complete, with their times, across the wrap of the numbers', () => {
    const { receiver, units, texts, lost } = setUp(codec)
    const frames = framesOf(30)
    const packets = packetsOf(frames, 65_500)
    send(receiver, packets)
    expect(texts()).toEqual(hex(frames))
    expect(units.map(({ isKeyframe }) => isKeyframe)).toEqual(frames.map(({ isKeyframe }) => isKeyframe))
    expect(units[1]).toMatchObject({ timestamp: FRAME_MS * 90, captureMs: FRAME_MS })
    const lastOfFirst = (frames[0] as Frame).payloads.length - 1
    expect(units[0]?.arrivedMs).toBe(lastOfFirst)
    expect(lost()).toBe(0)
  })

  test('the first frame is a keyframe', () => {
    const { receiver, texts, lost } = setUp(codec)
    const frames = framesOf(25).slice(5)
    send(receiver, packetsOf(frames).slice(1))
    expect(texts()).toEqual(hex(frames.slice(5)))
    expect(lost(), 'nothing that was expected').toBe(0)
  })

  test('a packet that arrives later is put in its place', () => {
    const { receiver, texts, lost } = setUp(codec)
    const frames = framesOf(12)
    const packets = packetsOf(frames)
    const [late] = packets.splice(20, 1) as [VideoPacket]
    send(receiver, packets)
    const before = texts().length
    receiver.receive({ ...late, arrivedMs: 400 })
    expect(texts()).toEqual(hex(frames))
    expect(before).toBeLessThan(12)
    expect(lost()).toBe(0)
  })

  test('after a lost packet, the next frame is a keyframe', () => {
    const { receiver, texts, lost } = setUp(codec)
    const frames = framesOf(30)
    const packets = packetsOf(frames)
    const first = packets.findIndex(({ header }) => header.timestamp === 3 * FRAME_MS * 90)
    send(receiver, packets.toSpliced(first + 1, 1))
    receiver.expire(600)
    expect(texts()).toEqual(hex([...frames.slice(0, 3), ...frames.slice(10)]))
    expect(lost()).toBe(1)
  })

  test('frames continue when the numbers of the sender begin again', () => {
    const { receiver, texts } = setUp(codec)
    send(receiver, packetsOf(framesOf(5), 100))
    const again = framesOf(20)
    send(receiver, packetsOf(again, 40_000))
    expect(texts().slice(5)).toEqual(hex(again))
  })

  test('packets without a payload, copies and missing markers change nothing', () => {
    const { receiver, texts } = setUp(codec)
    const frames = framesOf(6)
    const packets = packetsOf(frames).flatMap((packet, index) => [
      { ...packet, header: { ...packet.header, sequenceNumber: 2 * index, marker: false } },
      { ...packet, payload: Buffer.alloc(0), header: { ...packet.header, sequenceNumber: 2 * index + 1 } },
    ])
    send(
      receiver,
      packets.flatMap((packet) => [packet, packet]),
    )
    send(
      receiver,
      packetsOf([frameOf(99)], 2 * packets.length)
        .map((packet) => ({
          ...packet,
          header: { ...packet.header, timestamp: 1, sequenceNumber: packets.length },
        }))
        .slice(0, 1),
    )
    expect(texts()).toEqual(hex(frames))
  })

  test('a frame that is too large is left out', () => {
    const { receiver, texts, lost } = setUp(codec)
    const large = frameOf(1, { bytes: 4_500_000 })
    const frames = [frameOf(0, { isKeyframe: true }), large, frameOf(2), frameOf(3, { isKeyframe: true })]
    const packets = packetsOf(frames)
    send(receiver, packets)
    expect(texts()).toEqual(hex([frames[0] as Frame, frames[3] as Frame]))
    expect(lost()).toBe(1)
  })

  test('with any loss and any order, every frame is complete, and after a gap comes a keyframe', () => {
    const schedule = fc.record({
      sizes: fc.array(fc.integer({ min: 2, max: 1_200 }), { minLength: 5, maxLength: 60 }),
      keyframeEvery: fc.integer({ min: 1, max: 12 }),
      lost: fc.array(fc.nat(400), { maxLength: 12 }),
      delays: fc.array(fc.tuple(fc.nat(400), fc.nat(700)), { maxLength: 12 }),
      first: fc.nat(65_535),
    })
    fc.assert(
      fc.property(schedule, ({ sizes, keyframeEvery, lost: dropped, delays, first }) => {
        const { receiver, texts, units } = setUp(codec)
        const frames = sizes.map((bytes, number) =>
          frameOf(number, { bytes, isKeyframe: number % keyframeEvery === 0 }),
        )
        const arrivals = packetsOf(frames, first)
          .map((packet, index) => ({ ...packet, arrivedMs: 3 * index, index }))
          .filter(({ index }) => !dropped.includes(index))
          .map((packet) => {
            const delayMs = delays.find(([index]) => index === packet.index)?.[1] ?? 0
            return { ...packet, arrivedMs: packet.arrivedMs + delayMs }
          })
          .toSorted((a, b) => a.arrivedMs - b.arrivedMs)
        for (const packet of arrivals) receiver.receive(packet)
        receiver.expire(1_000_000)
        const originals = hex(frames)
        let previous = -1
        for (const [index, text] of texts().entries()) {
          const timestamp = units[index]?.timestamp as number
          const number = timestamp / 90 / FRAME_MS
          expect(text).toBe(originals[number])
          expect(number).toBeGreaterThan(previous)
          if (number !== previous + 1) expect(units[index]?.isKeyframe).toBe(true)
          previous = number
        }
        // Without any loss, and delays within the limit, all frames from the first keyframe on arrive.
        const firstDelayed = delays.some(([index]) => index === 0)
        if (dropped.length === 0 && delays.every(([, delayMs]) => delayMs < 400) && !firstDelayed)
          expect(units).toHaveLength(frames.length)
      }),
      { numRuns: 300 },
    )
  })

  test('packets of any content never throw', () => {
    const packet = fc.record({
      payload: fc.uint8Array({ maxLength: 40 }),
      sequenceNumber: fc.oneof(fc.nat(65_535), fc.nat(40)),
      timestamp: fc.nat(3),
      marker: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 200 }), (packets) => {
        const { receiver, units } = setUp(codec)
        for (const [index, { payload, ...header }] of packets.entries())
          receiver.receive({ payload, header, arrivedMs: 20 * index })
        receiver.expire(1e9)
        expect(units.every(({ data }) => data.length > 0)).toBe(true)
        expect(units[0]?.isKeyframe ?? true).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

describe('H264', () => {
  const send = (receiver: AccessUnits, payloads: readonly (readonly Buffer[])[]) => {
    for (const packet of packetsOf(
      payloads.map((parts) => ({ isKeyframe: false, data: Buffer.alloc(0), payloads: parts })),
    ))
      receiver.receive(packet)
  }
  const idr = unitOf(5, 20)
  const slice = unitOf(1, 20)

  test('a keyframe without parameter sets gets those from before, after its delimiter', () => {
    const { receiver, texts } = setUp('H264')
    const delimiter = Buffer.from([0x09, 0x10])
    send(receiver, [[sequence, picture], [delimiter, idr], [slice], [delimiter, idr]])
    expect(texts()).toEqual([
      annexB(delimiter, sequence, picture, idr).toString('hex'),
      annexB(slice).toString('hex'),
      annexB(delimiter, sequence, picture, idr).toString('hex'),
    ])
  })

  test('changed parameter sets replace those with the same number', () => {
    const { receiver, texts } = setUp('H264')
    const changed = Buffer.from([...picture, 7])
    send(receiver, [
      [sequence, picture, idr],
      [changed, idr],
    ])
    expect(texts()[1]).toBe(annexB(sequence, changed, idr).toString('hex'))
  })

  test('a keyframe without known parameter sets is of no use', () => {
    const { receiver, texts } = setUp('H264')
    send(receiver, [[sequence, idr], [slice], [sequence, picture, idr]])
    expect(texts()).toEqual([annexB(sequence, picture, idr).toString('hex')])
  })

  test('fragments in the wrong order, of an empty unit or of unknown kinds are a loss', () => {
    const key = [sequence, picture, idr]
    const [first = idr, second = idr] = fragmentsOf(unitOf(1, 150))
    for (const broken of [
      [second],
      [first],
      [first, first],
      [first, slice],
      [Buffer.from([0x7c, 0x81])],
      [Buffer.from([0x79, 1])],
      [Buffer.from([0x78, 0, 9, 1])],
      [Buffer.from([0x78, 0, 0])],
    ]) {
      const { receiver, texts, lost } = setUp('H264')
      send(receiver, [key, broken, [slice], key])
      expect(texts()).toHaveLength(2)
      expect(lost()).toBe(1)
    }
  })
})
