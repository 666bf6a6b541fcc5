import { describe, expect, test } from 'vitest'
import { type ListPage, type LoadedPages, pagesWith, replacePage, rowsOf } from './list-pages.ts'

const SIZE = 3
interface Row {
  readonly id: string
}

/** Loads a page of a list as the platform does: the cursor is the id of the last row of the page before. */
function pageOf(list: readonly string[], cursor: string | undefined): ListPage<Row> {
  const start = cursor === undefined ? 0 : list.indexOf(cursor) + 1
  const rows = list.slice(start, start + SIZE).map((id) => ({ id }))
  const more = start + SIZE < list.length
  return { rows, next: more ? (rows.at(-1)?.id ?? null) : null }
}

/** Loads the first pages of a list. */
function load(list: readonly string[], count: number): LoadedPages<Row> {
  const loaded: LoadedPages<Row> = { pages: [], pageParams: [] }
  let cursor: string | undefined
  for (let index = 0; index < count; index++) {
    const page = pageOf(list, cursor)
    loaded.pages.push(page)
    loaded.pageParams.push(cursor)
    if (page.next === null) break
    cursor = page.next
  }
  return loaded
}

const refresh = (loaded: LoadedPages<Row>, list: readonly string[], index: number) =>
  replacePage(loaded, index, pageOf(list, loaded.pageParams[index]))
const idsOf = ({ pages }: LoadedPages<Row>) => rowsOf(pages).map(({ id }) => id)
const letters = [...'abcdefghi']

describe('replacePage', () => {
  test('changes nothing in the order when nothing has changed', () => {
    const loaded = load(letters, 3)
    expect(idsOf(refresh(loaded, letters, 1))).toEqual(letters)
  })

  test('keeps rows that new ones push out of the first page', () => {
    const list = ['x', 'y', ...letters]
    const loaded = refresh(load(letters, 2), list, 0)
    expect(idsOf(loaded)).toEqual(['x', 'y', 'a', 'b', 'c', 'd', 'e', 'f'])
    // The second page now begins after "a". Its refresh pushes rows on to the end.
    expect(loaded.pageParams).toEqual([undefined, 'a'])
    expect(idsOf(refresh(loaded, list, 1))).toEqual(['x', 'y', 'a', 'b', 'c', 'd'])
  })

  test('fills a page from the next one after rows were removed', () => {
    const list = letters.filter((id) => id !== 'b')
    const loaded = refresh(load(letters, 3), list, 0)
    expect(idsOf(loaded)).toEqual(list)
    expect(loaded.pageParams).toEqual([undefined, 'd', 'f'])
  })

  test('drops the following pages when the page has nothing in common with them', () => {
    const list = ['1', '2', '3', '4', ...letters]
    const loaded = refresh(load(letters, 3), list, 0)
    expect(idsOf(loaded)).toEqual(['1', '2', '3'])
    expect(loaded.pages.at(-1)?.next).toBe('3')
  })

  test('drops the following pages when the list ends with the page', () => {
    expect(idsOf(refresh(load(letters, 3), ['a', 'b'], 0))).toEqual(['a', 'b'])
    expect(idsOf(refresh(load(letters, 3), [], 0))).toEqual([])
  })

  test('ignores a page that is not loaded', () => {
    const loaded = load(letters, 1)
    expect(replacePage(loaded, 4, pageOf(letters, undefined))).toBe(loaded)
  })
})

test('a row that is in two pages counts once', () => {
  const pages = [
    { rows: [{ id: 'a' }, { id: 'b' }], next: 'b' },
    { rows: [{ id: 'b' }, { id: 'c' }], next: null },
  ]
  expect(rowsOf(pages)).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'c' }])
})

test('pagesWith returns the pages of the visible rows, at least the first page', () => {
  const { pages } = load(letters, 3)
  expect(pagesWith(pages, 0, 2)).toEqual([0])
  expect(pagesWith(pages, 2, 3)).toEqual([0, 1])
  expect(pagesWith(pages, 4, 8)).toEqual([1, 2])
  expect(pagesWith(pages, 90, 99)).toEqual([0])
  expect(pagesWith([], 0, 9)).toEqual([])
})
