import { expect, test, vi } from 'vitest'
import { createSerialBatchLoader } from './serial-batch-loader.ts'

/** A batcher whose runs end when the test says so. */
function createFixture(options: { maxBatch?: number; maxQueued?: number } = {}) {
  const runs: { items: number[]; finish: () => void; fail: (cause: Error) => void }[] = []
  const batcher = createSerialBatchLoader<number, string>({
    maxBatch: options.maxBatch ?? 100,
    maxQueued: options.maxQueued ?? 100,
    run: (items) =>
      new Promise((resolve, reject) => {
        runs.push({ items, finish: () => resolve(items.map((item) => `did ${item}`)), fail: reject })
      }),
  })
  /** Waits for the run of this number, counted from 0. */
  const run = (index: number) =>
    vi.waitFor(() => {
      expect(runs.length).toBeGreaterThan(index)
      return runs[index] as (typeof runs)[number]
    }, 10_000)
  return { batcher, runs, run }
}

test('items that arrive together share a run, and each gets its own answer', async () => {
  const { batcher, runs, run } = createFixture()
  const answers = Promise.all([1, 2, 3].map((item) => batcher.add(item)))
  const first = await run(0)
  expect(first.items).toEqual([1, 2, 3])
  first.finish()
  expect(await answers).toEqual(['did 1', 'did 2', 'did 3'])
  expect(runs).toHaveLength(1)
})

test('what arrives during a run waits for it, and then goes out together and in order', async () => {
  const { batcher, runs, run } = createFixture()
  const early = batcher.add(1)
  const first = await run(0)
  const late = Promise.all([2, 3, 4].map((item) => batcher.add(item)))
  expect(batcher.size).toBe(3)
  expect(runs).toHaveLength(1)
  first.finish()
  expect(await early).toBe('did 1')
  const second = await run(1)
  expect(second.items).toEqual([2, 3, 4])
  second.finish()
  expect(await late).toEqual(['did 2', 'did 3', 'did 4'])
})

test('a run holds at most maxBatch items', async () => {
  const { batcher, runs, run } = createFixture({ maxBatch: 2 })
  const answers = Promise.all([1, 2, 3, 4, 5].map((item) => batcher.add(item)))
  for (const index of [0, 1, 2]) (await run(index)).finish()
  await answers
  expect(runs.map(({ items }) => items)).toEqual([[1, 2], [3, 4], [5]])
})

test('a run that fails fails its own items and no others', async () => {
  const { batcher, run } = createFixture({ maxBatch: 2 })
  const answers = Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)))
  ;(await run(0)).fail(new Error('no database'))
  ;(await run(1)).finish()
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
})

test('a run that throws before it begins is a failed run, and the next one works', async () => {
  let broken = true
  const batcher = createSerialBatchLoader<number, number>({
    maxBatch: 10,
    maxQueued: 10,
    run: (items) => {
      if (broken) throw new Error('broken')
      return Promise.resolve(items)
    },
  })
  await expect(batcher.add(1)).rejects.toThrow('broken')
  broken = false
  expect(await batcher.add(2)).toBe(2)
})

test('a full queue refuses at once and keeps what it has', async () => {
  const { batcher, run } = createFixture({ maxQueued: 2 })
  const running = batcher.add(0)
  const first = await run(0)
  const kept = Promise.all([batcher.add(1), batcher.add(2)])
  await expect(batcher.add(3)).rejects.toThrow('too many')
  first.finish()
  await running
  ;(await run(1)).finish()
  expect(await kept).toEqual(['did 1', 'did 2'])
})

test('idle settles only when nothing is queued or running', async () => {
  const { batcher, run } = createFixture({ maxBatch: 1 })
  await batcher.idle()
  const answers = Promise.all([batcher.add(1), batcher.add(2)])
  let idle = false
  const settled = batcher.idle().then(() => {
    idle = true
  })
  ;(await run(0)).finish()
  const second = await run(1)
  expect(idle).toBe(false)
  second.finish()
  await Promise.all([answers, settled])
  expect(batcher.size).toBe(0)
})

test('it works again after it was idle', async () => {
  const { batcher, run } = createFixture()
  for (const index of [0, 1, 2]) {
    const answer = batcher.add(index)
    ;(await run(index)).finish()
    expect(await answer).toBe(`did ${index}`)
    await batcher.idle()
  }
})
