import { Client } from 'pg'

/** Records the texts of all statements that this process sends to PostgreSQL, until it is disposed. */
export function recordStatements() {
  const original = Client.prototype.query
  const texts: string[] = []
  Client.prototype.query = function (this: Client, ...input: unknown[]) {
    const [query] = input
    texts.push(typeof query === 'string' ? query : String((query as { text?: string } | null)?.text))
    return (original as (...args: unknown[]) => unknown).apply(this, input)
  } as typeof original
  return {
    /** Returns how many recorded statements contain the text. */
    count: (part: string | RegExp) =>
      texts.filter((text) => (typeof part === 'string' ? text.includes(part) : part.test(text))).length,
    texts: texts as readonly string[],
    [Symbol.dispose]() {
      Client.prototype.query = original
    },
  }
}
