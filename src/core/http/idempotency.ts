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
/** The size limit of a stored response. */
const MAX_RESPONSE_BYTES = 256 * 1024

type IdempotencyOutcome = 'first' | 'replayed' | 'running' | 'lost' | 'other'

/** A request that a client may repeat: its owner, its key, and the fingerprint of its content. */
interface IdempotentRequest {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
}
/** The response to a request. `replayed` is true for a stored response. */
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
  /** Counts the outcome of a request that carried a key. */
  readonly count: (outcome: IdempotencyOutcome) => void
}

/**
 * Lets clients repeat a POST safely: with the same `Idempotency-Key`, a repeated request gets the stored response.
 * Only successful responses are stored. After a failure without an effect, the key is released.
 *
 * The effects of a POST belong in `transact` or `runStatement`, which mark the key in the same transaction: a process that
 * has lost the key cannot commit. A POST that writes in another way must be harmless to repeat.
 */
export function createIdempotency(parts: Deps) {
  const { secrets, report, count } = parts
  const store = createIdempotencyStore(parts)
  /**
   * The key of the request that the running code belongs to. `finished` is true once that request has its response.
   */
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
      await store.release(claim).catch(report) // the key is released when its lease expires
      throw cause
    }
    request.finished = true
    await storeResponse(claim, response).catch(report) // the work is done: send its response, stored or not
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
    if (text === undefined) throw responseNotStored() // encrypted with another SECRET_KEY
    return { status, body: text === '' ? undefined : JSON.parse(text), replayed: true }
  }

  /**
   * Executes a request, unless an earlier request with its key was executed.
   * @throws 400 for a malformed key, 409 while the first request is running or when its response was not stored, 422
   * when the key was used for a different request.
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
    intercept: interceptor,
    once,

    /** Returns whether the running code belongs to a request with a key, so that its effects are marked. */
    marksEffects: (): boolean => current.getStore()?.finished === false,

    /**
     * Records, at the end of every transaction, that the request of this key has had an effect. After a crash, a
     * repeated request is then not executed again.
     * @throws 409 when another request has claimed the key; the transaction must not commit then.
     */
    async markEffect(trx: Transaction<Tables>): Promise<void> {
      const request = current.getStore()
      // Code that outlives its request, e.g. a listener that the request triggered, runs without the key.
      if (!request || request.finished) return
      if (await store.markEffect(trx, request.claim)) return
      throw conflict(
        'idempotency_key_in_use',
        'A repeated request with this Idempotency-Key is running. Retry to get its response.',
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
    'The first request with this Idempotency-Key was processed, but its response was not stored. Check the state of the resource before you send a new request.',
  )

const scopeOf = (http: Context, caller: Caller | undefined) =>
  caller ? idempotencyScope(caller) : `ip:${clientNetwork(http)}`

/**
 * Returns the owner of an idempotency key. A caller does not get the response to a request with other permissions: of another
 * organization, or of a key with other scopes.
 */
export function idempotencyScope({ userId, organization, credential }: Caller): string {
  const scopes = credential.kind === 'api_key' ? credential.scopes : null
  return [
    userId,
    ...(organization.id === userId ? [] : [organization.id]),
    ...(scopes === null ? [] : [scopes.join()]),
  ].join(' ')
}

/**
 * Returns the hash by which two requests are equal: method, path, query and the JSON body, regardless of the order of
 * its keys.
 */
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

/** Returns the fingerprint of a POST with this path and body, equal to that of the same request over HTTP. */
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
    return raw // nested too deep to walk; hash the bytes instead
  }
}
