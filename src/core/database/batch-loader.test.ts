import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { type BatchLoaderOptions, createBatchLoader } from './batch-loader.ts'

/** Creates a batch loader that returns ten times each key, and a list of the batches it loaded. */
function tenfold(options?: BatchLoaderOptions) {
  const batches: number[][] = []
  const load = createBatchLoader(async (keys: readonly number[]) => {
    batches.push([...keys])
    await nextTurn()
    return keys.map((key) => key * 10)
  }, options)
  return { load, batches }
}

describe('keys', () => {
  test('of one turn are loaded with one query, and each gets its result', async () => {
    const { load, batches } = tenfold()
    expect(await Promise.all([3, 1, 3, 2].map(load))).toEqual([30, 10, 30, 20])
    expect(batches).toEqual([[3, 1, 3, 2]])
  })

  test('of a later turn do not wait for earlier queries', async () => {
    let answer: (() => void) | undefined
    const load = createBatchLoader(async (keys: readonly string[]) => {
      if (keys[0] === 'slow') await new Promise<void>((resolve) => (answer = resolve))
      return keys
    })
    const slow = load('slow')
    await nextTurn()
    expect(await load('quick')).toBe('quick')
    answer?.()
    expect(await slow).toBe('slow')
  })

  test('beyond the batch size are loaded with the next query', async () => {
    const { load, batches } = tenfold({ maxBatchSize: 2 })
    expect(await Promise.all([1, 2, 3, 4, 5].map(load))).toEqual([10, 20, 30, 40, 50])
    expect(batches).toEqual([[1, 2], [3, 4], [5]])
  })

  test('of an interval wait for its end and are loaded with one query', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] })
    try {
      const batches: number[][] = []
      const load = createBatchLoader(
        async (keys: readonly number[]) => {
          batches.push([...keys])
          return keys
        },
        { intervalMs: 10 },
      )
      void load(1)
      await vi.advanceTimersByTimeAsync(0)
      expect(batches, 'a lone key does not wait').toEqual([[1]])
      void load(2)
      await vi.advanceTimersByTimeAsync(6)
      void load(3)
      expect(batches).toEqual([[1]])
      await vi.advanceTimersByTimeAsync(5)
      expect(batches).toEqual([[1], [2, 3]])
      await vi.advanceTimersByTimeAsync(20)
      void load(4)
      await vi.advanceTimersByTimeAsync(0)
      expect(batches).toEqual([[1], [2, 3], [4]])
    } finally {
      vi.useRealTimers()
    }
  })

  test('fail together when their query fails, and other queries are not affected', async () => {
    const load = createBatchLoader(
      async (keys: readonly number[]) => {
        if (keys.includes(13)) throw new Error('no answer')
        return keys
      },
      { maxBatchSize: 2 },
    )
    const outcomes = await Promise.allSettled([1, 13, 3].map(load))
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(await load(5)).toBe(5)
  })
})
