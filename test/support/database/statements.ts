import { Client } from 'pg'

/** A statement as it was sent to PostgreSQL. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Records all statements that this process sends to PostgreSQL, until it is disposed. */
export function recordStatements() {
  const original = Client.prototype.query
  const texts: string[] = []
  const statements: Statement[] = []
  Client.prototype.query = function (this: Client, ...input: unknown[]) {
    const [query, given] = input
    const config = query as { text?: string; values?: unknown[] } | null
    const text = typeof query === 'string' ? query : String(config?.text)
    const values = Array.isArray(given) ? given : (config?.values ?? [])
    texts.push(text)
    statements.push({ text, values })
    return (original as (...args: unknown[]) => unknown).apply(this, input)
  } as typeof original
  return {
    /** Returns how many recorded statements contain the text. */
    count: (part: string | RegExp) =>
      texts.filter((text) => (typeof part === 'string' ? text.includes(part) : part.test(text))).length,
    texts: texts as readonly string[],
    statements: statements as readonly Statement[],
    [Symbol.dispose]() {
      Client.prototype.query = original
    },
  }
}
