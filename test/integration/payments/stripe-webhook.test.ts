import { describe, expect, test } from 'vitest'
import { balance, post } from '../../../src/modules/billing/ledger.ts'
import { deliver, snapshotEvent, thinEvent } from '../../support/stripe/events.ts'
import { startStripe } from '../../support/stripe/server.ts'
import { createWorld } from '../../support/world/world.ts'

const MINUTE_MS = 60_000

async function createFixture(env: Record<string, string> = {}) {
  const stripe = await startStripe()
  const world = await createWorld({ env: { ...stripe.env, ...env } })
  return {
    stripe,
    world,
    send: (event: object, how: Parameters<typeof deliver>[2] = {}) => deliver(world.baseUrl, event, how),
    async customer() {
      const client = await world.client()
      const { customerId } = (await client.post('/api/payments/customer')).body
      const isReady = async () => (await client.get('/api/client/profile')).body.billing_ready
      return { client, customerId: customerId as string, isReady }
    },
    /** Creates an operator with earnings of this amount and a payout account. */
    async paidOperator(amountCents: number) {
      const operator = await world.operator()
      await operator.post('/api/operator/profile', { country: 'DE' })
      await operator.post('/api/payments/connect')
      stripe.books.finishOnboarding([...stripe.books.recipients.keys()].at(-1) as string)
      const {
        core: { db, transact },
      } = world.platform
      const lines = [
        { account: 'operator_payable' as const, userId: operator.id, amountCents: -amountCents },
        { account: 'platform_revenue' as const, amountCents },
      ]
      await transact((tx) => post(tx, { kind: 'test_earnings', at: new Date(), lines }))
      const payable = async () => 0 - (await balance(db, 'operator_payable', operator.id))
      return { operator, payable, pay: () => operator.post('/api/payments/payout') }
    },
    forgiveErrors: () => void world.errors.splice(0),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await stripe[Symbol.asyncDispose]()
    },
  }
}

describe('an event', () => {
  test('is accepted with a signature of any secret within five minutes of the current time', async () => {
    await using fixture = await createFixture({ STRIPE_WEBHOOK_SECRET: 'whsec_old,whsec_new' })
    const { customerId, isReady } = await fixture.customer()
    fixture.stripe.books.saveMethod(customerId)
    const event = () => snapshotEvent('customer.updated', { id: customerId })
    const refused = [
      { secret: 'whsec_other' },
      { secret: 'whsec_old', signature: '' },
      { secret: 'whsec_old', signature: 't=1,v1=00' },
      { secret: 'whsec_old', atMs: Date.now() - 6 * MINUTE_MS },
      { secret: 'whsec_old', atMs: Date.now() + 6 * MINUTE_MS },
    ]
    for (const how of refused) expect(await fixture.send(event(), how), JSON.stringify(how)).toBe(400)
    expect(await isReady()).toBe(false)
    expect(await fixture.send(event(), { secret: 'whsec_old' })).toBe(200)
    expect(await fixture.send(event(), { secret: 'whsec_new', atMs: Date.now() - 4 * MINUTE_MS })).toBe(200)
    expect(await isReady()).toBe(true)
  })

  test('of another mode, of an unknown type, or of an unknown object is accepted without effect', async () => {
    await using fixture = await createFixture()
    const { customerId, isReady } = await fixture.customer()
    fixture.stripe.books.saveMethod(customerId)
    const asked = fixture.stripe.requests.length
    expect(
      await fixture.send(snapshotEvent('customer.updated', { id: customerId }, { livemode: true })),
    ).toBe(200)
    expect(await fixture.send(snapshotEvent('charge.succeeded', { id: 'ch_1' }))).toBe(200)
    expect(fixture.stripe.requests).toHaveLength(asked)
    expect(await fixture.send(snapshotEvent('customer.updated', { id: 'cus_unknown' }))).toBe(200)
    expect(await fixture.send(thinEvent('v2.core.account.updated', 'acct_unknown'))).toBe(200)
    expect(await isReady()).toBe(false)
  })

  test('is processed once despite repeated and concurrent deliveries', async () => {
    await using fixture = await createFixture()
    const { customerId, isReady } = await fixture.customer()
    fixture.stripe.books.saveMethod(customerId)
    const event = snapshotEvent('customer.updated', { id: customerId })
    expect(await Promise.all(Array.from({ length: 10 }, () => fixture.send(event)))).toEqual(
      Array(10).fill(200),
    )
    expect(await isReady()).toBe(true)
    const asked = fixture.stripe.requests.length
    expect(await fixture.send(event)).toBe(200)
    expect(fixture.stripe.requests).toHaveLength(asked)
  })

  test('that fails is answered with 500, and succeeds on the next delivery', async () => {
    await using fixture = await createFixture()
    const { customerId, isReady } = await fixture.customer()
    fixture.stripe.books.saveMethod(customerId)
    const event = snapshotEvent('customer.updated', { id: customerId })
    fixture.stripe.plan('drops', /customers/, 2)
    expect(await fixture.send(event)).toBe(500)
    expect(await isReady()).toBe(false)
    expect(await fixture.send(event)).toBe(200)
    expect(await isReady()).toBe(true)
    fixture.forgiveErrors()
  })

  test('on a platform without payments is rejected with 503', async () => {
    await using world = await createWorld()
    expect(await deliver(world.baseUrl, snapshotEvent('customer.updated', { id: 'cus_1' }))).toBe(503)
  })
})

describe('payment methods', () => {
  test('the first payment method becomes the default and makes billing ready; without a method billing is not ready', async () => {
    await using fixture = await createFixture()
    const { customerId, isReady } = await fixture.customer()
    const { books } = fixture.stripe
    const first = books.saveMethod(customerId)
    const second = books.saveMethod(customerId)
    await fixture.send(snapshotEvent('setup_intent.succeeded', { id: 'seti_1', customer: customerId }))
    expect(await isReady()).toBe(true)
    expect(books.customers.get(customerId)?.invoice_settings.default_payment_method).toBe(first)
    const detached = (id: string) =>
      snapshotEvent(
        'payment_method.detached',
        { id, customer: null },
        { previous_attributes: { customer: customerId } },
      )
    books.removeMethod(second)
    await fixture.send(detached(second))
    expect(await isReady()).toBe(true)
    books.removeMethod(first)
    await fixture.send(detached(first))
    expect(await isReady()).toBe(false)
  })

  test('an overtaken event changes nothing, because the later query wins', async () => {
    await using fixture = await createFixture()
    const { customerId, isReady } = await fixture.customer()
    const { books } = fixture.stripe
    const method = books.saveMethod(customerId)
    // The first event queries Stripe while the method exists, and receives the answer late.
    fixture.stripe.plan({ answeredLateMs: 1_000 }, /payment_methods$/)
    const early = fixture.send(snapshotEvent('payment_method.attached', { id: method, customer: customerId }))
    await fixture.stripe.whenRequested(/payment_methods$/)
    books.removeMethod(method)
    const detached = snapshotEvent(
      'payment_method.detached',
      { id: method, customer: null },
      { previous_attributes: { customer: customerId } },
    )
    expect(await fixture.send(detached)).toBe(200)
    expect(await early).toBe(200)
    expect(await isReady()).toBe(false)
  })
})

describe('payouts', () => {
  test('the payout account follows Stripe’s events', async () => {
    await using fixture = await createFixture()
    const { operator } = await fixture.paidOperator(1_000)
    const [accountId = ''] = fixture.stripe.books.recipients.keys()
    const isReady = async () => (await operator.get('/api/operator/profile')).body.payout_ready
    const type = 'v2.core.account[configuration.recipient].capability_status_updated'
    expect(await fixture.send(thinEvent(type, accountId))).toBe(200)
    expect(await isReady()).toBe(true)
    fixture.stripe.books.restrict(accountId, ['identity.individual.verification.document'])
    expect(await fixture.send(thinEvent('v2.core.account[requirements].updated', accountId))).toBe(200)
    expect(await isReady()).toBe(false)
  })

  test('a reversal at Stripe returns each cent to the operator’s earnings once', async () => {
    await using fixture = await createFixture()
    const { operator, payable, pay } = await fixture.paidOperator(5_000)
    expect((await pay()).body.status).toBe('PAID')
    const [{ id = '' } = {}] = fixture.stripe.books.transfers
    const reversed = () => fixture.send(snapshotEvent('transfer.reversed', { id }))
    fixture.stripe.books.reverse(id, 2_000)
    expect(await Promise.all([reversed(), reversed(), reversed()])).toEqual([200, 200, 200])
    expect(await payable()).toBe(2_000)
    fixture.stripe.books.reverse(id, 5_000)
    await reversed()
    expect(await payable()).toBe(5_000)
    const { notifications } = (await operator.get('/api/notifications')).body
    expect(notifications.slice(0, 2)).toMatchObject([
      { type: 'payout.reversed', data: { amount_cents: 3_000 } },
      { type: 'payout.reversed', data: { amount_cents: 2_000 } },
    ])
  })

  test('the event of a transfer settles a payout whose answer was lost, before the worker queries Stripe', async () => {
    await using fixture = await createFixture()
    const { operator, pay } = await fixture.paidOperator(2_000)
    fixture.stripe.plan('drops after', /transfers$/, 2)
    expect((await pay()).body.status).toBe('PENDING')
    const [{ id = '' } = {}] = fixture.stripe.books.transfers
    expect(await fixture.send(snapshotEvent('transfer.created', { id }))).toBe(200)
    const { payouts, pendingCents } = (await operator.get('/api/payments/payout')).body
    expect([payouts[0].status, pendingCents]).toEqual(['PAID', 0])
    fixture.forgiveErrors()
  })

  test('ignores foreign transfers', async () => {
    await using fixture = await createFixture()
    const { operator } = await fixture.paidOperator(2_000)
    const { books } = fixture.stripe
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
      expect(await fixture.send(snapshotEvent('transfer.reversed', { id }))).toBe(200)
    }
    expect((await operator.get('/api/payments/payout')).body.payouts).toEqual([])
  })
})
