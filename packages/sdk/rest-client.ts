import createClient, { type Client } from 'openapi-fetch'
import { ApiError } from './errors.ts'
import { type RetryOptions, retrying, type Send } from './rest-retry.ts'
import type { components, paths } from './rest-types.d.ts'

/** What the REST API speaks of, by name: `Schemas['Robot']`. */
export type Schemas = components['schemas']
/** Every path of the REST API, typed by its description. */
export type RestClient = Client<paths>

/** Where the platform is, and who asks. */
export interface RestClientOptions {
  /** Origin of the platform, such as `https://hub.example`. */
  readonly baseUrl: string
  /**
   * A session token or API key, or a function that gets one before every request, such as one that renews what has
   * expired. Without one, and where the function answers undefined, a browser sends its cookie.
   */
  readonly token?: string | (() => Promise<string | undefined>)
  /**
   * Sends again what failed for the time being (no network, 429, 502, 503, 504), as long as that cannot have an effect
   * twice: reading, and POST, which gets an `Idempotency-Key`. Waits as long as the platform's `Retry-After` says and
   * with a backoff beside it. Default: every request is sent once.
   */
  readonly retry?: boolean | RetryOptions
  /** Default: the global one. */
  readonly fetch?: (request: Request) => Promise<Response>
}

/** A client of the REST API. Hand what its methods return to `answerOf`. */
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
    // A single request may name its own.
    if (request.headers.has('Authorization')) return send(request)
    const credential = typeof token === 'string' ? token : await freshToken(token)
    if (credential !== undefined) request.headers.set('Authorization', `Bearer ${credential}`)
    return send(request)
  }
}

/** What a token function throws is not taken for a network that fails. */
async function freshToken(token: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await token()
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ApiError(0, 'There is no token', { cause })
  }
}

interface FetchResult {
  readonly data?: unknown
  readonly error?: unknown
  readonly response: Response
}
/** The body of a successful answer; undefined where there is none. */
type ResponseBody<R extends FetchResult> = [Exclude<R['data'], undefined>] extends [never]
  ? undefined
  : Exclude<R['data'], undefined>

/**
 * The body of a successful answer: `await answerOf(rest.GET('/api/auth/profile'))`.
 * @throws ApiError for a refusal, and with status 0 when no answer came
 */
export async function answerOf<R extends FetchResult>(pending: Promise<R>): Promise<ResponseBody<R>> {
  const { data, error, response } = await pending.catch((cause: unknown): never => {
    if (cause instanceof ApiError || (cause instanceof Error && cause.name === 'AbortError')) throw cause
    throw new ApiError(0, 'The platform cannot be reached', { cause })
  })
  if (response.ok) return data as ResponseBody<R>
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN)
  throw new ApiError(response.status, messageOf(error) ?? `The platform answered ${response.status}`, {
    ...(Number.isFinite(seconds) && { retryAfterS: seconds }),
  })
}

function messageOf(body: unknown): string | undefined {
  const message = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  return typeof message === 'string' ? message : undefined
}
