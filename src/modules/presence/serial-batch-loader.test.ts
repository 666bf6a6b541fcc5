import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { waitFor } from '../../../test/support/world/wait.ts'
import { createSerialBatchLoader } from './serial-batch-loader.ts'

/** Creates a loader whose runs end when the test decides. */
function createFixture(options: { maxBatch?: number; maxQueued?: number } = {}) {
  const runs: { items: readonly number[]; finish: () => void; fail: (cause: Error) => void }[] = []
  const loader = createSerialBatchLoader<number, string>({
    maxBatch: options.maxBatch ?? 100,
    maxQueued: options.maxQueued ?? 100,
    run: (items) =>
      new Promise((resolve, reject) => {
        runs.push({ items, finish: () => resolve(items.map((item) => `did ${item}`)), fail: reject })
      }),
  })
  /** Waits for the run with this index. */
  const run = (index: number) =>
    waitFor(() => {
      expect(runs.length).toBeGreaterThan(index)
      return runs[index] as (typeof runs)[number]
    })
  return { loader, runs, run }
}

test('items that arrive together share a run, and each receives its own result', async () => {
  const { loader, runs, run } = createFixture()
  const answers = Promise.all([1, 2, 3].map((item) => loader.add(item)))
  const first = await run(0)
  expect(first.items).toEqual([1, 2, 3])
  first.finish()
  expect(await answers).toEqual(['did 1', 'did 2', 'did 3'])
  expect(runs).toHaveLength(1)
})

test('items that arrive during a run form the next run, in order', async () => {
  const { loader, runs, run } = createFixture()
  const early = loader.add(1)
  const first = await run(0)
  const late = Promise.all([2, 3, 4].map((item) => loader.add(item)))
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  expect(loader.size).toBe(3)
  expect(runs).toHaveLength(1)
  first.finish()
  expect(await early).toBe('did 1')
  const second = await run(1)
  expect(second.items).toEqual([2, 3, 4])
  second.finish()
  expect(await late).toEqual(['did 2', 'did 3', 'did 4'])
})

test('a run holds at most maxBatch items', async () => {
  const { loader, runs, run } = createFixture({ maxBatch: 2 })
  const answers = Promise.all([1, 2, 3, 4, 5].map((item) => loader.add(item)))
  for (const index of [0, 1, 2]) (await run(index)).finish()
  await answers
  expect(runs.map(({ items }) => items)).toEqual([[1, 2], [3, 4], [5]])
})

test('a failed run rejects its own items only', async () => {
  const { loader, run } = createFixture({ maxBatch: 2 })
  const answers = Promise.allSettled([1, 2, 3].map((item) => loader.add(item)))
  ;(await run(0)).fail(new Error('database unreachable'))
  ;(await run(1)).finish()
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
})

test('a run that throws synchronously rejects its items, and the next run succeeds', async () => {
  let broken = true
  const loader = createSerialBatchLoader<number, number>({
    maxBatch: 10,
    maxQueued: 10,
    run: (items) => {
      if (broken) throw new Error('broken')
      return Promise.resolve(items)
    },
  })
  await expect(loader.add(1)).rejects.toThrow('broken')
  broken = false
  expect(await loader.add(2)).toBe(2)
})

test('a full queue rejects a new item immediately and keeps the queued items', async () => {
  const { loader, run } = createFixture({ maxQueued: 2 })
  const running = loader.add(0)
  const first = await run(0)
  const kept = Promise.all([loader.add(1), loader.add(2)])
  await expect(loader.add(3)).rejects.toThrow('The queue is full')
  first.finish()
  await running
  ;(await run(1)).finish()
  expect(await kept).toEqual(['did 1', 'did 2'])
})

test('idle resolves only when the queue is empty and no batch runs', async () => {
  const { loader, run } = createFixture({ maxBatch: 1 })
  await loader.idle()
  const answers = Promise.all([loader.add(1), loader.add(2)])
  let idle = false
  const settled = loader.idle().then(() => {
    idle = true
  })
  ;(await run(0)).finish()
  const second = await run(1)
  expect(idle).toBe(false)
  second.finish()
  await Promise.all([answers, settled])
  expect(loader.size).toBe(0)
})

test('the loader accepts items again after it was idle', async () => {
  const { loader, run } = createFixture()
  for (const index of [0, 1, 2]) {
    const answer = loader.add(index)
    ;(await run(index)).finish()
    expect(await answer).toBe(`did ${index}`)
    await loader.idle()
  }
})
