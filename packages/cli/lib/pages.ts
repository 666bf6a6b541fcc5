/**
 * Reads a list page by page, up to `limit` entries.
 * @param page requests the next page; it gets the number of entries to request, and the entries so far
 */
export async function readPages<T>(
  { limit, pageSize }: { limit: number; pageSize: number },
  page: (size: number, found: readonly T[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const found: T[] = []
  while (found.length < limit) {
    const size = Math.min(pageSize, limit - found.length)
    const entries = await page(size, found)
    found.push(...entries)
    if (entries.length < size) break
  }
  return found
}
