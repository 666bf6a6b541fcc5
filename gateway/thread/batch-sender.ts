import type { Guard } from '../../src/core/process/guard.ts'

/**
 * Collects items and sends them together at the end of the turn of the event loop: one message costs about as much as a hundred
 * items in it.
 */
export function createBatchSender<T>(guard: Guard, send: (items: readonly T[]) => void): (item: T) => void {
  let items: T[] = []
  const scheduleFlush = guard.immediate('thread:flush', () => {
    const batch = items
    items = []
    send(batch)
  })
  return (item) => {
    if (items.push(item) === 1) scheduleFlush()
  }
}
