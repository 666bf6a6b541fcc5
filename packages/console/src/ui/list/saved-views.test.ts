import { expect, test } from 'vitest'
import { MAX_VIEWS, withView } from './saved-views.ts'

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
