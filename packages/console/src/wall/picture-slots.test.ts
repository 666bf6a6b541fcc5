import { expect, test } from 'vitest'
import { createPictureSlots } from './picture-slots.ts'

const shown = (slots: ReturnType<typeof createPictureSlots>) => [...slots.shown.get()].sort()

test('shows the first pictures, and the next one as soon as a tile leaves', () => {
  const slots = createPictureSlots({ total: 2, perOrigin: 2 })
  for (const id of ['a', 'b', 'c']) slots.request(id, `https://${id}.test`)
  expect(shown(slots)).toEqual(['a', 'b'])
  slots.release('a')
  expect(shown(slots)).toEqual(['b', 'c'])
})

test('leaves connections of an origin free', () => {
  const slots = createPictureSlots({ total: 4, perOrigin: 2 })
  for (const id of ['a', 'b', 'c']) slots.request(id, 'https://hub.test')
  slots.request('d', 'https://other.test')
  expect(shown(slots)).toEqual(['a', 'b', 'd'])
})

test('shows a preferred picture in place of the last one', () => {
  const slots = createPictureSlots({ total: 2, perOrigin: 2 })
  for (const id of ['a', 'b', 'c']) slots.request(id, `https://${id}.test`)
  slots.prefer('c')
  expect(shown(slots)).toEqual(['a', 'c'])
})

test('idle tiles come after the others, and take turns', () => {
  const slots = createPictureSlots({ total: 2, perOrigin: 2 })
  for (const id of ['a', 'b', 'c']) slots.request(id, 'https://hub.test', true)
  slots.request('d', 'https://hub.test')
  expect(shown(slots)).toEqual(['a', 'd'])
  slots.turn()
  expect(shown(slots)).toEqual(['b', 'd'])
  slots.turn()
  expect(shown(slots)).toEqual(['c', 'd'])
})
