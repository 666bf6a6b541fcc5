import { expect, test } from 'vitest'
import { ChannelHealth } from './channel-health.ts'

/** The default deadman of a gateway, in milliseconds. */
const DEADMAN_MS = 250
const FRAME_MS = 20

/** Sends a frame every 20 ms; the answers to probes take `roundTripMs`, until the network drops packets. Returns when trust ends. */
function trustEnds(roundTripMs: number, blockedMs: number): number {
  const health = new ChannelHealth()
  const answers: { atMs: number; number: number }[] = []
  for (let nowMs = 0; nowMs < blockedMs + 10_000; nowMs += FRAME_MS) {
    for (const { number } of answers.filter(({ atMs }) => atMs <= nowMs)) health.answered(number, nowMs)
    if (nowMs >= blockedMs && !health.isTrusted(nowMs)) return nowMs - blockedMs
    const number = health.nextProbe(nowMs)
    if (number !== undefined && nowMs + roundTripMs < blockedMs)
      answers.push({ atMs: nowMs + roundTripMs, number })
  }
  return Number.POSITIVE_INFINITY
}

test.each([1, 60, 600])(
  'after %s ms round trips, trust ends well before the deadman expires',
  (roundTripMs) => {
    expect(trustEnds(roundTripMs, 5_000)).toBeLessThanOrEqual(DEADMAN_MS - 80)
  },
)

test('a channel is trusted after its first answer, also with a round trip of a second', () => {
  const health = new ChannelHealth()
  const number = health.nextProbe(0) as number
  for (let nowMs = FRAME_MS; nowMs < 1_000; nowMs += FRAME_MS) health.nextProbe(nowMs)
  expect(health.isTrusted(999)).toBe(false)
  expect(health.answered(number, 1_000)).toBe(1_000)
  expect(health.isTrusted(1_000)).toBe(true)
})

test('answers that are unknown, repeated or too old count for nothing', () => {
  const health = new ChannelHealth()
  const first = health.nextProbe(0) as number
  for (let nowMs = 50; nowMs <= 3_000; nowMs += 50) health.nextProbe(nowMs)
  expect([health.answered(first, 3_000), health.answered(999, 3_000)]).toEqual([undefined, undefined])
  expect(health.answered(first + 60, 3_000)).toBe(0)
  expect(health.answered(first + 60, 3_000)).toBeUndefined()
})
