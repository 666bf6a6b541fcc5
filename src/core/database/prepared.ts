import { createHash } from 'node:crypto'
import { Client } from 'pg'

/** Begins the text of a query that is executed as a prepared statement; the statement's name follows. */
const MARK = '/* prepared '
const NAME_LENGTH = 16

/**
 * Marks the text of a query, so that every connection lets the database parse and plan it once, not with each
 * execution. Only for texts that are written in the code: their number is fixed. A text that says `*` is returned as it
 * is, because a prepared `*` fails for as long as the connection lives once a migration adds a column.
 */
export function prepared(text: string): string {
  if (/\*(?!\))/.test(text)) return text // count(*) is no list of columns
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
