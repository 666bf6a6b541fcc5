import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { enqueueOpenInvoices, INVOICE_COLLECTIONS } from '../../../src/modules/payments/collection-queue.ts'
import { createInvoiceFixture } from '../../support/stripe/invoice-fixture.ts'
import type { StripeFault } from '../../support/stripe/server.ts'
import { HOUR_MS, MINUTE_MS } from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'

test('a completed month becomes a Stripe invoice with a line for each session, and is PAID after the Stripe event', async () => {
  await using fixture = await createInvoiceFixture()
  const { owner, users } = fixture
  const { customerId } = (await owner.post('/api/payments/customer')).body
  fixture.stripe.books.saveMethod(customerId)
  await fixture.sendEvent('customer.updated', customerId)

  const first = await fixture.drive(27)
  const second = await start(fixture.operator, users.robotId)
  fixture.later(5 * MINUTE_MS)
  await performAction(fixture.operator, second, 'pause')
  fixture.later(130_000)
  await performAction(fixture.operator, second, 'resume')
  fixture.later(MINUTE_MS)
  const lastSignMs = fixture.now().getTime()
  fixture.later(12_000)
  await fixture.gateway.lose(users.robotId, lastSignMs)
  await performAction(fixture.operator, second, 'end')
  await fixture.closeMonth()
  await fixture.run()

  const stripeInvoice = fixture.stripeInvoice()
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
  const [ours] = await fixture.list()
  expect(ours).toMatchObject({
    status: 'OPEN',
    total_cents: 1_650,
    hosted_url: stripeInvoice.hosted_invoice_url,
  })

  fixture.invoices.pay(stripeInvoice.id)
  expect(await fixture.sendEvent('invoice.paid', stripeInvoice.id)).toBe(200)
  expect(await fixture.list()).toMatchObject([
    { status: 'PAID', paid_at: new Date((stripeInvoice.paid_at ?? 0) * 1_000).toISOString() },
  ])
  expect(await fixture.balances()).toEqual({ receivable: 0, balance: 0, cash: 1_650 })
  expect(await fixture.invoiceNotifications()).toEqual(['invoice.issued', 'invoice.paid'])
})

test('GET /api/client/invoices/{id}: returns the charge of each session and its basis, in pages', async () => {
  await using fixture = await createInvoiceFixture()
  const { owner, users } = fixture
  const first = await fixture.drive(3)
  const second = await start(fixture.operator, users.robotId)
  fixture.later(90_000)
  await performAction(owner, second, 'pause')
  fixture.later(20_500)
  await performAction(fixture.operator, second, 'end')
  await fixture.closeMonth()
  const [{ id }] = await fixture.list()
  const path = `/api/client/invoices/${id}`
  const { status, body } = await owner.get(path)
  expect(status).toBe(200)
  const { lines, ...head } = body
  expect(await fixture.list()).toEqual([head])
  expect(lines).toEqual([
    {
      session_id: first,
      robot_name: expect.any(String),
      robot_type: 'testbot',
      operator_name: fixture.operator.name,
      started_at: '2026-01-15T12:00:00.000Z',
      ended_at: '2026-01-15T12:03:00.000Z',
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
  for (const other of [await fixture.world.client(), fixture.operator]) {
    expect((await other.get(path)).status).toBe(other === fixture.operator ? 403 : 404)
  }
})

test('Stripe sends the invoice to a client without a saved payment method', async () => {
  await using fixture = await createInvoiceFixture()
  await fixture.drive(4)
  await fixture.closeMonth()
  await fixture.run()
  expect(fixture.stripeInvoice()).toMatchObject({ status: 'open', collection_method: 'send_invoice' })
})

describe.concurrent('Stripe failures', () => {
  const faults: StripeFault[] = ['drops', 'drops after', 'fails', 'fails after']
  const steps: [RegExp, string][] = [
    [/\/customers$/, 'POST'],
    [/\/invoices$/, 'POST'],
    [/\/lines$/, 'GET'],
    [/\/add_lines$/, 'POST'],
    [/\/finalize$/, 'POST'],
    [/\/invoices\/\w+$/, 'GET'],
  ]
  const cases = faults.flatMap((fault) => [false, true].map((forgets) => [fault, forgets] as const))
  test.for(cases)(
    '%j at every step, idempotency keys forgotten: %j: the collection creates one invoice',

    async ([fault, forgets]) => {
      await using fixture = await createInvoiceFixture()
      for (const minutes of [2, 5, 9]) await fixture.drive(minutes)
      await fixture.closeMonth()
      // The Stripe library sends each request twice.
      for (const [path, method] of steps) fixture.stripe.plan(fault, path, 2, method)
      for (let run = 0; run < 16; run++) {
        await Promise.all([fixture.run(), fixture.run()])
        fixture.later(2 * HOUR_MS)
        if (forgets) fixture.stripe.forgetKeys()
      }
      const collected = [...fixture.invoices.all.values()].filter(({ status }) => status !== 'draft')
      expect(collected).toMatchObject([{ status: 'open', amount_due: 800 }])
      expect(collected[0]?.lines.map(({ amount }) => amount)).toEqual([100, 250, 450])
      expect(await fixture.list()).toMatchObject([{ hosted_url: collected[0]?.hosted_invoice_url }])
      fixture.forgiveErrors()
    },
  )

  test('the collection recreates a draft that was deleted at Stripe', async () => {
    await using fixture = await createInvoiceFixture()
    await fixture.drive(4)
    await fixture.closeMonth()
    fixture.stripe.plan('fails', /add_lines$/, 2)
    await fixture.run()
    fixture.invoices.delete(fixture.stripeInvoice().id)
    for (let hour = 0; hour < 3; hour++) {
      fixture.later(HOUR_MS)
      await fixture.run()
    }
    expect(fixture.stripeInvoice()).toMatchObject({ status: 'open', amount_due: 200 })
    fixture.forgiveErrors()
  })

  test('the collection creates a new customer if Stripe has lost the customer', async () => {
    await using fixture = await createInvoiceFixture()
    const { customerId } = (await fixture.owner.post('/api/payments/customer')).body
    fixture.stripe.books.forget(customerId)
    await fixture.drive(4)
    await fixture.closeMonth()
    await fixture.run()
    expect(fixture.stripeInvoice()).toMatchObject({ status: 'open', amount_due: 200 })
    expect(fixture.stripeInvoice().customer).not.toBe(customerId)
  })

  test('the collection does not finalize a draft with an extra line until the line is removed', async () => {
    await using fixture = await createInvoiceFixture()
    await fixture.drive(4)
    await fixture.closeMonth()
    fixture.stripe.plan('fails', /add_lines$/, 2)
    await fixture.run()
    const stripeInvoice = fixture.stripeInvoice()
    stripeInvoice.lines.push({
      id: 'il_foreign',
      object: 'line_item' as const,
      amount: 1,
      description: 'by hand',
      metadata: {},
      period: { start: 0, end: 0 },
    })
    fixture.later(HOUR_MS)
    await fixture.run()
    expect(stripeInvoice.status).toBe('draft')
    const {
      core: { db },
    } = fixture.world.platform
    const { failure } = await db.selectFrom('invoice_collections').select('failure').executeTakeFirstOrThrow()
    expect(failure).toContain('201')
    stripeInvoice.lines.shift()
    fixture.later(HOUR_MS)
    await fixture.run()
    expect(stripeInvoice).toMatchObject({ status: 'open', amount_due: 200 })
    fixture.forgiveErrors()
  })
})

test('combines sessions into one line per day if they exceed the Stripe line limit', async () => {
  await using fixture = await createInvoiceFixture()
  const {
    core: { db },
  } = fixture.world.platform
  const id = await fixture.drive(2)
  await sql`
    insert into sessions
    select copy.* from sessions, generate_series(1, 260) n, lateral jsonb_populate_record(sessions, jsonb_build_object(
      'id', gen_random_uuid(), 'started_at', started_at + n * interval '1 hour', 'ended_at', ended_at + n * interval '1 hour'
    )) copy where sessions.id = ${id}`.execute(db)
  await fixture.closeMonth()
  await fixture.run()
  const stripeInvoice = fixture.stripeInvoice()
  expect(stripeInvoice).toMatchObject({ status: 'open', amount_due: 261 * 100 })
  expect(stripeInvoice.lines[0]).toMatchObject({ description: '2026-01-15 (UTC): 12 sessions, 24 min' })
  expect(stripeInvoice.lines).toHaveLength(12)
})

describe('the status of an invoice follows Stripe', () => {
  async function issued() {
    const fixture = await createInvoiceFixture()
    await fixture.drive(10)
    await fixture.closeMonth()
    await fixture.run()
    const { id } = fixture.stripeInvoice()
    const status = async () => (await fixture.list())[0].status
    return Object.assign(fixture, { id, status })
  }

  test('a processing payment is not FAILED; a rejected payment is FAILED until it succeeds', async () => {
    await using fixture = await issued()
    fixture.invoices.begin(fixture.id)
    await fixture.sendEvent('invoice.updated', fixture.id)
    expect(await fixture.status()).toBe('OPEN')
    fixture.invoices.fail(fixture.id)
    await fixture.sendEvent('invoice.payment_failed', fixture.id)
    await fixture.sendEvent('invoice.payment_failed', fixture.id)
    expect(await fixture.status()).toBe('FAILED')
    expect(await fixture.balances()).toEqual({ receivable: 500, balance: 0, cash: 0 })
    fixture.invoices.pay(fixture.id)
    await Promise.all(
      ['invoice.paid', 'invoice.updated', 'invoice.paid'].map((type) => fixture.sendEvent(type, fixture.id)),
    )
    await fixture.sendEvent('invoice.payment_failed', fixture.id) // the earlier event, delivered late
    expect(await fixture.status()).toBe('PAID')
    expect(await fixture.balances()).toEqual({ receivable: 0, balance: 0, cash: 500 })
    expect(await fixture.invoiceNotifications()).toEqual([
      'invoice.issued',
      'invoice.payment_failed',
      'invoice.paid',
    ])
  })

  test('a voided invoice is VOID at the platform’s cost, and the operator keeps the earnings', async () => {
    await using fixture = await issued()
    const earned = (await fixture.operator.get('/api/payments/payout')).body.pendingEarningsCents
    expect(earned).toBe(350)
    fixture.invoices.end(fixture.id, 'void')
    await fixture.sendEvent('invoice.voided', fixture.id)
    expect(await fixture.status()).toBe('VOID')
    expect(await fixture.balances()).toEqual({ receivable: 0, balance: 0, cash: 0 })
    expect((await fixture.operator.get('/api/payments/payout')).body.pendingEarningsCents).toBe(earned)
    expect(await fixture.invoiceNotifications()).toEqual(['invoice.issued', 'invoice.voided'])
  })

  test('an uncollectible invoice is FAILED and remains receivable', async () => {
    await using fixture = await issued()
    fixture.invoices.end(fixture.id, 'uncollectible')
    await fixture.sendEvent('invoice.marked_uncollectible', fixture.id)
    expect(await fixture.status()).toBe('FAILED')
    expect(await fixture.balances()).toMatchObject({ receivable: 500, cash: 0 })
  })

  test('an invoice paid outside Stripe is PAID without Stripe cash', async () => {
    await using fixture = await issued()
    fixture.invoices.pay(fixture.id, { offStripe: true })
    await fixture.sendEvent('invoice.paid', fixture.id)
    expect(await fixture.status()).toBe('PAID')
    expect(await fixture.balances()).toEqual({ receivable: 0, balance: 500, cash: 0 })
  })

  test('the worker queries Stripe when events are lost', async () => {
    await using fixture = await issued()
    fixture.invoices.pay(fixture.id)
    fixture.later(HOUR_MS)
    await fixture.run()
    expect(await fixture.status()).toBe('OPEN')
    fixture.later(6 * HOUR_MS)
    await fixture.run()
    expect(await fixture.status()).toBe('PAID')
    const asked = fixture.stripe.requests.length
    fixture.later(100 * HOUR_MS)
    await fixture.run()
    expect(fixture.stripe.requests, 'the worker does not query a settled invoice').toHaveLength(asked)
  })

  test('events of foreign invoices change nothing', async () => {
    await using fixture = await issued()
    const own = structuredClone(fixture.stripeInvoice())
    fixture.invoices.all.set('in_foreign', { ...own, id: 'in_foreign', status: 'paid' })
    expect(await fixture.sendEvent('invoice.paid', 'in_foreign')).toBe(200)
    expect(await fixture.status()).toBe('OPEN')
  })
})

test('carries an amount below the minimum over to the next invoice, and balances both', async () => {
  await using fixture = await createInvoiceFixture()
  await fixture.world.platform.core.db
    .updateTable('pricing_plans')
    .set({ client_rate_cents_per_minute: 10 })
    .execute()
  await fixture.drive(3)
  await fixture.closeMonth()
  await fixture.run()
  expect(await fixture.list()).toMatchObject([{ status: 'PAID', total_cents: 30 }])
  expect(await fixture.balances()).toEqual({ receivable: 0, balance: 30, cash: 0 })

  await fixture.drive(10)
  await fixture.closeMonth()
  await fixture.run()
  const stripeInvoice = [...fixture.invoices.all.values()].at(-1)
  expect(stripeInvoice).toMatchObject({ amount_due: 130, status: 'open' })
  fixture.invoices.pay(stripeInvoice?.id ?? '')
  await waitFor(async () => {
    await fixture.sendEvent('invoice.paid', stripeInvoice?.id ?? '')
    expect((await fixture.list())[0]).toMatchObject({ status: 'PAID', total_cents: 100 })
  })
  expect(await fixture.balances()).toEqual({ receivable: 0, balance: 0, cash: 130 })
})

test('concurrent workers collect each month once, including earlier months', async () => {
  await using fixture = await createInvoiceFixture()
  const {
    core: { db },
  } = fixture.world.platform
  await fixture.drive(2)
  await fixture.closeMonth()
  await fixture.drive(4)
  await fixture.closeMonth()
  await Promise.all([fixture.run(), fixture.run(), fixture.run()])
  await Promise.all([fixture.run(), fixture.run(), fixture.run()])
  expect([...fixture.invoices.all.values()].map(({ amount_due }) => amount_due).sort()).toEqual([100, 200])
  const rows = await db.selectFrom('invoice_collections').select('failure').execute()
  expect(rows).toEqual([{ failure: null }, { failure: null }])
})

test('without a Stripe key a closed month stays pending; with a key it is collected', async () => {
  await using fixture = await createInvoiceFixture({ keyless: true })
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
