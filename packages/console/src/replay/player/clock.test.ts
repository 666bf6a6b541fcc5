import { expect, test } from 'vitest'
import { createClock } from './replay.ts'

const range = { fromMs: 1_000, toMs: 5_000 }

function open(isReady = true) {
  const clock = createClock(range, 1_000, () => isReady)
  let nowMs = 0
  const tick = (ms: number, isGrowing = false) => {
    nowMs += ms
    clock.tick(nowMs, isGrowing)
  }
  tick(0)
  return { clock, tick }
}

test('plays at a rate, and pauses at the end', () => {
  const { clock, tick } = open()
  clock.play()
  clock.rate.set(4)
  tick(100)
  expect(clock.position.get()).toBe(1_400)
  for (let ticks = 0; ticks < 20; ticks++) tick(100)
  expect(clock.position.get()).toBe(5_000)
  expect(clock.isPlaying.get()).toBe(false)
  clock.play()
  expect(clock.position.get(), 'from the start').toBe(1_000)
})

test('a page that was in the background does not jump', () => {
  const { clock, tick } = open()
  clock.play()
  tick(60_000)
  expect(clock.position.get()).toBe(1_250)
})

test('waits for pictures, but not for ever', () => {
  const { clock, tick } = open(false)
  clock.play()
  for (let ticks = 0; ticks < 4; ticks++) tick(100)
  expect(clock.position.get()).toBe(1_000)
  expect(clock.isWaiting.get()).toBe(true)
  for (let ticks = 0; ticks < 50; ticks++) tick(100)
  expect(clock.position.get()).toBeGreaterThan(1_000)
})

test('follows the end of a recording that grows', () => {
  const { clock, tick } = open()
  clock.followEnd()
  tick(100, true)
  expect(clock.position.get()).toBe(5_000)
  expect(clock.isPlaying.get()).toBe(true)
  clock.limits.set({ fromMs: 1_000, toMs: 8_000 })
  tick(100, true)
  expect(clock.position.get()).toBe(5_100)
  clock.seek(2_000)
  expect(clock.isFollowing.get()).toBe(false)
})
