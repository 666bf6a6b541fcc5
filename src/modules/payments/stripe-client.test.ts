import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Stripe from 'stripe'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../core/errors/errors.ts'
import {
  createStripeClient,
  isCachedResponse,
  isMissing,
  isRefusal,
  requireText,
  type StripeClient,
  withStripeErrors,
} from './stripe-client.ts'

interface Answer {
  readonly status: number
  readonly body: string
}

let server: Server
let stripe: StripeClient
/** The next answers of the server; it closes the connection instead of the answer `drops`. */
let answer: Answer | 'drops'
let requests = 0
const { getInitialNetworkRetryDelay } = Stripe.prototype

beforeAll(async () => {
  Stripe.prototype.getInitialNetworkRetryDelay = () => 0.001
  server = createServer((request, response) => {
    requests++
    if (answer === 'drops') return void request.socket.destroy()
    response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answer.body)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  stripe = createStripeClient({ secretKey: 'sk_test_x', apiBase: `http://127.0.0.1:${port}` })
})
afterAll(async () => {
  Stripe.prototype.getInitialNetworkRetryDelay = getInitialNetworkRetryDelay
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

const error = (status: number, type: string, code?: string): Answer => ({
  status,
  body: JSON.stringify({ error: { type, code, message: 'Not with sk_test_x' } }),
})
const success = (body: string): Answer => ({ status: 200, body })

/** Creates a customer, which needs the id of the answer. Returns the error. */
const failure = async (given: Answer | 'drops'): Promise<unknown> => {
  answer = given
  requests = 0
  return await stripe.customers
    .create()
    .then(({ id }) => requireText(id, 'id'))
    .then(
      () => undefined,
      (cause: unknown) => cause,
    )
}

const UNANSWERED = 'The payment provider does not answer.'
const KEY_REJECTED = 'The payment provider does not accept the key'
const RUNNING = 'The same request is already running'
const REJECTED = 'The payment provider rejected the request.'

describe('an answer of Stripe', () => {
  test.each<[string, Answer | 'drops', number, string, { refused?: boolean; cached?: boolean }]>([
    ['a closed connection', 'drops', 503, UNANSWERED, {}],
    ['a page', success('<html>Bad gateway</html>'), 503, UNANSWERED, {}],
    ['a text', success('"ok"'), 503, UNANSWERED, {}],
    ['an empty object', success('{}'), 503, UNANSWERED, {}],
    ['500', error(500, 'api_error'), 503, UNANSWERED, { cached: true }],
    ['429', error(429, 'invalid_request_error'), 503, UNANSWERED, {}],
    ['401', error(401, 'invalid_request_error'), 503, KEY_REJECTED, {}],
    ['403', error(403, 'invalid_request_error'), 503, KEY_REJECTED, {}],
    ['409', error(409, 'invalid_request_error', 'idempotency_key_in_use'), 503, RUNNING, {}],
    ['another request with the same key', error(400, 'idempotency_error'), 503, RUNNING, { cached: true }],
    ['400', error(400, 'invalid_request_error'), 502, REJECTED, { refused: true, cached: true }],
    ['402', error(402, 'card_error', 'card_declined'), 502, REJECTED, { refused: true, cached: true }],
  ])(
    '%s becomes the error of the route',
    async (_what, given, status, text, { refused = false, cached = false }) => {
      const cause = await failure(given)
      expect(cause).toBeInstanceOf(Error)
      const shown = await withStripeErrors(Promise.reject(cause)).catch((converted: unknown) => converted)
      expect(shown).toBeInstanceOf(AppError)
      expect(shown).toMatchObject({ status, message: expect.stringContaining(text) })
      expect((shown as AppError).message).not.toContain('sk_test')
      // Nothing happened at Stripe, so that the amount is available again; and a repetition needs another key.
      expect(isRefusal(cause), 'refused').toBe(refused)
      expect(isCachedResponse(cause), 'cached').toBe(cached)
    },
  )

  test('is requested again once when there was none', async () => {
    await failure('drops')
    expect(requests).toBe(2)
    await failure(error(400, 'invalid_request_error'))
    expect(requests).toBe(1)
  })

  test('reports an object that does not exist', async () => {
    expect(isMissing(await failure(error(404, 'invalid_request_error', 'resource_missing')))).toBe(true)
    expect(isMissing(await failure(error(400, 'invalid_request_error')))).toBe(false)
  })
})
