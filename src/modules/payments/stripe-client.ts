import Stripe from 'stripe'
import { AppError, unavailable } from '../../core/errors/errors.ts'

/** The client library of Stripe. */
export type StripeClient = Stripe

export interface StripeSettings {
  readonly secretKey: string
  /** Scheme, host and port of the API, if not Stripe's own. */
  readonly apiBase: string | undefined
}

/** Timeout of one attempt. Users wait for the response: two attempts take at most ten seconds. */
const TIMEOUT_MS = 4_000
/** Number of retries. A retry has the same idempotency key. */
const RETRIES = 1

export function createStripeClient({ secretKey, apiBase }: StripeSettings): StripeClient {
  const at = apiBase === undefined ? undefined : new URL(apiBase)
  return new Stripe(secretKey, {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    httpClient: createHttpClient(),
    ...(at && {
      protocol: at.protocol === 'http:' ? ('http' as const) : ('https' as const),
      host: at.hostname,
      port: at.port || (at.protocol === 'http:' ? 80 : 443),
    }),
  })
}

/**
 * Creates an HTTP client that rejects responses that are not JSON objects. The library assumes an object; another JSON
 * value, for example from a proxy, causes an unhandled rejection, which ends the process.
 */
function createHttpClient(): Stripe.HttpClient {
  const client = Stripe.createNodeHttpClient()
  return {
    getClientName: () => client.getClientName(),
    async makeRequest(...request) {
      const response = await client.makeRequest(...request)
      const toJSON = response.toJSON.bind(response)
      response.toJSON = async () => {
        const json: unknown = await toJSON()
        if (typeof json !== 'object' || json === null)
          throw new SyntaxError('The response is not a JSON object')
        return json
      }
      return response
    },
  }
}

/**
 * Returns a required text of a response.
 * @throws StripeAPIError if it is missing: the outcome of the request is unknown
 */
export function requireText(value: string | null | undefined, name: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new Stripe.errors.StripeAPIError({ type: 'api_error', message: `The response has no ${name}` })
}

/** Returns whether the requested object does not exist at Stripe. */
export const isMissing = (cause: unknown): boolean =>
  cause instanceof Stripe.errors.StripeInvalidRequestError && cause.code === 'resource_missing'

/** Returns whether the outcome of the request is unknown: no response, or an internal error of Stripe. */
const isUnknownOutcome = (cause: unknown): boolean =>
  cause instanceof Stripe.errors.StripeConnectionError || cause instanceof Stripe.errors.StripeAPIError

/** Returns whether Stripe rejected the request without any effect. */
export const isRefusal = (cause: unknown): cause is InstanceType<typeof Stripe.errors.StripeError> =>
  (cause instanceof Stripe.errors.StripeInvalidRequestError && cause.statusCode !== 409) ||
  cause instanceof Stripe.errors.StripeCardError

/** Returns the reason of a rejection, for the user. */
export const refusalText = (cause: InstanceType<typeof Stripe.errors.StripeError>): string =>
  cause.message.slice(0, 500)

/** Statuses that Stripe does not cache: no permission, concurrent request, rate limit. */
const UNCACHED_STATUSES = [401, 403, 409, 429]

/**
 * Returns whether Stripe repeats this response for the same idempotency key, which it does for a day. It also caches
 * rejections and its own errors. It does not cache a response that was damaged on the way.
 */
export const isCachedResponse = (cause: unknown): boolean =>
  cause instanceof Stripe.errors.StripeError &&
  cause.statusCode !== undefined &&
  !UNCACHED_STATUSES.includes(cause.statusCode)

/**
 * Awaits a request to Stripe and converts Stripe's errors.
 * @throws 503 if Stripe does not respond or rejects the key; 502 if it rejects the request
 */
export async function withStripeErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw cause instanceof Stripe.errors.StripeError ? toAppError(cause) : cause
  }
}

function toAppError(cause: InstanceType<typeof Stripe.errors.StripeError>): AppError {
  const { errors } = Stripe
  // A concurrent request with the same idempotency key is still running.
  if (cause instanceof errors.StripeIdempotencyError || cause.statusCode === 409) {
    return unavailable(
      'payment_request_running',
      'The same request is already running at the payment provider. Try again shortly.',
      cause,
    )
  }
  if (isUnknownOutcome(cause) || cause instanceof errors.StripeRateLimitError || cause.statusCode === 429) {
    return unavailable(
      'payment_provider_unavailable',
      'The payment provider does not answer. Try again shortly.',
      cause,
    )
  }
  if (cause instanceof errors.StripeAuthenticationError || cause instanceof errors.StripePermissionError) {
    return new AppError(
      503,
      'payment_provider_unavailable',
      'The payment provider does not accept the key of this platform. Ask an administrator to check it.',
      { cause },
    )
  }
  return new AppError(
    502,
    'payment_provider_error',
    'The payment provider rejected the request. Try again later, or ask an administrator.',
    { cause },
  )
}

/** Returns the error of all payment routes if no Stripe key is configured. */
export const notConfigured = (): AppError =>
  new AppError(503, 'payments_not_configured', 'Payments are not set up on this platform', {
    byConfiguration: true,
  })
