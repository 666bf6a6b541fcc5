import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deliver, snapshotEvent, thinEvent, WEBHOOK_SECRET } from '../../support/stripe/events.ts'
import { createPaymentsFixture, type PaymentsFixture } from '../../support/stripe/payments-fixture.ts'

const MINUTE_MS = 60_000

let payments: PaymentsFixture
beforeAll(async () => {
  const env = { STRIPE_WEBHOOK_SECRET: `${WEBHOOK_SECRET},whsec_new` }
  payments = await createPaymentsFixture({ env })
})
afterAll(() => payments[Symbol.asyncDispose]())

const send = (event: object, how: Parameters<typeof deliver>[2] = {}) =>
  deliver(payments.world.baseUrl, event, how)

/** Creates a client with a customer at Stripe. */
async function createCustomer() {
  const client = await payments.world.client()
  const { customerId } = (await client.post('/api/payments/customer')).body
  const isReady = async () => (await client.get('/api/client/profile')).body.billing_ready
  return { customerId: customerId as string, isReady }
}

/** Creates an operator with earnings of this amount and a payout account. */
async function createPaidOperator(amountCents: number) {
  const operator = await payments.operator()
  const accountId = await payments.earn(operator, amountCents)
  return {
    operator,
    accountId,
    payable: async () => (await payments.moneyOf(operator, accountId)).payable,
    pay: () => operator.post('/api/payments/payout'),
  }
}

describe('an event', () => {
  test('is accepted with a signature of any secret within five minutes of the current time', async () => {
    const { customerId, isReady } = await createCustomer()
    payments.books.saveMethod(customerId)
    const event = () => snapshotEvent('customer.updated', { id: customerId })
    const refused = [
      { secret: 'whsec_other' },
      { signature: '' },
      { signature: 't=1,v1=00' },
      { atMs: Date.now() - 6 * MINUTE_MS },
      { atMs: Date.now() + 6 * MINUTE_MS },
    ]
    for (const how of refused) expect(await send(event(), how), JSON.stringify(how)).toBe(400)
    expect(await isReady()).toBe(false)
    expect(await send(event())).toBe(200)
    expect(await send(event(), { secret: 'whsec_new', atMs: Date.now() - 4 * MINUTE_MS })).toBe(200)
    expect(await isReady()).toBe(true)
  })

  test('of another mode, of an unknown type, or of an unknown object is accepted without effect', async () => {
    const { customerId, isReady } = await createCustomer()
    payments.books.saveMethod(customerId)
    const asked = payments.stripe.requests.length
    expect(await send(snapshotEvent('customer.updated', { id: customerId }, { livemode: true }))).toBe(200)
    expect(await send(snapshotEvent('charge.succeeded', { id: 'ch_1' }))).toBe(200)
    expect(payments.stripe.requests).toHaveLength(asked)
    expect(await send(snapshotEvent('customer.updated', { id: 'cus_unknown' }))).toBe(200)
    expect(await send(thinEvent('v2.core.account.updated', 'acct_unknown'))).toBe(200)
    expect(await isReady()).toBe(false)
  })

  test('is processed once despite repeated and concurrent deliveries', async () => {
    const { customerId, isReady } = await createCustomer()
    payments.books.saveMethod(customerId)
    const event = snapshotEvent('customer.updated', { id: customerId })
    expect(await Promise.all(Array.from({ length: 10 }, () => send(event)))).toEqual(Array(10).fill(200))
    expect(await isReady()).toBe(true)
    const asked = payments.stripe.requests.length
    expect(await send(event)).toBe(200)
    expect(payments.stripe.requests).toHaveLength(asked)
  })

  test('that fails is answered with 500, and succeeds on the next delivery', async () => {
    const { customerId, isReady } = await createCustomer()
    payments.books.saveMethod(customerId)
    const event = snapshotEvent('customer.updated', { id: customerId })
    payments.stripe.plan('drops', /customers/, 2)
    expect(await send(event)).toBe(500)
    expect(await isReady()).toBe(false)
    expect(await send(event)).toBe(200)
    expect(await isReady()).toBe(true)
    payments.recover()
  })
})

describe('payment methods', () => {
  test('the first payment method becomes the default and makes billing ready; without a method billing is not ready', async () => {
    const { customerId, isReady } = await createCustomer()
    const { books } = payments
    const first = books.saveMethod(customerId)
    const second = books.saveMethod(customerId)
    await send(snapshotEvent('setup_intent.succeeded', { id: 'seti_1', customer: customerId }))
    expect(await isReady()).toBe(true)
    expect(books.customers.get(customerId)?.invoice_settings.default_payment_method).toBe(first)
    const detached = (id: string) =>
      snapshotEvent(
        'payment_method.detached',
        { id, customer: null },
        { previous_attributes: { customer: customerId } },
      )
    books.removeMethod(second)
    await send(detached(second))
    expect(await isReady()).toBe(true)
    books.removeMethod(first)
    await send(detached(first))
    expect(await isReady()).toBe(false)
  })

  test('an overtaken event changes nothing, because the later query wins', async () => {
    const { customerId, isReady } = await createCustomer()
    const { books } = payments
    const method = books.saveMethod(customerId)
    // The first event queries Stripe while the method exists, and receives the answer late.
    const answered = Promise.withResolvers<void>()
    const query = new RegExp(`${customerId}/payment_methods$`)
    payments.stripe.plan({ answeredAfter: answered.promise }, query)
    const early = send(snapshotEvent('payment_method.attached', { id: method, customer: customerId }))
    await payments.stripe.whenRequested(query)
    books.removeMethod(method)
    const detached = snapshotEvent(
      'payment_method.detached',
      { id: method, customer: null },
      { previous_attributes: { customer: customerId } },
    )
    expect(await send(detached)).toBe(200)
    answered.resolve()
    expect(await early).toBe(200)
    expect(await isReady()).toBe(false)
  })
})

describe('payouts', () => {
  test('the payout account follows Stripe’s events', async () => {
    const { operator, accountId } = await createPaidOperator(1_000)
    const isReady = async () => (await operator.get('/api/operator/profile')).body.payout_ready
    const type = 'v2.core.account[configuration.recipient].capability_status_updated'
    expect(await send(thinEvent(type, accountId))).toBe(200)
    expect(await isReady()).toBe(true)
    payments.books.restrict(accountId, ['identity.individual.verification.document'])
    expect(await send(thinEvent('v2.core.account[requirements].updated', accountId))).toBe(200)
    expect(await isReady()).toBe(false)
  })

  test('a reversal at Stripe returns each cent to the operator’s earnings once', async () => {
    const { operator, accountId, payable, pay } = await createPaidOperator(5_000)
    expect((await pay()).body.status).toBe('PAID')
    const [{ id = '' } = {}] = payments.transfersTo(accountId)
    const reversed = () => send(snapshotEvent('transfer.reversed', { id }))
    payments.books.reverse(id, 2_000)
    expect(await Promise.all([reversed(), reversed(), reversed()])).toEqual([200, 200, 200])
    expect(await payable()).toBe(2_000)
    payments.books.reverse(id, 5_000)
    await reversed()
    expect(await payable()).toBe(5_000)
    const { notifications } = (await operator.get('/api/notifications')).body
    expect(notifications.slice(0, 2)).toMatchObject([
      { type: 'payout.reversed', data: { amount_cents: 3_000 } },
      { type: 'payout.reversed', data: { amount_cents: 2_000 } },
    ])
  })

  test('the event of a transfer settles a payout whose answer was lost, before the worker queries Stripe', async () => {
    const { operator, accountId, pay } = await createPaidOperator(2_000)
    payments.stripe.plan('drops after', /transfers$/, 2)
    expect((await pay()).body.status).toBe('PENDING')
    const [{ id = '' } = {}] = payments.transfersTo(accountId)
    expect(await send(snapshotEvent('transfer.created', { id }))).toBe(200)
    const { payouts, pendingCents } = (await operator.get('/api/payments/payout')).body
    expect([payouts[0].status, pendingCents]).toEqual(['PAID', 0])
    payments.recover()
  })

  test('ignores foreign transfers', async () => {
    const { operator } = await createPaidOperator(2_000)
    const { books } = payments
    for (const transfer_group of [null, 'by hand', crypto.randomUUID()]) {
      const id = `tr_by_hand_${books.transfers.length}`
      const foreign = {
        id,
        object: 'transfer' as const,
        amount: 100,
        amount_reversed: 100,
        reversed: true,
      }
      books.transfers.push({ ...foreign, destination: 'acct_1', transfer_group })
      expect(await send(snapshotEvent('transfer.reversed', { id }))).toBe(200)
    }
    expect((await operator.get('/api/payments/payout')).body.payouts).toEqual([])
  })
})
