import Stripe from 'stripe'
import { AppError, unavailable } from '../../core/errors/errors.ts'

/** The payment provider, spoken to through its own library. */
export type StripeClient = Stripe

export interface StripeSettings {
  readonly secretKey: string
  /** Where its interface is, if not at its own address: scheme, host and port. */
  readonly apiBase: string | undefined
}

/** For one attempt. Somebody waits for the answer: with the second one it is ten seconds at the most. */
const TIMEOUT_MS = 4_000
/** After the first attempt; a repeated request carries the same idempotency key. */
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
 * The library takes whatever JSON it is sent for an object, and one that is none ends the process: a rejection that
 * nobody handles. A proxy on the way may answer with anything.
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
        if (typeof json !== 'object' || json === null) throw new SyntaxError('The answer is no object')
        return json
      }
      return response
    },
  }
}

/**
 * Takes an answer's text, which must be there.
 * @throws StripeAPIError, as for an answer that cannot be read: what came of the request is unknown
 */
export function requireText(value: string | null | undefined, name: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new Stripe.errors.StripeAPIError({ type: 'api_error', message: `An answer without its ${name}` })
}

/** Nothing that was named is there any more, at the provider. */
export const isMissing = (cause: unknown): boolean =>
  cause instanceof Stripe.errors.StripeInvalidRequestError && cause.code === 'resource_missing'

/** It is unknown whether the provider did what it was asked for: no answer, or one that says so. */
const isUnknownOutcome = (cause: unknown): boolean =>
  cause instanceof Stripe.errors.StripeConnectionError || cause instanceof Stripe.errors.StripeAPIError

/** The provider has understood and said no; nothing was done. */
export const isRefusal = (cause: unknown): cause is InstanceType<typeof Stripe.errors.StripeError> =>
  (cause instanceof Stripe.errors.StripeInvalidRequestError && cause.statusCode !== 409) ||
  cause instanceof Stripe.errors.StripeCardError

/** Why, for whoever asked. */
export const refusalText = (cause: InstanceType<typeof Stripe.errors.StripeError>): string =>
  cause.message.slice(0, 500)

/** Answers that say nothing of the request itself: no right to ask, the first one is still being carried out, too many. */
const UNCACHED_STATUSES = [401, 403, 409, 429]

/**
 * Whoever asks with the same idempotency key again is given this same answer, for a day: the provider keeps what it
 * refused, and even its own failures. Not so what cannot be read, which was spoilt on the way.
 */
export const isCachedResponse = (cause: unknown): boolean =>
  cause instanceof Stripe.errors.StripeError &&
  cause.statusCode !== undefined &&
  !UNCACHED_STATUSES.includes(cause.statusCode)

/**
 * Asks the provider, and answers for it when it fails.
 * @throws 503 when it does not answer or does not let us in; 502 when it refuses what it was asked
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
  // Two requests with the same idempotency key at the same time: the first one is being carried out.
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
    'The payment provider refused the request. Try again later, or ask an administrator.',
    { cause },
  )
}

/** What every payment route answers on a platform without a key of the provider. */
export const notConfigured = (): AppError =>
  new AppError(503, 'payments_not_configured', 'Payments are not set up on this platform', {
    byConfiguration: true,
  })
