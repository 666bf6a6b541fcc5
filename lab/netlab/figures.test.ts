import { describe, expect, test } from 'vitest'
import { figuresOf, type Recording } from './figures.ts'

// One robot of one run of ten seconds, unless a test says otherwise. Its commands come as [time, age] in milliseconds.

function recordingOf(
  commands: readonly (readonly [atMs: number, ageMs: number])[],
  parts: Partial<Omit<Recording, 'robots'>> & { halts?: Recording['robots']['halts'] } = {},
): Recording {
  const { halts = [], ...others } = parts
  return {
    pairs: 1,
    fromMs: 0,
    toMs: 10_000,
    ttlMs: 250,
    disturbances: [],
    pauses: [],
    robots: {
      pairs: Uint16Array.from(commands, () => 0),
      atMs: Float64Array.from(commands, ([atMs]) => atMs),
      agesMs: Float64Array.from(commands, ([, ageMs]) => ageMs),
      halts,
    },
    ...others,
  }
}

const haltAt = (atMs: number) => ({ pair: 0, atMs, reason: 'deadman' })

test('ages, rate, and commands older than their ttl', () => {
  const commands = Array.from({ length: 500 }, (_, index) => [index * 20, index < 3 ? 251 : 40] as const)
  expect(figuresOf(recordingOf(commands))).toMatchObject({
    ageP50Ms: 40,
    ageP99Ms: 40,
    ageMaxMs: 251,
    commandsPerS: 50,
    olderThanTtl: 3,
    stops: 0,
  })
  expect(figuresOf(recordingOf([[0, 250]])).olderThanTtl).toBe(0)
})

describe('a stop', () => {
  test('is false while the link works, and counted for ten minutes of driving', () => {
    const figures = figuresOf(recordingOf([], { halts: [haltAt(5_000)], pairs: 3 }))
    expect(figures).toMatchObject({ stops: 1, falseStops: 1, falseStopsPerTenMinutes: 20, doubtfulStops: 0 })
    expect(figures.stopReasons).toEqual({ deadman: 1 })
  })

  test('is not false in an outage, and until its robot has recovered', () => {
    const disturbances = [[2_000, 4_000]] as const
    const of = (atMs: number, recoveredMs: number) =>
      figuresOf(recordingOf([[recoveredMs, 30]], { disturbances, halts: [haltAt(atMs)] })).falseStops
    expect(of(1_999, 4_100)).toBe(1)
    expect(of(2_300, 4_100)).toBe(0)
    expect(of(5_500, 5_000)).toBe(0)
    expect(of(5_700, 5_000)).toBe(1)
  })

  test('is doubtful after a pause of the lab', () => {
    const figures = (atMs: number) =>
      figuresOf(recordingOf([], { pauses: [[1_000, 1_300]], halts: [haltAt(atMs)] }))
    expect(figures(1_400)).toMatchObject({ falseStops: 0, doubtfulStops: 1 })
    expect(figures(2_000)).toMatchObject({ falseStops: 1, doubtfulStops: 0 })
  })
})

describe('recovery', () => {
  test('ends with the first command within its lifetime', () => {
    const commands = [
      [3_000, 30],
      [4_010, 900],
      [4_080, 200],
      [4_090, 30],
    ] as const
    const figures = figuresOf(recordingOf(commands, { disturbances: [[2_000, 4_000]] }))
    expect(figures).toMatchObject({ recoveryP50Ms: 80, recoveryMaxMs: 80, unrecovered: 0 })
  })

  test('is missing when the next outage comes first, and unknown at the end of the run', () => {
    const disturbances = [
      [2_000, 4_000],
      [5_000, 6_000],
      [8_000, 9_900],
    ] as const
    const figures = figuresOf(recordingOf([[6_050, 30]], { disturbances }))
    expect(figures).toMatchObject({ recoveryMaxMs: 50, unrecovered: 1 })
  })
})
