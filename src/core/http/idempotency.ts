import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import type { Context } from 'koa'
import type { Transaction } from 'kysely'
import type { Db, Tables } from '../database/tables.ts'
import { AppError, badRequest, conflict } from '../errors/errors.ts'
import type { Secrets } from '../secrets.ts'
import { clientNetwork } from './client-address.ts'
import { type Caller, hasBody, type Interceptor, supportsIdempotencyKey } from './endpoint.ts'
import { createIdempotencyStore, type IdempotencyClaim } from './idempotency.store.ts'

const PURPOSE = 'idempotency'
const PRINTABLE = /^[\x20-\x7e]{1,255}$/
/** Largest answer that is kept. */
const MAX_RESPONSE_BYTES = 256 * 1024

type IdempotencyOutcome = 'first' | 'replayed' | 'running' | 'lost' | 'other'

/** A request that may come again: whose it is, the key they gave it, and what tells it from any other. */
interface IdempotentRequest {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
}
/** What a request was answered; `replayed` when it was carried out before. */
interface IdempotentResponse {
  readonly status: number
  readonly body?: unknown
  readonly replayed?: boolean
}
type Work = () => Promise<IdempotentResponse>

interface Deps {
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
export function createIdempotency(parts: Deps) {
  const { secrets, report, count } = parts
  const store = createIdempotencyStore(parts)
  /** The key of the request that the running code belongs to; `over` once that request is answered. */
  const current = new AsyncLocalStorage<{ claim: IdempotencyClaim; finished: boolean }>()
  const sealContext = ({ scope, key }: Pick<IdempotencyClaim, 'scope' | 'key'>) =>
    JSON.stringify([scope, key])

  async function execute(claim: IdempotencyClaim, work: Work): Promise<IdempotentResponse> {
    const request = { claim, finished: false }
    let response: IdempotentResponse
    try {
      response = await current.run(request, work)
    } catch (cause) {
      request.finished = true
      await store.release(claim).catch(report) // the key comes free by itself when its lease is over
      throw cause
    }
    request.finished = true
    await storeResponse(claim, response).catch(report) // the work is done and gets its answer, kept or not
    return response
  }

  async function storeResponse(claim: IdempotencyClaim, { status, body }: IdempotentResponse): Promise<void> {
    if (status < 200 || status > 299) return await store.release(claim)
    const text = body === undefined ? '' : JSON.stringify(body)
    if (Buffer.byteLength(text) > MAX_RESPONSE_BYTES) return await store.completeWithoutResponse(claim)
    await store.storeResponse(claim, status, secrets.seal(PURPOSE, text, sealContext(claim)))
  }

  function replayResponse(
    { scope, key }: IdempotentRequest,
    status: number,
    sealed: string | null,
  ): IdempotentResponse {
    const text = sealed === null ? undefined : secrets.open(PURPOSE, sealed, sealContext({ scope, key }))
    if (text === undefined) throw responseNotStored() // sealed under another SECRET_KEY
    return { status, body: text === '' ? undefined : JSON.parse(text), replayed: true }
  }

  /**
   * Carries out a request unless the one that came first with its key was.
   * @throws 400 for a key that is none, 409 while the first request is under way or its answer is not known any
   * more, 422 when the key belongs to another request.
   */
  async function once(request: IdempotentRequest, work: Work): Promise<IdempotentResponse> {
    const { scope, key, fingerprint } = request
    if (!PRINTABLE.test(key)) throw invalidKey()
    const claimResult = await store.claim(scope, key, fingerprint)
    count(
      claimResult.outcome === 'mine'
        ? 'first'
        : claimResult.outcome === 'answered'
          ? 'replayed'
          : claimResult.outcome,
    )
    switch (claimResult.outcome) {
      case 'mine':
        return await execute(claimResult.claim, work)
      case 'answered':
        return replayResponse(request, claimResult.status, claimResult.body)
      case 'other':
        throw new AppError(
          422,
          'idempotency_key_reused',
          'This Idempotency-Key was used for another request. Send a new one.',
        )
      case 'running':
        throw new AppError(
          409,
          'idempotency_key_in_use',
          'A request with this Idempotency-Key is still running. Retry after it has finished.',
          {
            headers: { 'Retry-After': '1' },
          },
        )
      case 'lost':
        throw responseNotStored()
    }
  }

  const interceptor: Interceptor = async (http, spec, caller, work) => {
    const key = http.method === 'POST' ? http.req.headers['idempotency-key'] : undefined
    if (key === undefined) return await work()
    if (typeof key !== 'string' || !PRINTABLE.test(key)) throw invalidKey()
    if (!supportsIdempotencyKey(spec)) return await work()
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
    around: interceptor,
    once,

    /**
     * Called at the end of every transaction: notes, in the same transaction, that the request of this key has
     * been carried out, so that after a crash a repetition does not do it again.
     * @throws 409 when another request has taken the key over; the transaction must not commit then.
     */
    async markEffect(trx: Transaction<Tables>): Promise<void> {
      const request = current.getStore()
      // What outlives its request, e.g. a listener it woke, acts for itself.
      if (!request || request.finished) return
      if (await store.markEffect(trx, request.claim)) return
      throw conflict(
        'idempotency_key_in_use',
        'A repetition of this request was faster. Send it again to get its answer.',
      )
    },

    removeExpired: store.removeExpired,
  }
}
export type Idempotency = ReturnType<typeof createIdempotency>

const invalidKey = () => badRequest('Idempotency-Key: must be 1 to 255 printable ASCII characters')

const responseNotStored = () =>
  conflict(
    'idempotency_response_lost',
    'The first request with this Idempotency-Key was processed, but its answer was not kept. Look up what it did.',
  )

const scopeOf = (http: Context, caller: Caller | undefined) => caller?.userId ?? `ip:${clientNetwork(http)}`

/** What makes two requests the same: method, path, query and the JSON body, whatever the order of its keys. */
function fingerprint(http: Context): string {
  const { body, rawBody } = http.request
  if (rawBody === undefined && hasBody(http)) {
    throw new AppError(
      415,
      'unsupported_media_type',
      'With an Idempotency-Key the Content-Type must be application/json',
    )
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
