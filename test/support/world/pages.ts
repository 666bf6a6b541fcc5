import { expect } from 'vitest'
import type { Reply, TestUser } from './test-user.ts'

/**
 * Reads a list to its end with cursors.
 * @param path with a query string
 * @param between runs after each page, to change the list while it is read
 */
export async function everyPage<Row>(
  user: TestUser,
  path: string,
  rowsOf: (body: Reply['body']) => Row[],
  between: () => Promise<unknown> = async () => undefined,
): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | null = null
  do {
    const reply: Reply = await user.get(cursor === null ? path : `${path}&cursor=${cursor}`)
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    rows.push(...rowsOf(reply.body))
    cursor = reply.headers.get('X-Next-Cursor')
    await between()
  } while (cursor !== null)
  return rows
}
