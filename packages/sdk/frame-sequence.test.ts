import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FrameSequence } from './frame-sequence.ts'

type Frame = { readonly order: number; readonly after: number } & (
  | { readonly type: 'control' | 'session' | 'limits' | 'stop_cleared' }
  | { readonly type: 'stop'; readonly latched: boolean }
)

/** Numbers frames as the gateway does. */
function numbered(types: readonly string[]): Frame[] {
  let after = 0
  return types.map((name, index) => {
    const order = index + 1
    if (name === 'session') after = order
    const [type, latched] = name === 'latched stop' ? ['stop', true] : [name, false]
    return { type, latched, order, after: name === 'session' ? 0 : after } as Frame
  })
}

function handles(sequence: FrameSequence, frame: Frame): boolean {
  if (frame.type === 'session') {
    sequence.session(frame.order)
    return true
  }
  if (frame.type === 'limits') return sequence.acceptLimits(frame.order, frame.after)
  const isLatch = frame.type === 'stop_cleared' || (frame.type === 'stop' && frame.latched)
  return isLatch ? sequence.acceptLatch(frame.order) : sequence.accept(frame.order, frame.after)
}

const names = fc.constantFrom(
  'control',
  'control',
  'control',
  'stop',
  'latched stop',
  'stop_cleared',
  'limits',
  'session',
)

describe('frames over two transports', () => {
  test('the end of a latched stop counts also after a later stop that overtook it', () => {
    const [latched, cleared, halt] = numbered(['latched stop', 'stop_cleared', 'stop']) as [
      Frame,
      Frame,
      Frame,
    ]
    const sequence = new FrameSequence()
    expect([latched, halt, cleared, latched].map((frame) => handles(sequence, frame))).toEqual([
      true,
      true,
      true,
      false,
    ])
  })

  test('no frame is handled twice, none after a newer one of its kind, and no command before its session', () => {
    const arrival = fc.array(names, { minLength: 1, maxLength: 30 }).chain((types) => {
      const frames = numbered(types)
      // Each frame may be lost on the data channel, arrive late there, or arrive over the WebSocket, which keeps the order.
      const copies = frames.map((frame) =>
        fc.record({ delay: fc.nat({ max: 40 }), lost: fc.boolean(), frame: fc.constant(frame) }),
      )
      return fc.tuple(fc.constant(frames), fc.tuple(...copies), fc.nat({ max: 20 }))
    })
    fc.assert(
      fc.property(arrival, ([frames, copies, stallMs]) => {
        const overChannel = copies
          .filter(({ lost, frame }) => !lost && frame.type !== 'session' && frame.type !== 'stop_cleared')
          .map(({ delay, frame }) => ({ at: frame.order + delay, frame }))
        const overSocket = frames.map((frame) => ({ at: frame.order + stallMs, frame }))
        const sequence = new FrameSequence()
        const handled = [...overChannel, ...overSocket]
          .sort((a, b) => a.at - b.at)
          .map(({ frame }) => frame)
          .filter((frame) => handles(sequence, frame))
        expect(new Set(handled).size).toBe(handled.length)
        const ofKind = (...types: string[]) => handled.filter(({ type }) => types.includes(type))
        const orders = (some: Frame[]) => some.map(({ order }) => order)
        const isRising = (values: number[]) =>
          values.every((value, index) => index === 0 || value > (values[index - 1] ?? 0))
        expect(isRising(orders(ofKind('control')))).toBe(true)
        expect(isRising(orders(ofKind('limits')))).toBe(true)
        for (const [index, frame] of handled.entries()) {
          const before = handled.slice(0, index)
          if (frame.type !== 'control') continue
          expect(before.some(({ order, type }) => order > frame.order && type === 'stop')).toBe(false)
          expect(frame.after === 0 || before.some(({ order }) => order === frame.after)).toBe(true)
        }
        // The WebSocket delivers all, so the newest of the latched stops and their ends decides.
        const latches = ofKind('stop_cleared', 'stop').filter(
          (frame) => frame.type === 'stop_cleared' || (frame.type === 'stop' && frame.latched),
        )
        const sent = frames.filter(
          (frame) => frame.type === 'stop_cleared' || (frame.type === 'stop' && frame.latched),
        )
        expect(latches.at(-1)).toBe(sent.at(-1))
      }),
      { numRuns: 2_000 },
    )
  })

  test('frames without numbers are handled as they arrive', () => {
    const sequence = new FrameSequence()
    sequence.session(undefined)
    expect([
      sequence.accept(undefined),
      sequence.acceptLatch(undefined),
      sequence.acceptLimits(undefined),
    ]).toEqual([true, true, true])
  })
})
