import { expect, test } from 'vitest'
import { createKeyedLimit, createSemaphore, stagger } from './concurrency.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
const overloaded = () => new Error('overloaded')

/** Creates calls that run until the test ends them. */
function createCalls() {
  const started: string[] = []
  const pending = new Map<string, PromiseWithResolvers<string>>()
  const run = (name: string) => () => {
    started.push(name)
    const call = Promise.withResolvers<string>()
    pending.set(name, call)
    return call.promise
  }
  return { started, run, end: (name: string) => pending.get(name)?.resolve(name) }
}

test('a semaphore queues calls in order, and rejects a call that finds the queue full', async () => {
  const { started, run, end } = createCalls()
  const limit = createSemaphore({ concurrency: 1, queueSize: 2, overloaded })
  const [first, second, third] = [limit(run('first')), limit(run('second')), limit(run('third'))]
  await expect(limit(run('fourth'))).rejects.toThrow('overloaded')
  expect(started).toEqual(['first'])
  end('first')
  expect(await first).toBe('first')
  const fifth = limit(run('fifth'))
  end('second')
  await second
  end('third')
  await third
  end('fifth')
  await fifth
  expect(started).toEqual(['first', 'second', 'third', 'fifth'])
})

test('a failed call frees its slot', async () => {
  const limit = createSemaphore({ concurrency: 1, queueSize: 0, overloaded })
  await expect(limit(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  const throwing = () => {
    throw new Error('broken at once')
  }
  await expect(limit(throwing)).rejects.toThrow('broken at once')
  expect(await limit(async () => 'done')).toBe('done')
})

test('a keyed limit rejects further calls of one key only, until one of them ends', async () => {
  const { run, end } = createCalls()
  const limit = createKeyedLimit({ concurrency: 2, overloaded })
  const calls = [limit('a', run('a1')), limit('a', run('a2'))]
  await expect(limit('a', run('a3'))).rejects.toThrow('overloaded')
  expect(await limit('b', async () => 'b1')).toBe('b1')
  end('a1')
  await calls[0]
  calls.push(limit('a', run('a4')))
  await expect(limit('a', run('a5'))).rejects.toThrow('overloaded')
  end('a2')
  end('a4')
  expect(await Promise.all(calls)).toEqual(['a1', 'a2', 'a4'])
})

test('few are done at once, many in turns, each of them once and in order', async () => {
  const few: number[] = []
  const quick = stagger(upTo(100), (item) => few.push(item))
  expect(few).toEqual(upTo(100))
  await quick

  const many: number[] = []
  const slow = stagger(upTo(10_000), (item) => many.push(item))
  expect(many, 'a fortieth').toEqual(upTo(250))
  await slow
  expect(many).toEqual(upTo(10_000))
})
