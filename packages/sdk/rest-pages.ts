/**
 * Reads a list of the REST API to its end, one page at a time, as the caller consumes the entries.
 * @param page requests the next page. It gets the last entry (undefined at first) for lists that continue after an
 * entry (`before`, `after`), and the number of entries so far for lists that continue by number (`offset`).
 * @returns every entry; ends with the first empty page, and throws the errors of `page`
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
