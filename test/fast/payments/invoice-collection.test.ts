import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { enqueueOpenInvoices, INVOICE_COLLECTIONS } from '../../../src/modules/payments/collection-queue.ts'
import {
  createInvoiceFixture,
  createInvoicing,
  type Invoicing,
} from '../../support/stripe/invoice-fixture.ts'
import { HOUR_MS, MINUTE_MS } from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'

let invoicing: Invoicing
beforeAll(async () => {
  invoicing = await createInvoicing()
})
afterAll(() => invoicing[Symbol.asyncDispose]())

test('a completed month becomes a Stripe invoice with a line for each session, and is PAID after the Stripe event', async () => {
  await using client = await invoicing.nextClient()
  const { owner, operator, users } = client
  const { customerId } = (await owner.post('/api/payments/customer')).body
  invoicing.stripe.books.saveMethod(customerId)
  await invoicing.sendEvent('customer.updated', customerId)

  const first = await client.drive(27)
  const second = await start(operator, users.robotId)
  invoicing.later(5 * MINUTE_MS)
  await performAction(operator, second, 'pause')
  invoicing.later(130_000)
  await performAction(operator, second, 'resume')
  invoicing.later(MINUTE_MS)
  const lastSignMs = invoicing.now().getTime()
  invoicing.later(12_000)
  await invoicing.gateway.lose(users.robotId, lastSignMs)
  await performAction(operator, second, 'end')
  await invoicing.closeMonth()
  await invoicing.run()

  const stripeInvoice = client.stripeInvoice()
  expect(stripeInvoice).toMatchObject({
    customer: customerId,
    status: 'open',
    collection_method: 'charge_automatically',
    amount_due: 1_650,
  })
  expect(stripeInvoice.lines).toMatchObject([
    { amount: 1_350, metadata: { line: first }, description: expect.stringMatching(/: 27 min at 50 cents$/) },
    {
      amount: 300,
      metadata: { line: second },
      description: expect.stringMatching(
        /: 6 min at 50 cents; paused for 2 min 10 s; robot disconnected for 12 s, not charged$/,
      ),
    },
  ])
  const [ours] = await client.list()
  expect(ours).toMatchObject({
    status: 'OPEN',
    total_cents: 1_650,
    hosted_url: stripeInvoice.hosted_invoice_url,
  })

  invoicing.invoices.pay(stripeInvoice.id)
  expect(await invoicing.sendEvent('invoice.paid', stripeInvoice.id)).toBe(200)
  expect(await client.list()).toMatchObject([
    { status: 'PAID', paid_at: new Date((stripeInvoice.paid_at ?? 0) * 1_000).toISOString() },
  ])
  expect(await client.balances()).toEqual({ receivable: 0, balance: 0, cash: 1_650 })
  expect(await client.invoiceNotifications()).toEqual(['invoice.issued', 'invoice.paid'])
})

test('GET /api/client/invoices/{id}: returns the charge of each session and its basis, in pages', async () => {
  await using client = await invoicing.nextClient()
  const { owner, operator, users } = client
  const begunMs = invoicing.now().getTime()
  const first = await client.drive(3)
  const second = await start(operator, users.robotId)
  invoicing.later(90_000)
  await performAction(owner, second, 'pause')
  invoicing.later(20_500)
  await performAction(operator, second, 'end')
  await invoicing.closeMonth()
  const [{ id }] = await client.list()
  const path = `/api/client/invoices/${id}`
  const { status, body } = await owner.get(path)
  expect(status).toBe(200)
  const { lines, ...head } = body
  expect(await client.list()).toEqual([head])
  expect(lines).toEqual([
    {
      session_id: first,
      robot_name: expect.any(String),
      robot_type: 'testbot',
      operator_name: operator.name,
      started_at: new Date(begunMs).toISOString(),
      ended_at: new Date(begunMs + 3 * MINUTE_MS).toISOString(),
      minutes: 3,
      paused_seconds: 0,
      outage_seconds: 0,
      rate_cents_per_minute: 50,
      amount_cents: 150,
    },
    expect.objectContaining({ session_id: second, minutes: 2, paused_seconds: 20, amount_cents: 100 }),
  ])
  expect((await owner.get(`${path}?limit=1&offset=1`)).body.lines).toEqual([lines[1]])
  expect((await owner.get(`${path}?limit=101`)).status).toBe(400)
  for (const other of [await invoicing.world.client(), operator]) {
    expect((await other.get(path)).status).toBe(other === operator ? 403 : 404)
  }
})

test('Stripe sends the invoice to a client without a saved payment method', async () => {
  await using client = await invoicing.nextClient()
  await client.drive(4)
  await invoicing.closeMonth()
  await invoicing.run()
  expect(client.stripeInvoice()).toMatchObject({ status: 'open', collection_method: 'send_invoice' })
})

test('combines sessions into one line per day if they exceed the Stripe line limit', async () => {
  await using client = await invoicing.nextClient()
  const day = invoicing.now().toISOString().slice(0, 10)
  const id = await client.drive(2)
  await sql`
    insert into sessions
    select copy.* from sessions, generate_series(1, 260) n, lateral jsonb_populate_record(sessions, jsonb_build_object(
      'id', gen_random_uuid(), 'started_at', started_at + n * interval '1 hour', 'ended_at', ended_at + n * interval '1 hour'
    )) copy where sessions.id = ${id}`.execute(invoicing.world.platform.core.db)
  await invoicing.closeMonth()
  await invoicing.run()
  const stripeInvoice = client.stripeInvoice()
  expect(stripeInvoice).toMatchObject({ status: 'open', amount_due: 261 * 100 })
  expect(stripeInvoice.lines[0]).toMatchObject({ description: `${day} (UTC): 12 sessions, 24 min` })
  expect(stripeInvoice.lines).toHaveLength(12)
})

describe('the status of an invoice follows Stripe', () => {
  /** Creates a client with an open invoice of ten minutes at Stripe. */
  async function issued() {
    const client = await invoicing.nextClient()
    await client.drive(10)
    await invoicing.closeMonth()
    await invoicing.run()
    const { id } = client.stripeInvoice()
    const status = async () => (await client.list())[0].status
    return Object.assign(client, { id, status })
  }

  test('a processing payment is not FAILED; a rejected payment is FAILED until it succeeds', async () => {
    await using client = await issued()
    invoicing.invoices.begin(client.id)
    await invoicing.sendEvent('invoice.updated', client.id)
    expect(await client.status()).toBe('OPEN')
    invoicing.invoices.fail(client.id)
    await invoicing.sendEvent('invoice.payment_failed', client.id)
    await invoicing.sendEvent('invoice.payment_failed', client.id)
    expect(await client.status()).toBe('FAILED')
    expect(await client.balances()).toEqual({ receivable: 500, balance: 0, cash: 0 })
    invoicing.invoices.pay(client.id)
    await Promise.all(
      ['invoice.paid', 'invoice.updated', 'invoice.paid'].map((type) => invoicing.sendEvent(type, client.id)),
    )
    await invoicing.sendEvent('invoice.payment_failed', client.id) // the earlier event, delivered late
    expect(await client.status()).toBe('PAID')
    expect(await client.balances()).toEqual({ receivable: 0, balance: 0, cash: 500 })
    expect(await client.invoiceNotifications()).toEqual([
      'invoice.issued',
      'invoice.payment_failed',
      'invoice.paid',
    ])
  })

  test('a voided invoice is VOID at the platform’s cost, and the operator keeps the earnings', async () => {
    await using client = await issued()
    const earned = (await client.operator.get('/api/payments/payout')).body.pendingEarningsCents
    expect(earned).toBe(350)
    invoicing.invoices.end(client.id, 'void')
    await invoicing.sendEvent('invoice.voided', client.id)
    expect(await client.status()).toBe('VOID')
    expect(await client.balances()).toEqual({ receivable: 0, balance: 0, cash: 0 })
    expect((await client.operator.get('/api/payments/payout')).body.pendingEarningsCents).toBe(earned)
    expect(await client.invoiceNotifications()).toEqual(['invoice.issued', 'invoice.voided'])
  })

  test('an uncollectible invoice is FAILED and remains receivable', async () => {
    await using client = await issued()
    invoicing.invoices.end(client.id, 'uncollectible')
    await invoicing.sendEvent('invoice.marked_uncollectible', client.id)
    expect(await client.status()).toBe('FAILED')
    expect(await client.balances()).toMatchObject({ receivable: 500, cash: 0 })
  })

  test('an invoice paid outside Stripe is PAID without Stripe cash', async () => {
    await using client = await issued()
    invoicing.invoices.pay(client.id, { offStripe: true })
    await invoicing.sendEvent('invoice.paid', client.id)
    expect(await client.status()).toBe('PAID')
    expect(await client.balances()).toEqual({ receivable: 0, balance: 500, cash: 0 })
  })

  test('the worker queries Stripe when events are lost', async () => {
    await using client = await issued()
    invoicing.invoices.pay(client.id)
    invoicing.later(HOUR_MS)
    await invoicing.run()
    expect(await client.status()).toBe('OPEN')
    invoicing.later(6 * HOUR_MS)
    await invoicing.run()
    expect(await client.status()).toBe('PAID')
    const queries = () => invoicing.stripe.requests.filter(({ path }) => path.includes(client.id)).length
    const before = queries()
    invoicing.later(100 * HOUR_MS)
    await invoicing.run()
    expect(queries(), 'the worker does not query a settled invoice').toBe(before)
  })

  test('events of foreign invoices change nothing', async () => {
    await using client = await issued()
    const own = structuredClone(client.stripeInvoice())
    invoicing.invoices.all.set('in_foreign', { ...own, id: 'in_foreign', status: 'paid' })
    expect(await invoicing.sendEvent('invoice.paid', 'in_foreign')).toBe(200)
    expect(await client.status()).toBe('OPEN')
  })
})

test('carries an amount below the minimum over to the next invoice, and balances both', async () => {
  await using client = await invoicing.nextClient()
  const {
    core: { db },
  } = invoicing.world.platform
  await db
    .updateTable('pricing_plans')
    .set({ client_rate_cents_per_minute: 10 })
    .where('id', '=', 'fleet')
    .execute()
  const admin = await invoicing.world.admin()
  const assigned = await admin.post(`/api/admin/clients/${client.owner.id}/plan`, { plan: 'fleet' })
  expect(assigned.status).toBe(200)
  await client.drive(3)
  await invoicing.closeMonth()
  await invoicing.run()
  expect(await client.list()).toMatchObject([{ status: 'PAID', total_cents: 30 }])
  expect(await client.balances()).toEqual({ receivable: 0, balance: 30, cash: 0 })

  await client.drive(10)
  await invoicing.closeMonth()
  await invoicing.run()
  const stripeInvoice = client.stripeInvoices().at(-1)
  expect(stripeInvoice).toMatchObject({ amount_due: 130, status: 'open' })
  invoicing.invoices.pay(stripeInvoice?.id ?? '')
  await waitFor(async () => {
    await invoicing.sendEvent('invoice.paid', stripeInvoice?.id ?? '')
    expect((await client.list())[0]).toMatchObject({ status: 'PAID', total_cents: 100 })
  })
  expect(await client.balances()).toEqual({ receivable: 0, balance: 0, cash: 130 })
})

test('without a Stripe key a closed month stays pending; with a key it is collected', async () => {
  await using fixture = await createInvoiceFixture({ keyless: true, bus: 'redis' })
  await fixture.drive(4)
  await fixture.closeMonth()
  expect(fixture.world.platform.payments).toBeUndefined()
  expect(await fixture.list()).toMatchObject([{ status: 'OPEN', total_cents: 200, hosted_url: null }])

  const { platform } = await fixture.world.addNode('api', fixture.stripe.env)
  await enqueueOpenInvoices(platform.core.transact, fixture.now)
  await platform.core.jobs.runDue(INVOICE_COLLECTIONS)
  expect(fixture.stripeInvoice()).toMatchObject({ amount_due: 200, status: 'open' })
  expect(await fixture.list()).toMatchObject([
    { status: 'OPEN', hosted_url: fixture.stripeInvoice().hosted_invoice_url },
  ])
})
