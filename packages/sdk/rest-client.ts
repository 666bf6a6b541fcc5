import { ERROR_CODE_HEADER } from '@wheelhouse/protocol'
import createClient, { type Client } from 'openapi-fetch'
import { ApiError } from './errors.ts'
import { type RetryOptions, retrying, type Send } from './rest-retry.ts'
import type { components, paths } from './rest-types.d.ts'

/** Schemas of the REST API, by name: `Schemas['Robot']`. */
export type Schemas = components['schemas']
/** A client with all paths of the REST API, typed by its description. */
export type RestClient = Client<paths>

/** Address of the platform, credential, and behaviour on failures. */
export interface RestClientOptions {
  /** Origin of the platform, such as `https://hub.example`. */
  readonly baseUrl: string
  /**
   * A session token or API key, or a function that returns one before every request and can renew an expired one.
   * Without a token, or if the function returns undefined, a browser sends its cookie.
   */
  readonly token?: string | (() => Promise<string | undefined>)
  /**
   * Repeats requests after transient failures (no network, 429, 502, 503, 504) if a repetition is safe: reads, and
   * POST, which gets an `Idempotency-Key`. Waits for the platform's `Retry-After` plus a backoff. Default: sends every
   * request once.
   */
  readonly retry?: boolean | RetryOptions
  /** Default: the global one. */
  readonly fetch?: (request: Request) => Promise<Response>
}

/** Creates a client of the REST API. Pass the results of its methods to `answerOf`. */
export function createRestClient({ baseUrl, token, retry = false, fetch }: RestClientOptions): RestClient {
  const plain: Send = fetch ?? ((request) => globalThis.fetch(request))
  const send = token === undefined ? plain : withToken(plain, token)
  return createClient<paths>({
    baseUrl,
    fetch: retry === false ? send : retrying(send, retry === true ? {} : retry),
  })
}

function withToken(send: Send, token: string | (() => Promise<string | undefined>)): Send {
  return async (request) => {
    // A request may have its own credential.
    if (request.headers.has('Authorization')) return send(request)
    const credential = typeof token === 'string' ? token : await freshToken(token)
    if (credential !== undefined) request.headers.set('Authorization', `Bearer ${credential}`)
    return send(request)
  }
}

/** Wraps errors of a token function, so that the client does not take them for network failures. */
async function freshToken(token: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await token()
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ApiError(0, 'The token function failed', { cause })
  }
}

interface FetchResult {
  readonly data?: unknown
  readonly error?: unknown
  readonly response: Response
}
/** The body of a successful response; undefined without a body. */
type ResponseBody<R extends FetchResult> = [Exclude<R['data'], undefined>] extends [never]
  ? undefined
  : Exclude<R['data'], undefined>

/**
 * Returns the body of a successful response: `await answerOf(rest.GET('/api/auth/profile'))`.
 * @throws ApiError for a refusal, and with status 0 when no response arrived
 */
export async function answerOf<R extends FetchResult>(pending: Promise<R>): Promise<ResponseBody<R>> {
  const { data, error, response } = await pending.catch((cause: unknown): never => {
    if (cause instanceof ApiError || (cause instanceof Error && cause.name === 'AbortError')) throw cause
    throw new ApiError(0, 'The platform cannot be reached', { cause })
  })
  if (response.ok) return data as ResponseBody<R>
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN)
  throw new ApiError(response.status, messageOf(error) ?? `The platform answered ${response.status}`, {
    code: response.headers.get(ERROR_CODE_HEADER) ?? undefined,
    ...(Number.isFinite(seconds) && { retryAfterS: seconds }),
  })
}

function messageOf(body: unknown): string | undefined {
  const message = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  return typeof message === 'string' ? message : undefined
}
