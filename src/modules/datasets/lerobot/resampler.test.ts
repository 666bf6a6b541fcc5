import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NumberSlot, VectorFeature } from './features.ts'
import { type Alignment, noCounts, Resampler, type Row, type TimedMessage } from './resampler.ts'

const slot = (name: string, fields: Partial<NumberSlot> = {}): NumberSlot => ({
  path: [name],
  kind: 'number',
  unit: null,
  choices: [],
  neutral: 0,
  isSpeed: false,
  ...fields,
})
const features: VectorFeature[] = [
  { key: 'observation.state', source: 'telemetry', slots: [slot('x'), slot('on', { kind: 'boolean' })] },
  {
    key: 'action',
    source: 'control',
    slots: [
      slot('v', { isSpeed: true }),
      slot('height', { neutral: 2 }),
      slot('grip', { kind: 'choice', choices: ['a', 'b'] }),
    ],
  },
]
const telemetry = (atMs: number, data: unknown): TimedMessage => ({
  source: 'telemetry',
  atMs,
  content: { data },
})
const control = (atMs: number, data: unknown): TimedMessage => ({
  source: 'control',
  atMs,
  content: { data },
})

function resample(
  rowTimes: readonly number[],
  messages: readonly TimedMessage[],
  counts = noCounts(),
  of: readonly VectorFeature[] = features,
  alignment: Alignment = 'nearest',
): Row[] {
  const resampler = new Resampler(of, Float64Array.from(rowTimes), counts, alignment)
  const rows = messages.flatMap((message) => [...resampler.add(message)])
  return [...rows, ...resampler.end()]
}
const vectorsOf = (rows: readonly Row[], index: number) =>
  rows.map(({ vectors }) => [...(vectors[index] ?? [])])

test('a command holds until the next one, and its speeds for 250 ms at most', () => {
  const rows = resample(
    [0, 100, 349, 351, 1_000],
    [
      control(-500, { v: 9 }),
      control(50, { v: 1, height: 5, grip: 'b' }),
      control(99, { v: 2, grip: 'b' }),
      telemetry(1_200, { x: 1 }),
    ],
  )
  expect(vectorsOf(rows, 1)).toEqual([
    [0, 2, 0],
    [2, 5, 1],
    [2, 5, 1],
    [0, 5, 1],
    [0, 5, 1],
  ])
  expect(rows.map(({ isIntervention }) => isIntervention)).toEqual([false, true, true, false, false])
})

test('before the first command, positions are those of the telemetry; after it they hold', () => {
  const arm = [slot('joints.0', { path: ['joints', 0] }), slot('gripper'), slot('lamp', { neutral: 0.1 })]
  const rows = resample(
    [0, 10, 40, 1_000],
    [
      telemetry(5, { joints: [0.7], gripper: 0.4 }),
      control(20, { joints: [0.8] }),
      telemetry(500, { joints: [0.9] }),
    ],
    noCounts(),
    [
      { key: 'observation.state', source: 'telemetry', slots: arm.slice(0, 2) },
      { key: 'action', source: 'control', slots: arm },
    ],
  )
  const close = (number: number) => expect.closeTo(number, 5)
  expect(vectorsOf(rows, 1)).toEqual([
    [close(0.7), close(0.4), close(0.1)],
    [close(0.7), close(0.4), close(0.1)],
    [close(0.8), close(0.4), close(0.1)],
    [close(0.8), close(0.4), close(0.1)],
  ])
})

test('numbers of the telemetry are from the nearest sample, booleans from the last one', () => {
  const samples = [telemetry(0, { x: 1, on: false }), telemetry(100, { x: 2, on: true })]
  const rows = resample([10, 49, 51, 99, 100, 400], samples)
  expect(vectorsOf(rows, 0)).toEqual([
    [1, 0],
    [1, 0],
    [2, 0],
    [2, 0],
    [2, 1],
    [2, 1],
  ])
})

test('with causal alignment, a row never has a later sample', () => {
  const samples = [telemetry(0, { x: 1, on: false }), telemetry(100, { x: 2, on: true })]
  const rows = resample([10, 49, 51, 99, 100, 400], samples, noCounts(), features, 'causal')
  expect(vectorsOf(rows, 0)).toEqual([
    [1, 0],
    [1, 0],
    [1, 0],
    [1, 0],
    [2, 1],
    [2, 1],
  ])
})

test('a sample more than half a second later is not the nearest one', () => {
  expect(vectorsOf(resample([0, 600], [telemetry(-5_000, { x: 1 }), telemetry(700, { x: 2 })]), 0)).toEqual([
    [1, 0],
    [2, 0],
  ])
})

test('invalid values keep the last finite one, and are counted', () => {
  const counts = noCounts()
  const hostile = [null, 'NaN', 1e300, -1e300, {}, [], Number.POSITIVE_INFINITY]
  const rows = resample(
    [5, 1_000],
    [
      telemetry(1, { x: 7 }),
      ...hostile.map((x, index) => telemetry(10 + index, { x })),
      { source: 'telemetry', atMs: 30, content: undefined },
      control(900, { v: 3, grip: 'c' }),
      control(990, { v: Number.NaN }),
    ],
    counts,
  )
  expect(vectorsOf(rows, 0).map(([x]) => x)).toEqual([7, 7])
  expect(vectorsOf(rows, 1).map(([v]) => v)).toEqual([0, 3])
  expect(counts).toEqual({ unreadable: 1, invalid: hostile.length + 2, unseen: 2 })
})

test('any messages give exactly one row for each frame, in order, with the command that holds', () => {
  const times = fc.uniqueArray(fc.integer({ min: 0, max: 4_000 }), { maxLength: 40 })
  const messages = fc.array(
    fc.record({
      atMs: fc.integer({ min: -1_000, max: 5_000 }),
      source: fc.constantFrom('control' as const, 'telemetry' as const),
      content: fc.option(fc.record({ data: fc.anything() }), { nil: undefined }),
    }),
    { maxLength: 60 },
  )
  const numbered = fc.array(
    fc.tuple(fc.integer({ min: -1_000, max: 5_000 }), fc.integer({ min: 1, max: 99 })),
  )
  fc.assert(
    fc.property(times, messages, numbered, (rowTimes, noise, commands) => {
      const sorted = rowTimes.toSorted((a, b) => a - b)
      const clean = commands.map(([atMs, v]) => control(atMs, { v }))
      const all = [...noise.filter(({ source }) => source === 'telemetry'), ...clean].toSorted(
        (a, b) => a.atMs - b.atMs,
      )
      const rows = resample(sorted, all)
      expect(rows.map(({ atMs }) => atMs)).toEqual(sorted)
      for (const { atMs, vectors, isIntervention } of rows) {
        const held = all.findLast((message) => message.source === 'control' && message.atMs <= atMs)
        const isHeld = held !== undefined && atMs - held.atMs <= 250
        expect(isIntervention).toBe(isHeld)
        const command = held?.content?.data as { v: number } | undefined
        expect(vectors[1]?.[0]).toBe(isHeld ? command?.v : 0)
        for (const vector of vectors) expect([...vector].every(Number.isFinite)).toBe(true)
      }
    }),
  )
})
