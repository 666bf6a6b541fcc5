import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createBatchLoader } from './batch-loader.ts'

/** Answers with ten times the question, and remembers what was asked together. */
function tenfold(mostAtOnce?: number) {
  const batches: number[][] = []
  const ask = createBatchLoader(async (questions: readonly number[]) => {
    batches.push([...questions])
    await nextTurn()
    return questions.map((question) => question * 10)
  }, mostAtOnce)
  return { ask, batches }
}

describe('questions', () => {
  test('of one turn are asked together, and each gets its own answer', async () => {
    const { ask, batches } = tenfold()
    expect(await Promise.all([3, 1, 3, 2].map(ask))).toEqual([30, 10, 30, 20])
    expect(batches).toEqual([[3, 1, 3, 2]])
  })

  test('of a later turn do not wait for the answers to earlier ones', async () => {
    let answer: (() => void) | undefined
    const ask = createBatchLoader(async (questions: readonly string[]) => {
      if (questions[0] === 'slow') await new Promise<void>((resolve) => (answer = resolve))
      return questions
    })
    const slow = ask('slow')
    await nextTurn()
    expect(await ask('quick')).toBe('quick')
    answer?.()
    expect(await slow).toBe('slow')
  })

  test('beyond the most that are asked at once go with the next ones', async () => {
    const { ask, batches } = tenfold(2)
    expect(await Promise.all([1, 2, 3, 4, 5].map(ask))).toEqual([10, 20, 30, 40, 50])
    expect(batches).toEqual([[1, 2], [3, 4], [5]])
  })

  test('fail together when they were asked together, and nobody else does', async () => {
    const ask = createBatchLoader(async (questions: readonly number[]) => {
      if (questions.includes(13)) throw new Error('no answer')
      return questions
    }, 2)
    const outcomes = await Promise.allSettled([1, 13, 3].map(ask))
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(await ask(5)).toBe(5)
  })
})
