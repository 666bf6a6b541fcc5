import { expect, test } from 'vitest'
import { freshnessOf } from '../freshness/freshness.ts'
import { createHeartbeatAge } from './heartbeat-age.ts'

const OPENED_MS = Date.parse('2026-11-20T09:30:00.000Z')
const at = (agoMs: number) => new Date(OPENED_MS - agoMs).toISOString()

function open(first: string | null) {
  let passedMs = 0
  const clocks = { monotonicMs: () => 70_000 + passedMs, unixMs: () => OPENED_MS + passedMs }
  const heartbeats = createHeartbeatAge(first, clocks)
  return {
    ...heartbeats,
    pass: (ms: number) => {
      passedMs += ms
    },
    state: () => freshnessOf({ pictureMs: undefined, ...heartbeats.ages() }).state,
  }
}

test('a heartbeat counts from its arrival, and is late after five seconds', () => {
  const robot = open(at(200))
  expect(robot.ages()).toEqual({ linkMs: 0, telemetryMs: undefined })
  robot.pass(4_700)
  expect(robot.state()).toBe('LIVE')
  robot.note(at(200))
  robot.pass(100)
  expect(robot.ages().linkMs, 'the same heartbeat again').toBe(5_000)
  expect(robot.state()).toBe('BLIND')
  robot.note(at(-3_000))
  expect(robot.state()).toBe('LIVE')
})

test('a robot that was lost before the page was opened is blind at once', () => {
  const robot = open(at(600_000))
  expect(robot.ages().linkMs).toBe(600_000)
  expect(robot.state()).toBe('BLIND')
})

test('a clock that lags behind the platform makes no heartbeat late', () => {
  expect(open(at(-60_000)).state()).toBe('LIVE')
})

test('a robot without a heartbeat is blind five seconds after the page was opened', () => {
  const robot = open(null)
  expect(robot.state()).toBe('LIVE')
  robot.pass(5_000)
  expect(robot.state()).toBe('BLIND')
})
