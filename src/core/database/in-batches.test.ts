import { expect, test } from 'vitest'
import { inBatches } from './in-batches.ts'

/** Removes rows in batches. Returns the rows that are left, and the number of batches. */
async function removeAll(rows: number, batchSize: number) {
  let batches = 0
  let left = rows
  await inBatches(batchSize, async () => {
    batches++
    const removed = Math.min(batchSize, left)
    left -= removed
    return removed
  })
  return { left, batches }
}

test('batches continue until one is not full', async () => {
  expect(await removeAll(0, 10)).toEqual({ left: 0, batches: 1 })
  expect(await removeAll(25, 10)).toEqual({ left: 0, batches: 3 })
  expect(await removeAll(30, 10)).toEqual({ left: 0, batches: 4 })
})

test('a run ends, also when there are always more rows', async () => {
  const { left, batches } = await removeAll(Number.POSITIVE_INFINITY, 10)
  expect(left).toBe(Number.POSITIVE_INFINITY)
  expect(batches).toBeLessThanOrEqual(1_000)
})
