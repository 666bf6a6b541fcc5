import { expect, test } from 'vitest'
import type { Period } from '../../../modules/recordings/transport/sample-backlog.ts'
import { FrameLoss } from './frame-loss.ts'

function setUp() {
  const gaps: Period[] = []
  return { gaps, loss: new FrameLoss((gap) => gaps.push(gap)) }
}

test('a gap lasts from the frame before the loss to the one after it, and is reported once no more are lost', () => {
  const { gaps, loss } = setUp()
  loss.delivered(1_000)
  loss.lost()
  loss.delivered(1_400)
  loss.delivered(1_500)
  loss.tick(1_900)
  expect(gaps).toEqual([])
  loss.tick(2_400)
  loss.tick(9_000)
  expect(gaps).toEqual([{ fromMs: 1_000, toMs: 1_400 }])
})

test('losses that are far from each other are separate gaps', () => {
  const { gaps, loss } = setUp()
  for (let ms = 0; ms <= 8_000; ms += 100) {
    loss.delivered(ms)
    if (ms === 1_000 || ms === 5_000) loss.lost()
  }
  loss.close(9_000)
  expect(gaps).toEqual([
    { fromMs: 1_000, toMs: 1_100 },
    { fromMs: 5_000, toMs: 5_100 },
  ])
})

test('constant loss is one gap every ten seconds, without time between them', () => {
  const { gaps, loss } = setUp()
  for (let ms = 0; ms <= 60_000; ms += 100) {
    if (ms % 300 === 0) loss.delivered(ms)
    else loss.lost()
    if (ms % 500 === 0) loss.tick(ms)
  }
  loss.close(60_000)
  expect(gaps.length).toBeGreaterThan(1)
  expect(gaps.length).toBeLessThanOrEqual(7)
  expect(gaps[0]?.fromMs).toBe(0)
  expect(gaps.at(-1)?.toMs).toBe(60_000)
  for (const [index, { fromMs }] of gaps.entries())
    if (index > 0) expect(fromMs - (gaps[index - 1] as Period).toMs).toBeLessThanOrEqual(100)
})

test('a loss that no frame follows lasts until the end', () => {
  const { gaps, loss } = setUp()
  loss.delivered(1_000)
  loss.lost()
  loss.close(3_000)
  loss.close(4_000)
  expect(gaps).toEqual([{ fromMs: 1_000, toMs: 3_000 }])
})

test('a loss before the first frame is no gap: the camera is recorded from its first frame on', () => {
  const { gaps, loss } = setUp()
  loss.lost()
  loss.tick(1_790_000_000_000)
  loss.delivered(1_790_000_000_100)
  loss.close(1_790_000_020_000)
  expect(gaps).toEqual([])
})
