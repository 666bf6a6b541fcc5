import { createHash } from 'node:crypto'
import { Client, type ClientConfig } from 'pg'

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

/**
 * A connection that executes marked queries as prepared statements, and limits the time of queries.
 *
 * It calls the driver with callbacks. The driver's own promises and timeouts refer to the query with its rows, in a way that keeps the
 * rows of every query alive until the next full collection: 40 kB for each list of 50 sessions, which each minor collection has to copy.
 */
export class PreparingClient extends Client {
  readonly #limitMs: number
  readonly #pending = new Set<(cause: Error) => void>()
  #timer: NodeJS.Timeout | undefined

  constructor(config: ClientConfig = {}) {
    super(config)
    this.#limitMs = config.query_timeout ?? 0
    const { connectionParameters } = this as unknown as { connectionParameters: { query_timeout: number } }
    connectionParameters.query_timeout = 0 // the driver sets no timer
  }

  // biome-ignore lint/suspicious/noExplicitAny: all of the driver's overloads pass through
  override query(...input: any[]): any {
    const query = super.query.bind(this) as (...args: unknown[]) => unknown
    const [text, values] = input
    if (typeof input.at(-1) === 'function' || typeof text?.submit === 'function') return query(...input)
    const name = input.length === 2 ? nameOf(text) : undefined
    const args = name === undefined ? input : [{ name, text, values }]
    this.#startTimer()
    return new Promise((resolve, reject) => {
      this.#pending.add(reject)
      query(...args, (cause: Error | null, result: unknown) => {
        this.#pending.delete(reject)
        if (cause) reject(cause)
        else resolve(result)
      })
    })
  }

  /** Starts the limit of the newest query. One timer for all queries of the connection: it refers to none of them. */
  #startTimer(): void {
    if (this.#limitMs === 0) return
    if (this.#timer) return void this.#timer.refresh()
    this.#timer = setTimeout(() => {
      const cause = new Error('Query read timeout') // as the driver says it
      for (const reject of this.#pending) reject(cause)
      this.#pending.clear()
    }, this.#limitMs).unref()
  }
}
