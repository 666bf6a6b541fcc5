import type { Virtualizer } from '@tanstack/react-virtual'
import type { KeyboardEvent } from 'react'

type Scroller = Pick<Virtualizer<Window, Element>, 'scrollToIndex'>

/** Returns a handler that moves the focus between the first links of rows: up, down, Home and End. Enter opens a link. */
export function useRowKeys(virtualizer: Scroller, count: number) {
  return (event: KeyboardEvent<HTMLElement>) => {
    const table = event.currentTarget
    const row = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')
    if (!row || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    // In an open menu or a field the keys have their usual function.
    if ((event.target as HTMLElement).closest('input,select,textarea,[role=menu],[role=listbox]')) return
    const next = nextIndex(event.key, Number(row.dataset.index), count)
    if (next === undefined) return
    event.preventDefault()
    virtualizer.scrollToIndex(next, { align: 'auto' })
    focusRow(table, next)
  }
}

function nextIndex(key: string, index: number, count: number): number | undefined {
  if (key === 'ArrowDown') return Math.min(count - 1, index + 1)
  if (key === 'ArrowUp') return Math.max(0, index - 1)
  if (key === 'Home') return 0
  return key === 'End' ? count - 1 : undefined
}

/** Attempts to focus a row after a jump, in frames: rows far away are rendered after the scroll. */
const MAX_FRAMES = 20

/** Focuses the first link or button of a row, as soon as the row is rendered. */
export function focusRow(table: HTMLElement, index: number, frames = MAX_FRAMES): void {
  const target = table.querySelector<HTMLElement>(
    `[data-index="${index}"] :is(a[href], button:not(:disabled))`,
  )
  if (target) target.focus()
  else if (frames > 0) requestAnimationFrame(() => focusRow(table, index, frames - 1))
}
