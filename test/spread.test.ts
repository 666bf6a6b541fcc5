import { expect, test } from 'vitest'
import { spread } from '../src/core/concurrency/async.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

test('few are done at once, many in turns, each of them once and in order', async () => {
  const few: number[] = []
  const quick = spread(upTo(100), (one) => few.push(one))
  expect(few).toEqual(upTo(100))
  await quick

  const many: number[] = []
  const slow = spread(upTo(10_000), (one) => many.push(one))
  expect(many, 'a fortieth').toEqual(upTo(250))
  await slow
  expect(many).toEqual(upTo(10_000))
})
