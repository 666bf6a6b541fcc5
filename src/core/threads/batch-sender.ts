import type { Guard } from '../process/guard.ts'

/**
 * Collects items and sends them together at the end of the turn of the event loop: one message costs about as much as a hundred
 * items in it.
 * @param onUnsendable called for each item with content that the structured clone algorithm refuses; by default the guard reports it
 */
export function createBatchSender<T>(
  guard: Guard,
  send: (items: readonly T[]) => void,
  onUnsendable: (item: T, cause: unknown) => void = guard.handler(
    'thread:unsendable',
    (_item: T, cause: unknown) => {
      throw cause
    },
  ),
): (item: T) => void {
  let items: T[] = []
  const scheduleFlush = guard.immediate('thread:flush', () => {
    const batch = items
    items = []
    try {
      send(batch)
    } catch {
      sendSingly(batch) // nothing was sent: one value that cannot be cloned fails the whole message
    }
  })
  function sendSingly(batch: readonly T[]): void {
    for (const item of batch) {
      try {
        send([item])
      } catch (cause) {
        onUnsendable(item, cause)
      }
    }
  }
  return (item) => {
    if (items.push(item) === 1) scheduleFlush()
  }
}
