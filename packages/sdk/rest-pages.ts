/**
 * Reads a list of the REST API to its end, one page at a time, as fast as its entries are taken.
 * @param page asks for the next page, given the last entry that was read (undefined at first) and how many there were:
 * lists go on after an entry (`before`, `after`) or by number (`offset`)
 * @returns every entry; ends with the first empty page, and throws what `page` throws
 */
export async function* everyEntry<T>(
  page: (last: T | undefined, count: number) => Promise<readonly T[]>,
): AsyncGenerator<T, void, undefined> {
  let last: T | undefined
  let count = 0
  while (true) {
    const entries = await page(last, count)
    if (entries.length === 0) return
    yield* entries
    last = entries.at(-1)
    count += entries.length
  }
}
