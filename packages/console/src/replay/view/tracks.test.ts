import { expect, test } from 'vitest'
import type { Overview } from '../data/overview.ts'
import { episodeSpans, linkSpans, statesOf, stopFrom } from './tracks.ts'

const SECOND_MS = 1_000
const at = (second: number) => new Date(second * SECOND_MS).toISOString()

const episode = (from: number, to: number | null) => ({
  id: `${from}`,
  episode_id: `${from}`,
  started_at: at(from),
  ended_at: to === null ? null : at(to),
  success: null,
  task: null,
  source: 'platform' as const,
})

const overview = (changes: Partial<Overview>): Overview => ({
  originMs: 0,
  widthMs: SECOND_MS,
  series: new Map(),
  passed: new Uint32Array(20),
  dropped: new Map(),
  poses: new Float64Array(0),
  stops: [],
  events: [],
  ...changes,
})

test('episodes at the same time lie in different lines, the others in the first one', () => {
  const spans = episodeSpans([episode(7, 23), episode(5, 18), episode(20, null), episode(30, 31)], 40_000)
  expect(spans.map(({ fromMs, lane }) => [fromMs / SECOND_MS, lane])).toEqual([
    [5, 0],
    [7, 1],
    [20, 0],
    [30, 1],
  ])
})

test('before the first change a robot was driven from the first command on', () => {
  const stop = { reason: 'emergency_stop', latched: true }
  const stops = [
    { atMs: 8_000, status: 'PAUSED', isConnected: true, stop },
    { atMs: 12_000, status: 'PAUSED', isConnected: true, stop: null },
    { atMs: 14_000, status: 'ACTIVE', isConnected: true, stop: null },
  ]
  const passed = new Uint32Array(20)
  passed[2] = 20
  const states = statesOf(overview({ stops, passed }), 20_000)
  expect(states.map(({ kind, fromMs }) => [kind, fromMs / SECOND_MS])).toEqual([
    ['driving', 2],
    ['stopped', 8],
    ['paused', 12],
    ['driving', 14],
  ])
  expect(stopFrom(states, 0, 1)).toBe(8_000)
  expect(stopFrom(states, 8_000, 1)).toBeUndefined()
  expect(stopFrom(states, 15_000, -1)).toBe(8_000)
  expect(statesOf(overview({ stops }), 20_000)[0]).toMatchObject({ kind: 'stopped' })
})

test('a connection is delayed from 400 ms on, limited below full speed, and unknown without measurements', () => {
  const pairs = (values: Readonly<Record<number, number>>) => {
    const all = new Float64Array(40).fill(Number.NaN)
    for (const [index, value] of Object.entries(values))
      all.fill(value, 2 * Number(index), 2 * Number(index) + 2)
    return all
  }
  const series = new Map([
    ['latency:robot_ms', pairs({ 0: 20, 2: 20, 4: 610, 6: 30, 8: 30 })],
    ['limits:speed_scale', pairs({ 0: 1, 6: 0.6 })],
  ])
  expect(linkSpans(overview({ series }), 20_000)).toEqual([
    { kind: 'live', fromMs: 0, toMs: 4_000, worstMs: 20, scale: 1 },
    { kind: 'delayed', fromMs: 4_000, toMs: 6_000, worstMs: 610, scale: 1 },
    { kind: 'limited', fromMs: 6_000, toMs: 14_000, worstMs: 30, scale: 0.6 },
  ])
})
