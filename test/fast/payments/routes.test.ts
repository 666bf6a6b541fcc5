import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask } from '../../support/network/http-request.ts'
import { snapshotEvent } from '../../support/stripe/events.ts'
import { createPaymentsFixture, type PaymentsFixture } from '../../support/stripe/payments-fixture.ts'
import type { FakeStripe } from '../../support/stripe/server.ts'
import {
  checkFailure,
  type StripeFailure,
  signatureOf,
  stripeFailures,
} from '../../support/stripe/stripe-failures.ts'
import type { World } from '../../support/world/world.ts'

const PAYMENTS = '/api/payments'
const EARNED_CENTS = 5_000

let payments: PaymentsFixture
let stripe: FakeStripe
let world: World

beforeAll(async () => {
  payments = await createPaymentsFixture()
  ;({ stripe, world } = payments)
})
afterAll(() => payments[Symbol.asyncDispose]())

describe('authorization', () => {
  const SIGN_IN = [401, 'Sign in, or send an Authorization: Bearer header']
  const INVALID = [401, 'The session token is not valid. Sign in again.']
  const EXPIRED = [401, 'The session token has expired. Sign in again.']
  const NO_KEYS = [403, 'An API key is not accepted here. Use a session token.']
  const UNSIGNED = [400, 'The Stripe-Signature header is missing, too old or made with another secret.']
  const needs = (role: string) => [403, `You need the ${role} role for this.`]

  const callers = [
    'no credential',
    'an invalid token',
    'an expired session',
    'an API key of a client',
    'an API key of an operator',
    'a client',
    'an operator',
    'an admin',
    'a user with both roles',
  ] as const
  type Caller = (typeof callers)[number]
  type Answers = Record<Caller, readonly unknown[]>

  const withoutUserSession = {
    'no credential': SIGN_IN,
    'an invalid token': INVALID,
    'an expired session': EXPIRED,
    'an API key of a client': NO_KEYS,
    'an API key of an operator': NO_KEYS,
  }
  const clients = (status: number): Answers => ({
    ...withoutUserSession,
    'a client': [status],
    'a user with both roles': [status],
    'an operator': needs('client'),
    'an admin': needs('client'),
  })
  const operators = (status: number): Answers => ({
    ...withoutUserSession,
    'an operator': [status],
    'a user with both roles': [status],
    'a client': needs('operator'),
    'an admin': needs('operator'),
  })
  /** Returns the same answer for every caller: the webhook checks only the signature. */
  const everyCaller = (answer: readonly unknown[]) =>
    Object.fromEntries(callers.map((caller) => [caller, answer])) as Answers

  const EVENT = JSON.stringify(snapshotEvent('charge.succeeded', { id: 'ch_1' }))
  interface Row {
    readonly expected: Answers
    readonly body?: unknown
    readonly headers?: () => Record<string, string>
  }
  const rows: Record<string, Row> = {
    'POST /customer': { expected: clients(200) },
    'POST /setup-intent': { expected: clients(201) },
    'POST /portal': { expected: clients(201) },
    'GET /connect': { expected: operators(200) },
    'POST /connect': { expected: operators(200) },
    'GET /payout': { expected: operators(200) },
    'POST /payout': { expected: operators(201), body: { amountCents: 1_000 } },
    'POST /webhook': { expected: everyCaller(UNSIGNED), body: EVENT },
    'POST /webhook, signed': {
      expected: everyCaller([200]),
      body: EVENT,
      headers: () => signatureOf(EVENT),
    },
  }

  let credentials: Record<Caller, string | undefined>
  beforeAll(async () => {
    const [client, operator, admin, both] = [
      await world.client(),
      await world.operator(),
      await world.admin(),
      await world.client(),
    ]
    await both.post('/api/auth/profile', { role: 'operator' })
    for (const item of [operator, both]) {
      await item.post('/api/operator/profile', { country: 'DE' })
      await payments.earn(item, EARNED_CENTS)
    }
    const expired = await world.platform.identity.builtIn!.issueDevToken({
      email: 'late@test.local',
      expiresInSeconds: -60,
    })
    credentials = {
      'no credential': undefined,
      'an invalid token': 'nonsense',
      'an expired session': expired,
      'an API key of a client': (await client.key()).key,
      'an API key of an operator': (await operator.key()).key,
      'a client': client.token,
      'an operator': operator.token,
      'an admin': admin.token,
      'a user with both roles': both.token,
    }
  })

  test.for(Object.keys(rows))('%s answers every caller as specified', async (name) => {
    const [, method = '', route] = /^(\w+) (\/[\w-]+)/.exec(name) ?? []
    const { expected, body, headers } = rows[name] as Row
    const answers: Record<string, unknown[]> = {}
    for (const caller of callers) {
      const asked = stripe.requests.length
      const token = credentials[caller]
      const answer = await ask(`${world.baseUrl}${PAYMENTS}${route}`, {
        method,
        headers: headers?.() ?? {},
        ...(token !== undefined && { token }),
        ...(body !== undefined && { body }),
      })
      const refused = answer.status >= 400
      answers[caller] = [answer.status, ...(refused ? [answer.body.error] : [])]
      if (!refused) continue
      expect(answer.body, caller).toEqual({ error: expect.any(String) })
      expect(stripe.requests.length, caller).toBe(asked) // a rejected request does not reach Stripe
    }
    expect(answers).toEqual(expected)
  })
})

/** Failures of the two kinds; src/modules/payments/stripe-client.test.ts has the answer to each, and test/full runs all of them. */
test.for(['processes the request and drops the response', 'refuses'])(
  'Stripe %s: every route reports the failure, and works after recovery',
  async (name) => {
    await checkFailure(payments, stripeFailures[name] as StripeFailure)
    payments.recover() // a Stripe failure is logged as an error
  },
)
