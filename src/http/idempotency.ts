import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import type { Transaction } from 'kysely'
import type { Db, Tables } from '../db/orm.ts'
import type { Secrets } from '../secrets.ts'
import { clientNetwork } from './client-address.ts'
import { type Around, type Caller, hasBody, keepsAnswers } from './endpoint.ts'
import { AppError, badRequest, conflict } from './errors.ts'
import { type Claim, createIdempotencyStore } from './idempotency.store.ts'

const PURPOSE = 'idempotency'
const PRINTABLE = /^[\x20-\x7e]{1,255}$/
/** Largest answer that is kept. */
const MAX_ANSWER_BYTES = 256 * 1024

export type IdempotencyOutcome = 'first' | 'replayed' | 'running' | 'lost' | 'other'

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

  async function carryOut(http: Context, claim: Claim, work: () => Promise<void>): Promise<void> {
    const request = { claim, over: false }
    try {
      await current.run(request, work)
    } catch (cause) {
      request.over = true
      await store.release(claim).catch(report) // the key comes free by itself when its lease is over
      throw cause
    }
    request.over = true
    await keep(http, claim).catch(report) // the work is done and gets its answer, kept or not
  }

  async function keep(http: Context, claim: Claim): Promise<void> {
    if (http.status < 200 || http.status > 299) return await store.release(claim)
    const text = http.body === undefined ? '' : JSON.stringify(http.body)
    if (Buffer.byteLength(text) > MAX_ANSWER_BYTES) return await store.forgo(claim)
    await store.keep(claim, http.status, secrets.seal(PURPOSE, text, place(claim)))
  }

  function replay(http: Context, scope: string, key: string, status: number, sealed: string | null): void {
    const text = sealed === null ? undefined : secrets.open(PURPOSE, sealed, place({ scope, key }))
    if (text === undefined) throw lost() // sealed under another SECRET_KEY
    http.set('Idempotent-Replayed', 'true')
    if (text !== '') http.body = JSON.parse(text)
    http.status = status
  }

  const around: Around = async (http, spec, caller, work) => {
    const key = http.method === 'POST' ? http.req.headers['idempotency-key'] : undefined
    if (key === undefined) return await work()
    if (typeof key !== 'string' || !PRINTABLE.test(key)) {
      throw badRequest('Idempotency-Key: must be 1 to 255 printable ASCII characters')
    }
    if (!keepsAnswers(spec)) return await work()
    const scope = scopeOf(http, caller)
    const claimed = await store.claim(scope, key, fingerprint(http))
    count(
      claimed.outcome === 'mine' ? 'first' : claimed.outcome === 'answered' ? 'replayed' : claimed.outcome,
    )
    switch (claimed.outcome) {
      case 'mine':
        return await carryOut(http, claimed.claim, work)
      case 'answered':
        return replay(http, scope, key, claimed.status, claimed.body)
      case 'other':
        throw new AppError(422, 'This Idempotency-Key was used for another request')
      case 'running':
        throw new AppError(409, 'The request with this Idempotency-Key is still being carried out', {
          headers: { 'Retry-After': '1' },
        })
      case 'lost':
        throw lost()
    }
  }

  return {
    around,

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
      throw conflict('A repetition of this request was faster')
    },

    removeExpired: store.removeExpired,
  }
}
export type Idempotency = ReturnType<typeof createIdempotency>

const lost = () =>
  conflict(
    'The first request with this Idempotency-Key was carried out, but its answer was not kept: look up what it did',
  )

const scopeOf = (http: Context, caller: Caller | undefined) => caller?.userId ?? `ip:${clientNetwork(http)}`

/** What makes two requests the same: method, path, query and the JSON body, whatever the order of its keys. */
function fingerprint(http: Context): string {
  const { body, rawBody } = http.request
  if (rawBody === undefined && hasBody(http)) {
    throw new AppError(415, 'With an Idempotency-Key the Content-Type must be application/json')
  }
  const request = [http.method, http.path, http.search, rawBody ? canonical(body, rawBody) : '']
  return createHash('sha256').update(JSON.stringify(request)).digest('base64url')
}

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
