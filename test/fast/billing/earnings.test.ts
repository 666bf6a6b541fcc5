import { afterAll, beforeAll, expect, test } from 'vitest'
import { balance, post } from '../../../src/modules/billing/ledger.ts'
import { connectTo } from '../../support/database/sql.ts'
import { createInvoicing, type Invoicing } from '../../support/stripe/invoice-fixture.ts'
import { actors, createSilentGateway, HOUR_MS, MINUTE_MS } from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import { createWorld } from '../../support/world/world.ts'

const DAY_MS = 24 * HOUR_MS
const HOLD_MS = 45 * DAY_MS
const PAYOUT = '/api/payments/payout'

let invoicing: Invoicing
beforeAll(async () => {
  invoicing = await createInvoicing()
})
afterAll(() => invoicing[Symbol.asyncDispose]())

test('a session on the operator’s own robot is charged, earns nothing, and cannot be rated', async () => {
  await using users = await invoicing.nextClient()
  const { owner } = users
  const { robotId } = users.users
  const driven = await users.drive(1)
  await owner.post('/api/auth/profile', { role: 'operator' })
  const id = await start(owner, robotId)
  invoicing.later(MINUTE_MS)
  const ended = await performAction(owner, id, 'end')
  expect(ended.client_charge_cents).toBe(50)
  expect((await owner.get('/api/operator/stats')).body).toMatchObject({
    earnings_total_cents: 0,
    available_for_payout_cents: 0,
    pending_earnings_cents: 0,
    rating_count: 0,
  })
  const { world } = invoicing
  const lines = await world.platform.core.db
    .selectFrom('ledger_entries')
    .select(['account', 'amount_cents'])
    .where('session_id', '=', id)
    .orderBy('id')
    .execute()
  expect(lines).toEqual([
    { account: 'client_receivable', amount_cents: 50 },
    { account: 'platform_revenue', amount_cents: -50 },
  ])
  const rated = await owner.post(`/api/sessions/${id}/rate`, { rating: 5 })
  expect([rated.status, rated.body.error]).toEqual([403, expect.stringContaining('your own robot')])
  expect((await owner.get(`/api/sessions/${id}`)).body).toMatchObject({ rating: null })
  expect((await owner.post(`/api/sessions/${driven}/rate`, { rating: 5 })).status).toBe(200) // the work of another operator

  await using client = await connectTo(world.database.url)
  const refusal = (change: string) =>
    client.query(`update sessions set ${change} where id = $1`, [id]).then(
      () => undefined,
      (cause: { constraint?: string }) => cause.constraint,
    )
  expect(await refusal('rating = 5')).toBe('sessions_own_not_rated')
  expect(await refusal('operator_earnings_cents = 1')).toMatch(/^sessions_(own_not_earned|charge_fixed)$/)
  const another = client.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, client_charge_cents,
       operator_earnings_cents)
     values (gen_random_uuid(), $1, $2, $2, 'COMPLETED', now(), now(), 50, 35)`,
    [robotId, owner.id],
  )
  await expect(another).rejects.toMatchObject({ constraint: 'sessions_own_not_earned' })
})

/** Creates a client, and an operator with a payout account. */
async function createUsers() {
  const client = await invoicing.nextClient()
  const { operator } = client
  const accountId = await invoicing.payments.onboard(operator)
  const overview = async () => {
    const { availableCents, pendingEarningsCents, pendingCents, nextAvailableAt } = (
      await operator.get(PAYOUT)
    ).body
    return { availableCents, pendingEarningsCents, pendingCents, nextAvailableAt }
  }
  const stats = async () => {
    const { body } = await operator.get('/api/operator/stats')
    return [body.available_for_payout_cents, body.pending_earnings_cents, body.earnings_total_cents]
  }
  return Object.assign(client, {
    accountId,
    overview,
    stats,
    requestPayout: (cents?: number) => operator.post(PAYOUT, cents ? { amountCents: cents } : {}),
    ofSession: async (id: string) => (await operator.get(`/api/sessions/${id}`)).body,
  })
}
const release = () => invoicing.world.platform.billing.earningsRelease.runDue()

test('earnings are pending until the client pays the invoice, then available immediately and exactly once', async () => {
  await using users = await createUsers()
  const id = await users.drive(60)
  const heldUntil = new Date(invoicing.now().getTime() + HOLD_MS).toISOString()
  const second = await users.drive(30)
  expect(await users.overview()).toEqual({
    availableCents: 0,
    pendingEarningsCents: 3_150,
    pendingCents: 0,
    nextAvailableAt: heldUntil,
  })
  expect(await users.stats()).toEqual([0, 3_150, 3_150])
  expect(await users.ofSession(id)).toMatchObject({
    earnings_pending_until: heldUntil,
    operator_share_percent: 70,
  })
  expect((await users.owner.get(`/api/sessions/${id}`)).body).not.toHaveProperty('earnings_pending_until')
  expect((await users.owner.get(`/api/sessions/${id}`)).body).not.toHaveProperty('operator_share_percent')
  for (const cents of [undefined, 1_000]) {
    const refused = await users.requestPayout(cents)
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringContaining('31.50 EUR of earnings are pending'),
    ])
  }
  await invoicing.closeMonth()
  await invoicing.run()
  const stripeInvoice = users.stripeInvoice().id
  invoicing.invoices.fail(stripeInvoice)
  await invoicing.sendEvent('invoice.payment_failed', stripeInvoice)
  expect(await users.stats()).toEqual([0, 3_150, 3_150])

  const later = await users.drive(20) // on the next invoice
  invoicing.invoices.pay(stripeInvoice)
  await Promise.all(
    [...Array(3).keys()].flatMap(() => [invoicing.sendEvent('invoice.paid', stripeInvoice), release()]),
  )
  expect(await users.overview()).toMatchObject({ availableCents: 3_150, pendingEarningsCents: 700 })
  expect(await users.stats()).toEqual([3_150, 700, 3_850])
  for (const paid of [id, second]) {
    expect(await users.ofSession(paid)).toMatchObject({ earnings_pending_until: null })
  }
  expect((await users.ofSession(later)).earnings_pending_until).toEqual(expect.any(String))
  expect((await users.requestPayout()).body).toMatchObject({ amountCents: 3_150, status: 'PAID' })
  expect(await users.stats()).toEqual([0, 700, 3_850])
})

test('earnings become available after the hold, regardless of the status of the invoice', async () => {
  await using users = await createUsers()
  await users.drive(60)
  const heldUntilMs = invoicing.now().getTime() + HOLD_MS
  await invoicing.closeMonth()
  await invoicing.run()
  invoicing.invoices.end(users.stripeInvoice().id, 'void')
  await invoicing.sendEvent('invoice.voided', users.stripeInvoice().id)
  expect(await users.stats()).toEqual([0, 2_100, 2_100])
  invoicing.later(heldUntilMs - invoicing.now().getTime() - 1)
  await release()
  expect(await users.stats()).toEqual([0, 2_100, 2_100])
  invoicing.later(1)
  await Promise.all([release(), release(), release()])
  expect(await users.stats()).toEqual([2_100, 0, 2_100])
  expect((await users.requestPayout(2_100)).body).toMatchObject({ status: 'PAID' })
})

test('an invoice that an admin marks PAID releases its earnings', async () => {
  await using users = await createUsers()
  await users.drive(60)
  await invoicing.closeMonth()
  await users.drive(10)
  await using client = await connectTo(invoicing.world.database.url)
  const paid = `update invoices set status = 'PAID', paid_at = $1 where client_id = $2`
  await client.query(paid, [invoicing.now(), users.owner.id])
  await release()
  expect(await users.stats()).toEqual([2_100, 350, 2_450])
})

test('earnings are available at the end of the session if EARNINGS_HOLD_DAYS is 0', async () => {
  let clockMs = Date.parse('2026-01-15T12:00:00Z')
  await using world = await createWorld({ now: () => new Date(clockMs), env: { EARNINGS_HOLD_DAYS: '0' } })
  await using gateway = await createSilentGateway(world, () => clockMs)
  const { operator, robotId } = await actors(world, gateway)
  const id = await start(operator, robotId)
  clockMs += 10 * MINUTE_MS
  await performAction(operator, id, 'end')
  expect((await operator.get('/api/operator/stats')).body).toMatchObject({
    available_for_payout_cents: 350,
    pending_earnings_cents: 0,
  })
  expect((await operator.get(`/api/sessions/${id}`)).body).toMatchObject({ earnings_pending_until: null })
})

test('the database rejects a payout of pending earnings and a release without pending earnings', async () => {
  await using users = await createUsers()
  await users.drive(60)
  const {
    core: { transact, db },
  } = invoicing.world.platform
  const step = (
    from: 'operator_pending' | 'operator_payable',
    to: 'operator_payable' | 'payout_reserved',
    cents: number,
  ) =>
    transact((tx) =>
      post(tx, {
        kind: 'test',
        at: new Date(),
        lines: [
          { account: from, userId: users.operator.id, amountCents: cents },
          { account: to, userId: users.operator.id, amountCents: -cents },
        ],
      }),
    )
  await expect(step('operator_payable', 'payout_reserved', 1)).rejects.toThrow('overdrawn')
  await expect(step('operator_pending', 'operator_payable', 2_101)).rejects.toThrow('overdrawn')
  const both = await Promise.allSettled([1, 2].map(() => step('operator_pending', 'operator_payable', 1_500)))
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(await balance(db, 'operator_payable', users.operator.id)).toBe(-1_500)
  await step('operator_pending', 'operator_payable', -1_500) // the worker releases them after the hold
})

test('pays each cent once while a paid-invoice event, the worker and payout requests run concurrently', async () => {
  await using users = await createUsers()
  for (let round = 0; round < 3; round++) await users.drive(60)
  await invoicing.closeMonth()
  await invoicing.run()
  const { id } = users.stripeInvoice()
  invoicing.invoices.pay(id)
  invoicing.later(60 * DAY_MS) // the hold has also expired
  const answers = await Promise.all([
    invoicing.sendEvent('invoice.paid', id),
    ...[...Array(4).keys()].map(() => release()),
    ...[...Array(8).keys()].map(() => users.requestPayout(2_000)),
  ])
  expect(answers.length).toBe(13)
  for (let round = 0; round < 4; round++) await users.requestPayout(2_000)
  const transferred = invoicing.payments
    .transfersTo(users.accountId)
    .reduce((sum, { amount }) => sum + amount, 0)
  expect(transferred).toBe(6_000) // of 63.00 EUR
  expect(await users.stats()).toEqual([300, 0, 6_300])
})
