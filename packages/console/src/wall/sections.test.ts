import { expect, test } from 'vitest'
import type { LiveRobot } from '../status/live-robots.tsx'
import { layoutOf, type Placed, placed, type Seen } from './sections.ts'

const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString()

const session: NonNullable<LiveRobot['session']> = {
  id: 'session',
  status: 'ACTIVE',
  started_at: ago(700),
  operator_id: 'grace',
  operator_name: 'Grace',
  pause_reason: null,
  paused_at: null,
  ends_at: null,
  stop: null,
  requested_minutes: null,
  asks_for_control: null,
  recording: null,
}

const stop = (seconds: number) => ({
  reason: 'cat',
  at: ago(seconds),
  by_name: 'Olive',
  clear_requested_at: null,
})
const asking = (name: string): LiveRobot => ({
  ...driving(name),
  session: { ...session, asks_for_control: { kind: 'offer', from_name: 'Grace' } },
})
const driving = (name: string): LiveRobot => ({
  id: name,
  name,
  robot_type: 'rover-2',
  tags: [],
  state: 'DRIVING',
  on_hold: false,
  stream_url: 'https://a.test',
  camera: null,
  battery: null,
  battery_at: null,
  mode: null,
  last_heartbeat: null,
  session,
})
const stopped = (name: string, seconds: number): LiveRobot => ({
  ...driving(name),
  state: 'STOPPED',
  session: { ...session, status: 'PAUSED', stop: stop(seconds) },
})
const idle = (name: string, stream_url: string): LiveRobot => ({
  ...driving(name),
  state: 'READY',
  session: null,
  stream_url,
})
const names = (places: readonly Placed[]) => places.map(({ robot, section }) => `${section} ${robot.name}`)
const nothing: Seen = new Map()

test('those that need their owner are first, oldest first; the others are by name', () => {
  const robots = [
    driving('B'),
    idle('C', ''),
    stopped('D', 5),
    driving('A10'),
    driving('A9'),
    stopped('E', 60),
  ]
  expect(names(placed([...robots, idle('F', 'https://f.test')], nothing))).toEqual([
    'needs E',
    'needs D',
    'driving A9',
    'driving A10',
    'driving B',
    'ready F',
    'rows C',
  ])
})

test('an old picture needs the owner only while somebody drives', () => {
  const seen: Seen = new Map(['A', 'B'].map((id) => [id, { state: 'BLIND', sinceMs: 1 }]))
  expect(names(placed([driving('A'), idle('B', 'https://b.test')], seen))).toEqual(['needs A', 'ready B'])
})

test('nothing moves while somebody points at the wall', () => {
  const before = placed([driving('A'), driving('B')], nothing)
  const after = placed([driving('A0'), driving('A'), stopped('B', 1), stopped('C', 9)], nothing, before)
  expect(names(after)).toEqual(['needs C', 'driving A', 'driving B', 'driving A0'])
})

test.each([
  ['four fill the window', { needs: 1, driving: 3, ready: 0, rows: 0 }, 2, 2, 2],
  ['twelve', { needs: 4, driving: 4, ready: 4, rows: 0 }, 4, 4, 4],
  ['hundreds scroll', { needs: 8, driving: 20, ready: 200, rows: 0 }, 4, 5, 8],
] as const)('%s', (_name, counts, needs, drives, ready) => {
  const { columns } = layoutOf(counts, 'M', { widthPx: 1_400, heightPx: 748 })
  expect([columns.needs, columns.driving, columns.ready]).toEqual([needs, drives, ready])
})

test('27 robots fit into a window of 1920 × 1080', () => {
  const counts = { needs: 3, driving: 6, ready: 18, rows: 0 }
  const { columns } = layoutOf(counts, 'M', { widthPx: 1_880, heightPx: 900 })
  const rows = (count: number, width: number) =>
    Math.ceil(count / width) * ((1_890 / width - 10) * (9 / 16) + 10)
  expect(rows(3, columns.needs) + rows(6, columns.driving) + rows(18, columns.ready) + 120).toBeLessThan(900)
  expect(columns.ready, 'and are not smaller than needed').toBeLessThan(14)
})

test('a robot whose operator asks for help needs its owner', () => {
  const places = placed([driving('a'), asking('b')], new Map())
  expect(places.map(({ robot, section }) => [robot.name, section])).toEqual([
    ['b', 'needs'],
    ['a', 'driving'],
  ])
})
