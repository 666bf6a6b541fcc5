import { expect, test } from 'vitest'
import { stagger } from './concurrency.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

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
