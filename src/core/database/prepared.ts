import { createHash } from 'node:crypto'
import { Client } from 'pg'

/** The prefix of a query that is executed as a prepared statement. The name of the statement follows. */
const MARK = '/* prepared '
const NAME_LENGTH = 16

/**
 * Marks a query text, so that every connection parses and plans it once, not with each execution. Only for constant
 * texts, because their number is limited. A text with `*` is returned unchanged: once a migration adds a column, a
 * prepared `*` fails for the lifetime of the connection.
 */
export function prepared(text: string): string {
  if (/\*(?!\))/.test(text)) return text // count(*) is not a column list
  const name = createHash('sha256').update(text).digest('base64url').slice(0, NAME_LENGTH)
  return `${MARK}${name} */ ${text}`
}

const nameOf = (text: unknown): string | undefined =>
  typeof text === 'string' && text.startsWith(MARK)
    ? text.slice(MARK.length, MARK.length + NAME_LENGTH)
    : undefined

/** A connection that executes marked queries as prepared statements. */
export class PreparingClient extends Client {
  // biome-ignore lint/suspicious/noExplicitAny: all of the driver's overloads pass through
  override query(...input: any[]): any {
    const [text, values] = input
    const name = input.length === 2 ? nameOf(text) : undefined
    const args = name === undefined ? input : [{ name, text, values }]
    return (super.query as (...args: unknown[]) => unknown)(...args)
  }
}
