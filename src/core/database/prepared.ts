import { createHash } from 'node:crypto'
import { Client } from 'pg'

/** Texts of queries that are executed often, and the name under which every connection prepares each once. */
const names = new Map<string, string>()

/**
 * From now on every connection lets the database parse and plan this query once, not with each execution. Only
 * for texts that are written in the code, so that their number is fixed. One that says `*` is left as it is:
 * prepared, it would fail for ever once a migration adds a column under a running process.
 */
export function prepare(text: string): void {
  if (/\*(?!\))/.test(text)) return // count(*) is no list of columns
  names.set(text, createHash('sha256').update(text).digest('base64url').slice(0, 16))
}

/** A connection that executes those queries as prepared statements, whoever asks for them. */
export class PreparingClient extends Client {
  // biome-ignore lint/suspicious/noExplicitAny: all of the driver's overloads pass through
  override query(...input: any[]): any {
    const [text, values] = input
    const name = typeof text === 'string' && input.length === 2 ? names.get(text) : undefined
    const args = name === undefined ? input : [{ name, text, values }]
    return (super.query as (...args: unknown[]) => unknown)(...args)
  }
}
