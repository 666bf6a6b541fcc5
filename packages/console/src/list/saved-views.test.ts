import { expect, test } from 'vitest'
import { MAX_VIEW_NAME, MAX_VIEWS, parseViews, withView } from './data-list.tsx'

const view = (name: string, search = {}) => ({ name, search })

test('a view replaces the one of the same name and is the newest', () => {
  const views = [view('Night'), view('Day')]
  expect(withView(views, view('Night', { status: 'OFFLINE' }))).toEqual([
    view('Day'),
    view('Night', { status: 'OFFLINE' }),
  ])
})

test('the number of views is limited', () => {
  const full = Array.from({ length: MAX_VIEWS }, (_, index) => view(`View ${index}`))
  const views = withView(full, view('One more'))
  expect(views).toHaveLength(MAX_VIEWS)
  expect(views.at(-1)?.name).toBe('One more')
  expect(views[0]?.name).toBe('View 1')
})

test('invalid content of the storage counts as no view', () => {
  const valid = view('Night', { status: 'OFFLINE' })
  const invalid = [
    null,
    7,
    {},
    { name: 'x' },
    view(''),
    view('x'.repeat(MAX_VIEW_NAME + 1)),
    { ...valid, search: 'x' },
  ]
  expect(parseViews(JSON.stringify([...invalid, valid]))).toEqual([valid])
  expect(parseViews('{}')).toEqual([])
  const many = Array.from({ length: MAX_VIEWS + 5 }, (_, index) => view(`View ${index}`))
  expect(parseViews(JSON.stringify(many))).toHaveLength(MAX_VIEWS)
})
