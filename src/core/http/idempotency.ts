import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import type { Transaction } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { AppError, badRequest, conflict } from '../errors/errors.ts'
import type { Secrets } from '../secrets.ts'
import { clientNetwork } from './client-address.ts'
import { type Around, type Caller, hasBody, keepsAnswers } from './endpoint.ts'
import { type Claim, createIdempotencyStore } from './idempotency.store.ts'

const PURPOSE = 'idempotency'
const PRINTABLE = /^[\x20-\x7e]{1,255}$/
/** Largest answer that is kept. */
const MAX_ANSWER_BYTES = 256 * 1024

export type IdempotencyOutcome = 'first' | 'replayed' | 'running' | 'lost' | 'other'

/** A request that may come again: whose it is, the key they gave it, and what tells it from any other. */
interface Repeatable {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
}
/** What a request was answered; `replayed` when it was carried out before. */
interface Answered {
  readonly status: number
  readonly body?: unknown
  readonly replayed?: boolean
}
type Work = () => Promise<Answered>

interface Parts {
  readonly db: Db
  readonly secrets: Secrets
  readonly now: () => Date
  readonly report: (cause: unknown) => void
  /** Counts what became of requests that carried a key. */
  readonly count: (outcome: IdempotencyOutcome) => void
}

/**
 * Lets callers repeat a POST without doing it twice: with an `Idempotency-Key`, whoever repeats the request gets
 * the first answer. Only success is kept; after a failure that changed nothing the key is free again.
 */
export function createIdempotency(parts: Parts) {
  const { secrets, report, count } = parts
  const store = createIdempotencyStore(parts)
  /** The key of the request that the running code belongs to; `over` once that request is answered. */
  const current = new AsyncLocalStorage<{ claim: Claim; over: boolean }>()
  const place = ({ scope, key }: Pick<Claim, 'scope' | 'key'>) => JSON.stringify([scope, key])

  async function carryOut(claim: Claim, work: Work): Promise<Answered> {
    const request = { claim, over: false }
    let answered: Answered
    try {
      answered = await current.run(request, work)
    } catch (cause) {
      request.over = true
      await store.release(claim).catch(report) // the key comes free by itself when its lease is over
      throw cause
    }
    request.over = true
    await keep(claim, answered).catch(report) // the work is done and gets its answer, kept or not
    return answered
  }

  async function keep(claim: Claim, { status, body }: Answered): Promise<void> {
    if (status < 200 || status > 299) return await store.release(claim)
    const text = body === undefined ? '' : JSON.stringify(body)
    if (Buffer.byteLength(text) > MAX_ANSWER_BYTES) return await store.forgo(claim)
    await store.keep(claim, status, secrets.seal(PURPOSE, text, place(claim)))
  }

  function kept({ scope, key }: Repeatable, status: number, sealed: string | null): Answered {
    const text = sealed === null ? undefined : secrets.open(PURPOSE, sealed, place({ scope, key }))
    if (text === undefined) throw lost() // sealed under another SECRET_KEY
    return { status, body: text === '' ? undefined : JSON.parse(text), replayed: true }
  }

  /**
   * Carries out a request unless the one that came first with its key was.
   * @throws 400 for a key that is none, 409 while the first request is under way or its answer is not known any
   * more, 422 when the key belongs to another request.
   */
  async function once(request: Repeatable, work: Work): Promise<Answered> {
    const { scope, key, fingerprint } = request
    if (!PRINTABLE.test(key)) throw notAKey()
    const claimed = await store.claim(scope, key, fingerprint)
    count(
      claimed.outcome === 'mine' ? 'first' : claimed.outcome === 'answered' ? 'replayed' : claimed.outcome,
    )
    switch (claimed.outcome) {
      case 'mine':
        return await carryOut(claimed.claim, work)
      case 'answered':
        return kept(request, claimed.status, claimed.body)
      case 'other':
        throw new AppError(422, 'This Idempotency-Key was used for another request. Send a new one.')
      case 'running':
        throw new AppError(
          409,
          'A request with this Idempotency-Key is still running. Retry after it has finished.',
          {
            headers: { 'Retry-After': '1' },
          },
        )
      case 'lost':
        throw lost()
    }
  }

  const around: Around = async (http, spec, caller, work) => {
    const key = http.method === 'POST' ? http.req.headers['idempotency-key'] : undefined
    if (key === undefined) return await work()
    if (typeof key !== 'string' || !PRINTABLE.test(key)) throw notAKey()
    if (!keepsAnswers(spec)) return await work()
    const request = { scope: scopeOf(http, caller), key, fingerprint: fingerprint(http) }
    const { status, body, replayed } = await once(request, async () => {
      await work()
      return { status: http.status, body: http.body }
    })
    if (!replayed) return
    http.set('Idempotent-Replayed', 'true')
    if (body !== undefined) http.body = body
    http.status = status
  }

  return {
    around,
    once,

    /**
     * Called at the end of every transaction: notes, in the same transaction, that the request of this key has
     * been carried out, so that after a crash a repetition does not do it again.
     * @throws 409 when another request has taken the key over; the transaction must not commit then.
     */
    async mark(trx: Transaction<Tables>): Promise<void> {
      const request = current.getStore()
      // What outlives its request, e.g. a listener it woke, acts for itself.
      if (!request || request.over) return
      if (await store.mark(trx, request.claim)) return
      throw conflict('A repetition of this request was faster. Send it again to get its answer.')
    },

    removeExpired: store.removeExpired,
  }
}
export type Idempotency = ReturnType<typeof createIdempotency>

const notAKey = () => badRequest('Idempotency-Key: must be 1 to 255 printable ASCII characters')

const lost = () =>
  conflict(
    'The first request with this Idempotency-Key was processed, but its answer was not kept. Look up what it did.',
  )

const scopeOf = (http: Context, caller: Caller | undefined) => caller?.userId ?? `ip:${clientNetwork(http)}`

/** What makes two requests the same: method, path, query and the JSON body, whatever the order of its keys. */
function fingerprint(http: Context): string {
  const { body, rawBody } = http.request
  if (rawBody === undefined && hasBody(http)) {
    throw new AppError(415, 'With an Idempotency-Key the Content-Type must be application/json')
  }
  return fingerprintOf(http.method, http.path, http.search, rawBody ? canonical(body, rawBody) : '')
}

const fingerprintOf = (...parts: [method: string, path: string, search: string, body: string]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

/** The fingerprint of a POST whose parts are known by themselves: the same as when it comes over HTTP. */
export const postFingerprint = (path: string, body: unknown): string =>
  fingerprintOf('POST', path, '', body === undefined ? '' : canonical(body, ''))

function canonical(body: unknown, raw: string): string {
  try {
    return JSON.stringify(body, (_name, value) =>
      typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
        : value,
    )
  } catch {
    return raw // nested deeper than can be walked; the bytes do as well
  }
}
