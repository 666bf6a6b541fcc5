import Stripe from 'stripe'
import { expect } from 'vitest'
import { ask } from '../network/http-request.ts'
import type { TestUser } from '../world/test-user.ts'
import { waitFor } from '../world/wait.ts'
import { snapshotEvent, thinEvent, WEBHOOK_SECRET } from './events.ts'
import type { PaymentsFixture } from './payments-fixture.ts'
import type { StripeFault } from './server.ts'

const PAYMENTS = '/api/payments'
const EARNED_CENTS = 5_000
const { webhooks } = new Stripe('sk_test_none')

/** Returns the signature header of a Stripe event. */
export const signatureOf = (payload: string) => ({
  'Stripe-Signature': webhooks.generateTestHeaderString({ payload, secret: WEBHOOK_SECRET }),
})

/** Delivers a signed event to the Stripe webhook. */
async function deliverEvent({ world }: PaymentsFixture, event: object) {
  const body = JSON.stringify(event)
  const answer = await ask(`${world.baseUrl}${PAYMENTS}/webhook`, {
    method: 'POST',
    body,
    headers: { ...signatureOf(body), 'Content-Type': 'application/json' },
  })
  return [answer.status, answer.body]
}

const UNANSWERED = 'The payment provider does not answer. Try again shortly.'
const REQUEST_IN_PROGRESS = 'The same request is already running at the payment provider. Try again shortly.'
const KEY_REJECTED =
  'The payment provider does not accept the key of this platform. Ask an administrator to check it.'
const REJECTED = 'The payment provider rejected the request. Try again later, or ask an administrator.'

export interface StripeFailure {
  readonly fault: StripeFault | 'is down'
  readonly status: 502 | 503
  /** Error messages that the caller may receive. */
  readonly texts: readonly string[]
}
const unanswered = (fault: StripeFailure['fault'], ...more: string[]): StripeFailure => ({
  fault,
  status: 503,
  texts: [UNANSWERED, ...more],
})
/** Ends the delay of the slow requests. */
const delay = Promise.withResolvers<void>()
const SLOW: StripeFault = { executedAfter: delay.promise }
/** The failures of Stripe that every route reports. */
export const stripeFailures: Record<string, StripeFailure> = {
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

async function injectFault({ stripe }: PaymentsFixture, fault: StripeFailure['fault']): Promise<void> {
  if (fault === 'is down') await stripe.down()
  else stripe.plan(fault, /./, Number.POSITIVE_INFINITY)
}
async function recover({ stripe }: PaymentsFixture, fault: StripeFailure['fault']): Promise<void> {
  if (fault === 'is down') await stripe.up()
  if (fault === SLOW) delay.resolve()
  stripe.recover()
}

/** Creates clients and operators with and without Stripe accounts, and one request for each case. */
async function connectAll(payments: PaymentsFixture) {
  const { world, stripe } = payments
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

/** Checks that every route reports a failure of Stripe, that no money moves, and that everything works after the recovery. */
export async function checkFailure(
  payments: PaymentsFixture,
  { fault, status, texts }: StripeFailure,
): Promise<void> {
  const fixture = await connectAll(payments)
  const { paid, known, joined, accountIds } = fixture
  const request = ([user, method, path]: (typeof fixture.requests)[number]) =>
    user.request(method, `${PAYMENTS}/${path}`)
  const untouched = { payable: EARNED_CENTS, reserved: 0, transferred: [] }

  await injectFault(payments, fault)
  const [answers, sent] = await Promise.all([
    Promise.all(fixture.requests.map(request)),
    Promise.all(fixture.events.map((event) => deliverEvent(payments, event))),
  ])
  for (const [index, answer] of answers.entries()) {
    const route = fixture.requests[index]?.[2]
    expect([answer.status, answer.body], route).toEqual([
      status,
      { error: expect.toSatisfy((text) => [...texts, REQUEST_IN_PROGRESS].includes(text)) },
    ])
  }
  expect(sent).toEqual(Array(2).fill([500, { error: 'The event could not be processed. Send it again.' }]))
  expect(await payments.moneyOf(paid, accountIds.paid)).toEqual(untouched)
  const overview = await paid.get(`${PAYMENTS}/payout`) // reads only the database
  expect([overview.status, overview.body.availableCents]).toEqual([200, EARNED_CENTS])
  expect((await known.get('/api/client/profile')).body.billing_ready).toBe(false)

  await recover(payments, fault)
  const works = async (item: (typeof fixture.requests)[number]) => {
    const answer = await request(item)
    expect(answer.status, `${item[2]}: ${JSON.stringify(answer.body)}`).toBe(item[3])
  }
  for (const item of fixture.requests) {
    // A slow request may still be running when the client repeats it.
    if (fault === SLOW) await waitFor(() => works(item))
    else await works(item)
  }
  expect(await Promise.all(fixture.events.map((event) => deliverEvent(payments, event)))).toEqual(
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
}
