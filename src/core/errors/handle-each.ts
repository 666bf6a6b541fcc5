import type { Log } from '../log.ts'
import { isDatabaseUnreachable } from './errors.ts'

/** A single item may run into a timeout. So many in a row mean that the database is unreachable. */
const MAX_UNREACHABLE = 3

/** An item that names itself. */
type Item = string | { readonly id: string }

/**
 * Handles items one after another. An item that fails is logged with its id, and does not keep the others waiting. Returns the
 * number of these items.
 * @throws when the database is unreachable, which would fail all other items, too
 */
export async function handleEach<T extends Item>(
  items: Iterable<T>,
  handle: (item: T) => Promise<unknown>,
  { log, failure }: { log: Log; failure: string },
): Promise<number> {
  let failed = 0
  let unreachable = 0
  for (const item of items) {
    try {
      await handle(item)
      unreachable = 0
    } catch (cause) {
      unreachable = isDatabaseUnreachable(cause) ? unreachable + 1 : 0
      if (unreachable === MAX_UNREACHABLE) throw cause
      failed++
      // An outage is expected, and the next round repeats the item.
      const level = unreachable > 0 ? 'warn' : 'error'
      log[level]({ err: cause, id: typeof item === 'string' ? item : item.id }, failure)
    }
  }
  return failed
}
