import createClient, { type Client } from 'openapi-fetch'
import { ApiError } from './errors.ts'
import type { components, paths } from './rest-types.d.ts'

/** What the REST API speaks of, by name: `Schemas['Robot']`. */
export type Schemas = components['schemas']
/** Every path of the REST API, typed by its description. */
export type RestClient = Client<paths>

export interface RestClientOptions {
  /** Origin of the platform, such as `https://hub.example`. */
  readonly baseUrl: string
  /** A session token or API key. Without one, a browser sends its cookie. */
  readonly token?: string
  /** Default: the global one. */
  readonly fetch?: (request: Request) => Promise<Response>
}

/** A client of the REST API. Hand what its methods return to `answerOf`. */
export function createRestClient({ baseUrl, token, fetch }: RestClientOptions): RestClient {
  return createClient<paths>({
    baseUrl,
    ...(token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
    ...(fetch && { fetch }),
  })
}

interface Outcome {
  readonly data?: unknown
  readonly error?: unknown
  readonly response: Response
}
/** The body of a successful answer; undefined where there is none. */
type Answer<R extends Outcome> = [Exclude<R['data'], undefined>] extends [never]
  ? undefined
  : Exclude<R['data'], undefined>

/**
 * The body of a successful answer: `await answerOf(rest.GET('/api/auth/profile'))`.
 * @throws ApiError for a refusal, and with status 0 when no answer came
 */
export async function answerOf<R extends Outcome>(pending: Promise<R>): Promise<Answer<R>> {
  const { data, error, response } = await pending.catch((cause: unknown): never => {
    if (cause instanceof ApiError || (cause instanceof Error && cause.name === 'AbortError')) throw cause
    throw new ApiError(0, 'The platform cannot be reached', { cause })
  })
  if (response.ok) return data as Answer<R>
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN)
  throw new ApiError(response.status, messageOf(error) ?? `The platform answered ${response.status}`, {
    ...(Number.isFinite(seconds) && { retryAfterS: seconds }),
  })
}

function messageOf(body: unknown): string | undefined {
  const told = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
  return typeof told === 'string' ? told : undefined
}
