import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { HOUR_MS, MINUTE_MS } from './support/billing.ts'
import { act, start } from './support/cast.ts'
import { createInvoiceStage } from './support/stripe/invoice-stage.ts'
import type { Mishap } from './support/stripe/server.ts'

test('a month that is over is an invoice at the provider, with a line for each session, and is PAID when it says so', async () => {
  await using stage = await createInvoiceStage()
  const { owner, people } = stage
  const { customerId } = (await owner.post('/api/payments/customer')).body
  stage.stripe.books.saveMethod(customerId)
  await stage.tell('customer.updated', customerId)

  const first = await stage.drive(27)
  const second = await start(stage.operator, people.robotId)
  stage.later(5 * MINUTE_MS)
  await act(stage.operator, second, 'pause')
  stage.later(130_000)
  await act(stage.operator, second, 'resume')
  stage.later(MINUTE_MS)
  const lastSignMs = stage.now().getTime()
  stage.later(12_000)
  await stage.gateway.lose(people.robotId, lastSignMs)
  await act(stage.operator, second, 'end')
  await stage.closeMonth()
  await stage.run()

  const theirs = stage.theirs()
  expect(theirs).toMatchObject({
    ...{ customer: customerId, status: 'open', collection_method: 'charge_automatically' },
    ...{ amount_due: 1_650 },
  })
  expect(theirs.lines).toMatchObject([
    { amount: 1_350, metadata: { line: first }, description: expect.stringMatching(/: 27 min at 50 cents$/) },
    {
      ...{ amount: 300, metadata: { line: second } },
      description: expect.stringMatching(
        /: 6 min at 50 cents; paused for 2 min 10 s; robot away for 12 s, not charged$/,
      ),
    },
  ])
  const [ours] = await stage.list()
  expect(ours).toMatchObject({ status: 'OPEN', total_cents: 1_650, hosted_url: theirs.hosted_invoice_url })

  stage.invoices.pay(theirs.id)
  expect(await stage.tell('invoice.paid', theirs.id)).toBe(200)
  expect(await stage.list()).toMatchObject([
    { status: 'PAID', paid_at: new Date((theirs.paid_at ?? 0) * 1_000).toISOString() },
  ])
  expect(await stage.balances()).toEqual({ receivable: 0, balance: 0, cash: 1_650 })
  expect(await stage.told()).toEqual(['invoice.issued', 'invoice.paid'])
})

test('GET /api/client/invoices/{id}: what each session on it cost, and why, page by page', async () => {
  await using stage = await createInvoiceStage()
  const { owner, people } = stage
  const first = await stage.drive(3)
  const second = await start(stage.operator, people.robotId)
  stage.later(90_000)
  await act(owner, second, 'pause')
  stage.later(20_500)
  await act(stage.operator, second, 'end')
  await stage.closeMonth()
  const [{ id }] = await stage.list()
  const path = `/api/client/invoices/${id}`
  const { status, body } = await owner.get(path)
  expect(status).toBe(200)
  const { lines, ...head } = body
  expect(await stage.list()).toEqual([head])
  expect(lines).toEqual([
    {
      ...{
        session_id: first,
        robot_name: expect.any(String),
        robot_type: 'testbot',
        operator_name: stage.operator.name,
      },
      ...{ started_at: '2026-01-15T12:00:00.000Z', ended_at: '2026-01-15T12:03:00.000Z' },
      ...{ minutes: 3, paused_seconds: 0, outage_seconds: 0, rate_cents_per_minute: 50, amount_cents: 150 },
    },
    expect.objectContaining({ session_id: second, minutes: 2, paused_seconds: 20, amount_cents: 100 }),
  ])
  expect((await owner.get(`${path}?limit=1&offset=1`)).body.lines).toEqual([lines[1]])
  expect((await owner.get(`${path}?limit=101`)).status).toBe(400)
  for (const other of [await stage.world.client(), stage.operator]) {
    expect((await other.get(path)).status).toBe(other === stage.operator ? 403 : 404)
  }
})

test('who has saved no payment method is sent the invoice', async () => {
  await using stage = await createInvoiceStage()
  await stage.drive(4)
  await stage.closeMonth()
  await stage.run()
  expect(stage.theirs()).toMatchObject({ status: 'open', collection_method: 'send_invoice' })
})

describe.concurrent('the provider', () => {
  const mishaps: Mishap[] = ['drops', 'drops after', 'fails', 'fails after']
  const steps: [RegExp, string][] = [
    [/\/customers$/, 'POST'],
    [/\/invoices$/, 'POST'],
    [/\/lines$/, 'GET'],
    [/\/add_lines$/, 'POST'],
    [/\/finalize$/, 'POST'],
    [/\/invoices\/\w+$/, 'GET'],
  ]
  const cases = mishaps.flatMap((mishap) => [false, true].map((forgets) => [mishap, forgets] as const))
  test.for(cases)(
    '%j at every step, its memory of keys lost meanwhile: %j: one invoice all the same',
    { timeout: 60_000 },
    async ([mishap, forgets]) => {
      await using stage = await createInvoiceStage()
      for (const minutes of [2, 5, 9]) await stage.drive(minutes)
      await stage.closeMonth()
      // The library asks twice.
      for (const [path, method] of steps) stage.stripe.plan(mishap, path, 2, method)
      for (let run = 0; run < 16; run++) {
        await Promise.all([stage.run(), stage.run()])
        stage.later(2 * HOUR_MS)
        if (forgets) stage.stripe.forgetKeys()
      }
      const collected = [...stage.invoices.all.values()].filter(({ status }) => status !== 'draft')
      expect(collected).toMatchObject([{ status: 'open', amount_due: 800 }])
      expect(collected[0]?.lines.map(({ amount }) => amount)).toEqual([100, 250, 450])
      expect(await stage.list()).toMatchObject([{ hosted_url: collected[0]?.hosted_invoice_url }])
      stage.forgiveErrors()
    },
  )

  test('loses a draft that somebody deleted there: it is made anew', async () => {
    await using stage = await createInvoiceStage()
    await stage.drive(4)
    await stage.closeMonth()
    stage.stripe.plan('fails', /add_lines$/, 2)
    await stage.run()
    stage.invoices.delete(stage.theirs().id)
    for (let hour = 0; hour < 3; hour++) {
      stage.later(HOUR_MS)
      await stage.run()
    }
    expect(stage.theirs()).toMatchObject({ status: 'open', amount_due: 200 })
    stage.forgiveErrors()
  })

  test('lost the customer: the invoice is made for a new one', async () => {
    await using stage = await createInvoiceStage()
    const { customerId } = (await stage.owner.post('/api/payments/customer')).body
    stage.stripe.books.forget(customerId)
    await stage.drive(4)
    await stage.closeMonth()
    await stage.run()
    expect(stage.theirs()).toMatchObject({ status: 'open', amount_due: 200 })
    expect(stage.theirs().customer).not.toBe(customerId)
  })

  test('has a line too many on the draft: it is not charged until that is gone', async () => {
    await using stage = await createInvoiceStage()
    await stage.drive(4)
    await stage.closeMonth()
    stage.stripe.plan('fails', /add_lines$/, 2)
    await stage.run()
    const theirs = stage.theirs()
    theirs.lines.push({
      ...{ id: 'il_foreign', object: 'line_item' as const, amount: 1, description: 'by hand', metadata: {} },
      period: { start: 0, end: 0 },
    })
    stage.later(HOUR_MS)
    await stage.run()
    expect(theirs.status).toBe('draft')
    const { db } = stage.world.platform
    const { failure } = await db.selectFrom('invoice_collections').select('failure').executeTakeFirstOrThrow()
    expect(failure).toContain('201')
    theirs.lines.shift()
    stage.later(HOUR_MS)
    await stage.run()
    expect(theirs).toMatchObject({ status: 'open', amount_due: 200 })
    stage.forgiveErrors()
  })
})

test('more sessions than the provider takes lines: a line for each day', { timeout: 30_000 }, async () => {
  await using stage = await createInvoiceStage()
  const { db } = stage.world.platform
  const id = await stage.drive(2)
  await sql`
    insert into sessions
    select copy.* from sessions, generate_series(1, 260) n, lateral jsonb_populate_record(sessions, jsonb_build_object(
      'id', gen_random_uuid(), 'started_at', started_at + n * interval '1 hour', 'ended_at', ended_at + n * interval '1 hour'
    )) copy where sessions.id = ${id}`.execute(db)
  await stage.closeMonth()
  await stage.run()
  const theirs = stage.theirs()
  expect(theirs).toMatchObject({ status: 'open', amount_due: 261 * 100 })
  expect(theirs.lines[0]).toMatchObject({ description: '2026-01-15 (UTC): 12 sessions, 24 min' })
  expect(theirs.lines).toHaveLength(12)
})

describe('how an invoice stands follows the provider', () => {
  async function issued() {
    const stage = await createInvoiceStage()
    await stage.drive(10)
    await stage.closeMonth()
    await stage.run()
    const { id } = stage.theirs()
    const status = async () => (await stage.list())[0].status
    return Object.assign(stage, { id, status })
  }

  test('a bank that takes its time has not failed; one that refuses has, until it pays', async () => {
    await using stage = await issued()
    stage.invoices.begin(stage.id)
    await stage.tell('invoice.updated', stage.id)
    expect(await stage.status()).toBe('OPEN')
    stage.invoices.fail(stage.id)
    await stage.tell('invoice.payment_failed', stage.id)
    await stage.tell('invoice.payment_failed', stage.id)
    expect(await stage.status()).toBe('FAILED')
    expect(await stage.balances()).toEqual({ receivable: 500, balance: 0, cash: 0 })
    stage.invoices.pay(stage.id)
    await Promise.all(
      ['invoice.paid', 'invoice.updated', 'invoice.paid'].map((type) => stage.tell(type, stage.id)),
    )
    await stage.tell('invoice.payment_failed', stage.id) // the one of before, late
    expect(await stage.status()).toBe('PAID')
    expect(await stage.balances()).toEqual({ receivable: 0, balance: 0, cash: 500 })
    expect(await stage.told()).toEqual(['invoice.issued', 'invoice.payment_failed', 'invoice.paid'])
  })

  test('one that is withdrawn is VOID, at the platform’s cost; the operator keeps the earnings', async () => {
    await using stage = await issued()
    const earned = (await stage.operator.get('/api/payments/payout')).body.pendingEarningsCents
    expect(earned).toBe(350)
    stage.invoices.end(stage.id, 'void')
    await stage.tell('invoice.voided', stage.id)
    expect(await stage.status()).toBe('VOID')
    expect(await stage.balances()).toEqual({ receivable: 0, balance: 0, cash: 0 })
    expect((await stage.operator.get('/api/payments/payout')).body.pendingEarningsCents).toBe(earned)
    expect(await stage.told()).toEqual(['invoice.issued', 'invoice.voided'])
  })

  test('one that is given up has FAILED, and is still owed', async () => {
    await using stage = await issued()
    stage.invoices.end(stage.id, 'uncollectible')
    await stage.tell('invoice.marked_uncollectible', stage.id)
    expect(await stage.status()).toBe('FAILED')
    expect(await stage.balances()).toMatchObject({ receivable: 500, cash: 0 })
  })

  test('one that was paid past the provider is PAID, without cash there', async () => {
    await using stage = await issued()
    stage.invoices.pay(stage.id, { offStripe: true })
    await stage.tell('invoice.paid', stage.id)
    expect(await stage.status()).toBe('PAID')
    expect(await stage.balances()).toEqual({ receivable: 0, balance: 500, cash: 0 })
  })

  test('when the events are lost, the worker asks', async () => {
    await using stage = await issued()
    stage.invoices.pay(stage.id)
    stage.later(HOUR_MS)
    await stage.run()
    expect(await stage.status()).toBe('OPEN')
    stage.later(6 * HOUR_MS)
    await stage.run()
    expect(await stage.status()).toBe('PAID')
    const asked = stage.stripe.requests.length
    stage.later(100 * HOUR_MS)
    await stage.run()
    expect(stage.stripe.requests, 'nobody asks for what is settled').toHaveLength(asked)
  })

  test('events of invoices that others made change nothing', async () => {
    await using stage = await issued()
    const own = structuredClone(stage.theirs())
    stage.invoices.all.set('in_foreign', { ...own, id: 'in_foreign', status: 'paid' })
    expect(await stage.tell('invoice.paid', 'in_foreign')).toBe(200)
    expect(await stage.status()).toBe('OPEN')
  })
})

test('what is too little to charge is put off to the next invoice, and balanced with it', async () => {
  await using stage = await createInvoiceStage()
  await stage.world.platform.db
    .updateTable('pricing_plans')
    .set({ client_rate_cents_per_minute: 10 })
    .execute()
  await stage.drive(3)
  await stage.closeMonth()
  await stage.run()
  expect(await stage.list()).toMatchObject([{ status: 'PAID', total_cents: 30 }])
  expect(await stage.balances()).toEqual({ receivable: 0, balance: 30, cash: 0 })

  await stage.drive(10)
  await stage.closeMonth()
  await stage.run()
  const theirs = [...stage.invoices.all.values()].at(-1)
  expect(theirs).toMatchObject({ amount_due: 130, status: 'open' })
  stage.invoices.pay(theirs?.id ?? '')
  await vi.waitFor(async () => {
    await stage.tell('invoice.paid', theirs?.id ?? '')
    expect((await stage.list())[0]).toMatchObject({ status: 'PAID', total_cents: 100 })
  }, 10_000)
  expect(await stage.balances()).toEqual({ receivable: 0, balance: 0, cash: 130 })
})

test('several workers at once collect each month once, earlier months too', async () => {
  await using stage = await createInvoiceStage()
  const { db } = stage.world.platform
  await stage.drive(2)
  await stage.closeMonth()
  await stage.drive(4)
  await stage.closeMonth()
  await Promise.all([stage.run(), stage.run(), stage.run()])
  await Promise.all([stage.run(), stage.run(), stage.run()])
  expect([...stage.invoices.all.values()].map(({ amount_due }) => amount_due).sort()).toEqual([100, 200])
  const rows = await db.selectFrom('invoice_collections').select('failure').execute()
  expect(rows).toEqual([{ failure: null }, { failure: null }])
})

test('without the provider’s key a month is closed and waits; once there is one, it is collected', async () => {
  await using stage = await createInvoiceStage({ keyless: true })
  await stage.drive(4)
  await stage.closeMonth()
  expect(stage.world.platform.payments).toBeUndefined()
  expect(await stage.list()).toMatchObject([{ status: 'OPEN', total_cents: 200, hosted_url: null }])

  const { platform } = await stage.world.addNode('api', stage.stripe.env)
  await platform.payments?.collections.runDue()
  expect(stage.theirs()).toMatchObject({ amount_due: 200, status: 'open' })
  expect(await stage.list()).toMatchObject([
    { status: 'OPEN', hosted_url: stage.theirs().hosted_invoice_url },
  ])
})
