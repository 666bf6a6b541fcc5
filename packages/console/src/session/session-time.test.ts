import { expect, test } from 'vitest'
import { createBillableClock } from './session-time.ts'

test('the billed time runs while the session does, and never falls', () => {
  const read = createBillableClock()
  const running = { loadedSeconds: 50, loadedAtMs: 100_000, isRunning: true }
  expect(read(running, 100_000)).toBe(50)
  expect(read(running, 115_000)).toBe(65)
  // The pause is known before the answer that contains the billed time until it.
  expect(read({ ...running, isRunning: false }, 115_100)).toBe(65)
  expect(read({ loadedSeconds: 65, loadedAtMs: 115_300, isRunning: false }, 130_000)).toBe(65)
  // An outage was subtracted.
  expect(read({ loadedSeconds: 62, loadedAtMs: 140_000, isRunning: true }, 141_000)).toBe(65)
  expect(read({ loadedSeconds: 62, loadedAtMs: 140_000, isRunning: true }, 145_000)).toBe(67)
})

test('a clock that was set back does not shorten it', () => {
  const read = createBillableClock()
  expect(read({ loadedSeconds: 50, loadedAtMs: 100_000, isRunning: true }, 90_000)).toBe(50)
})
