import Stripe from 'stripe'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PAYOUTS } from '../../../src/modules/payments/payout-transfers.ts'
import { ask } from '../../support/network/http-request.ts'
import { snapshotEvent, thinEvent, WEBHOOK_SECRET } from '../../support/stripe/events.ts'
import { createPaymentsFixture, type PaymentsFixture } from '../../support/stripe/payments-fixture.ts'
import type { FakeStripe, StripeFault } from '../../support/stripe/server.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import type { World } from '../../support/world/world.ts'

const PAYMENTS = '/api/payments'
const EARNED_CENTS = 5_000
const HOUR_MS = 3_600_000
const { webhooks } = new Stripe('sk_test_none')

let payments: PaymentsFixture
let stripe: FakeStripe
let world: World
let aheadMs = 0

beforeAll(async () => {
  payments = await createPaymentsFixture({ now: () => new Date(Date.now() + aheadMs) })
  ;({ stripe, world } = payments)
})
afterAll(() => payments[Symbol.asyncDispose]())

/** Returns the signature header of a Stripe event. */
const signatureOf = (payload: string) => ({
  'Stripe-Signature': webhooks.generateTestHeaderString({ payload, secret: WEBHOOK_SECRET }),
})
/** Delivers a signed event to the Stripe webhook. */
async function deliverEvent(event: object) {
  const body = JSON.stringify(event)
  const answer = await ask(`${world.baseUrl}${PAYMENTS}/webhook`, {
    method: 'POST',
    body,
    headers: { ...signatureOf(body), 'Content-Type': 'application/json' },
  })
  return [answer.status, answer.body]
}

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

const UNANSWERED = 'The payment provider does not answer. Try again shortly.'
const REQUEST_IN_PROGRESS = 'The same request is already running at the payment provider. Try again shortly.'
const KEY_REJECTED =
  'The payment provider does not accept the key of this platform. Ask an administrator to check it.'
const REJECTED = 'The payment provider rejected the request. Try again later, or ask an administrator.'

interface Failure {
  readonly fault: StripeFault | 'is down'
  readonly status: 502 | 503
  /** Error messages that the caller may receive. */
  readonly texts: readonly string[]
}
const unanswered = (fault: Failure['fault'], ...more: string[]): Failure => ({
  fault,
  status: 503,
  texts: [UNANSWERED, ...more],
})
/** Ends the delay of the slow requests. */
const delay = Promise.withResolvers<void>()
const SLOW: StripeFault = { executedAfter: delay.promise }
const failures: Record<string, Failure> = {
  'is down': unanswered('is down'),
  'drops connections': unanswered('drops'),
  'processes the request and drops the response': unanswered('drops after'),
  'is slower than the time limit': unanswered(SLOW, REQUEST_IN_PROGRESS),
  fails: unanswered('fails'),
  'processes the request and returns an error': unanswered('fails after'),
  'limits the request rate': unanswered({ status: 429, type: 'rate_limit' }),
  'rejects the API key': {
    fault: { status: 401, type: 'invalid_request_error' },
    status: 503,
    texts: [KEY_REJECTED],
  },
  'restricts the key': {
    fault: { status: 403, type: 'invalid_request_error' },
    status: 503,
    texts: [KEY_REJECTED],
  },
  refuses: { fault: 'refuses', status: 502, texts: [REJECTED] },
  'is behind a proxy that returns a page': unanswered({ answers: '<html>Bad gateway</html>' }),
  'is behind a proxy that answers with a string': unanswered({ answers: '"ok"' }),
  'is behind a proxy that answers with an empty object': unanswered({ answers: '{}' }),
}

async function injectFault(fault: Failure['fault']): Promise<void> {
  if (fault === 'is down') await stripe.down()
  else stripe.plan(fault, /./, Number.POSITIVE_INFINITY)
}
async function recover(fault: Failure['fault']): Promise<void> {
  if (fault === 'is down') await stripe.up()
  if (fault === SLOW) delay.resolve()
  stripe.recover()
}

/** Creates clients and operators with and without Stripe accounts, and one request for each case. */
async function connectAll() {
  const clients = await Promise.all(Array.from({ length: 5 }, () => world.client()))
  const operators = await Promise.all(Array.from({ length: 3 }, () => payments.operator()))
  const [fresh, saving, managing, known, incomplete] = clients as [
    TestUser,
    TestUser,
    TestUser,
    TestUser,
    TestUser,
  ]
  const [joining, joined, paid] = operators as [TestUser, TestUser, TestUser]
  const { customerId } = (await known.post(`${PAYMENTS}/customer`)).body
  stripe.books.saveMethod(customerId)
  const accountIds = {
    joined: await payments.earn(joined, EARNED_CENTS),
    paid: await payments.earn(paid, EARNED_CENTS),
  }
  const requests: [TestUser, string, string, number][] = [
    [fresh, 'POST', 'customer', 200],
    [saving, 'POST', 'setup-intent', 201],
    [managing, 'POST', 'portal', 201],
    [known, 'POST', 'setup-intent', 201],
    [known, 'POST', 'portal', 201],
    ...Array.from({ length: 3 }, (): [TestUser, string, string, number] => [
      incomplete,
      'POST',
      'customer',
      200,
    ]),
    [joining, 'POST', 'connect', 200],
    [joined, 'GET', 'connect', 200],
    [joined, 'POST', 'connect', 200],
    [paid, 'POST', 'payout', 201],
  ]
  const events = [
    snapshotEvent('customer.updated', { id: customerId }),
    thinEvent('v2.core.account.updated', accountIds.joined),
  ]
  return { clients, joining, joined, paid, known, accountIds, requests, events }
}

describe('Stripe', () => {
  afterEach(() => payments.recover()) // a Stripe failure is logged as an error, and these tests expect it

  test.for(Object.entries(failures))(
    '%s: every route reports the failure, and works after recovery',
    async ([, { fault, status, texts }]) => {
      const fixture = await connectAll()
      const { paid, known, joined, accountIds } = fixture
      const request = ([user, method, path]: (typeof fixture.requests)[number]) =>
        user.request(method, `${PAYMENTS}/${path}`)
      const untouched = { payable: EARNED_CENTS, reserved: 0, transferred: [] }

      await injectFault(fault)
      const [answers, sent] = await Promise.all([
        Promise.all(fixture.requests.map(request)),
        Promise.all(fixture.events.map(deliverEvent)),
      ])
      for (const [index, answer] of answers.entries()) {
        const route = fixture.requests[index]?.[2]
        expect([answer.status, answer.body], route).toEqual([
          status,
          { error: expect.toSatisfy((text) => [...texts, REQUEST_IN_PROGRESS].includes(text)) },
        ])
      }
      expect(sent).toEqual(
        Array(2).fill([500, { error: 'The event could not be processed. Send it again.' }]),
      )
      expect(await payments.moneyOf(paid, accountIds.paid)).toEqual(untouched)
      const overview = await paid.get(`${PAYMENTS}/payout`) // reads only the database
      expect([overview.status, overview.body.availableCents]).toEqual([200, EARNED_CENTS])
      expect((await known.get('/api/client/profile')).body.billing_ready).toBe(false)

      await recover(fault)
      const works = async (item: (typeof fixture.requests)[number]) => {
        const answer = await request(item)
        expect(answer.status, `${item[2]}: ${JSON.stringify(answer.body)}`).toBe(item[3])
      }
      for (const item of fixture.requests) {
        // A slow request may still be running when the client repeats it.
        if (fault === SLOW) await waitFor(() => works(item))
        else await works(item)
      }
      expect(await Promise.all(fixture.events.map(deliverEvent))).toEqual(
        Array(2).fill([200, { received: true }]),
      )
      // Stripe stores its failures under the idempotency key. An object that it created despite a failure stays unused.
      const atMost = fault === 'fails after' ? 2 : 1
      for (const client of fixture.clients) {
        const { customerId } = (await client.post(`${PAYMENTS}/customer`)).body
        expect(payments.customersOf(client).at(-1)?.id).toBe(customerId)
        expect(payments.customersOf(client).length).toBeLessThanOrEqual(atMost)
      }
      expect(payments.recipientsOf(fixture.joining).length).toBeLessThanOrEqual(atMost)
      expect((await known.get('/api/client/profile')).body.billing_ready).toBe(true)
      expect((await joined.get('/api/operator/profile')).body.payout_ready).toBe(true)
      expect(await payments.moneyOf(paid, accountIds.paid)).toEqual({
        payable: 0,
        reserved: 0,
        transferred: [EARNED_CENTS],
      })
    },
  )

  const faults: StripeFault[] = [
    { status: 429, type: 'rate_limit' },
    { status: 401, type: 'invalid_request_error' },
    { status: 403, type: 'invalid_request_error' },
    { answers: '<html>Bad gateway</html>' },
    { answers: '"ok"' },
    { answers: '{}' },
  ]
  test.for(faults)(
    'answers a transfer with %j: the payout is pending and is transferred once',
    async (fault) => {
      const operator = await payments.operator()
      const accountId = await payments.earn(operator, EARNED_CENTS)
      stripe.plan(fault, /transfers$/, 2, 'POST')
      const { status, body } = await operator.post(`${PAYMENTS}/payout`)
      expect([status, body]).toMatchObject([201, { status: 'PENDING', failure: null }])
      expect(await payments.moneyOf(operator, accountId)).toMatchObject({
        payable: 0,
        reserved: EARNED_CENTS,
      })
      stripe.recover()
      aheadMs += 2 * HOUR_MS
      stripe.forgetKeys()
      await world.runJobs(PAYOUTS)
      const overview = (await operator.get(`${PAYMENTS}/payout`)).body
      expect(overview).toMatchObject({ pendingCents: 0, payouts: [{ id: body.id, status: 'PAID' }] })
      const paidOnce = { payable: 0, reserved: 0, transferred: [EARNED_CENTS] }
      expect(await payments.moneyOf(operator, accountId)).toEqual(paidOnce)
    },
  )
})
