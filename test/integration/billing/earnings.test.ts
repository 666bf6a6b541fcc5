import { expect, test } from 'vitest'
import { balance, post } from '../../../src/modules/billing/ledger.ts'
import { connectTo } from '../../support/database/sql.ts'
import { createInvoiceFixture } from '../../support/stripe/invoice-fixture.ts'
import { actors, createSilentGateway, HOUR_MS, MINUTE_MS } from '../../support/world/billing.ts'
import { openSessionFixture, performAction, start } from '../../support/world/session-fixtures.ts'
import { createWorld } from '../../support/world/world.ts'

const DAY_MS = 24 * HOUR_MS
const PAYOUT = '/api/payments/payout'

test('a session on the operator’s own robot is charged, earns nothing, and cannot be rated', async () => {
  await using world = await createWorld()
  const fixture = await openSessionFixture(world)
  await fixture.performAction(fixture.operator, 'end')
  const { owner } = fixture
  await owner.post('/api/auth/profile', { role: 'operator' })
  const id = await start(owner, fixture.robotId)
  const ended = await performAction(owner, id, 'end')
  expect(ended.client_charge_cents).toBe(50)
  expect((await owner.get('/api/operator/stats')).body).toMatchObject({
    earnings_total_cents: 0,
    available_for_payout_cents: 0,
    pending_earnings_cents: 0,
    rating_count: 0,
  })
  const {
    core: { db },
  } = world.platform
  const lines = await db
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
  expect((await owner.post(`${fixture.path}/rate`, { rating: 5 })).status).toBe(200) // the work of another operator

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
    [fixture.robotId, owner.id],
  )
  await expect(another).rejects.toMatchObject({ constraint: 'sessions_own_not_earned' })
})

/** Creates a platform with payments, an operator with a payout account, and one client. */
async function createFixture() {
  const testbed = await createInvoiceFixture()
  await testbed.operator.post('/api/operator/profile', { country: 'DE' })
  await testbed.operator.post('/api/payments/connect')
  const [accountId = ''] = testbed.stripe.books.recipients.keys()
  testbed.stripe.books.finishOnboarding(accountId)
  const overview = async () => {
    const { availableCents, pendingEarningsCents, pendingCents, nextAvailableAt } = (
      await testbed.operator.get(PAYOUT)
    ).body
    return { availableCents, pendingEarningsCents, pendingCents, nextAvailableAt }
  }
  const stats = async () => {
    const { body } = await testbed.operator.get('/api/operator/stats')
    return [body.available_for_payout_cents, body.pending_earnings_cents, body.earnings_total_cents]
  }
  return Object.assign(testbed, {
    overview,
    stats,
    requestPayout: (cents?: number) => testbed.operator.post(PAYOUT, cents ? { amountCents: cents } : {}),
    release: () => testbed.world.platform.billing.earningsRelease.runDue(),
    ofSession: async (id: string) => (await testbed.operator.get(`/api/sessions/${id}`)).body,
  })
}

test('earnings are pending until the client pays the invoice, then available immediately and exactly once', async () => {
  await using testbed = await createFixture()
  const id = await testbed.drive(60)
  const second = await testbed.drive(30)
  const heldUntil = '2026-03-01T13:00:00.000Z' // 45 days after its end
  expect(await testbed.overview()).toEqual({
    availableCents: 0,
    pendingEarningsCents: 3_150,
    pendingCents: 0,
    nextAvailableAt: heldUntil,
  })
  expect(await testbed.stats()).toEqual([0, 3_150, 3_150])
  expect(await testbed.ofSession(id)).toMatchObject({ earnings_pending_until: heldUntil })
  expect((await testbed.owner.get(`/api/sessions/${id}`)).body).not.toHaveProperty('earnings_pending_until')
  for (const cents of [undefined, 1_000]) {
    const refused = await testbed.requestPayout(cents)
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringContaining('31.50 EUR of earnings are pending'),
    ])
  }
  await testbed.closeMonth()
  await testbed.run()
  const stripeInvoice = testbed.stripeInvoice().id
  testbed.invoices.fail(stripeInvoice)
  await testbed.sendEvent('invoice.payment_failed', stripeInvoice)
  expect(await testbed.stats()).toEqual([0, 3_150, 3_150])

  const later = await testbed.drive(20) // on the next invoice
  testbed.invoices.pay(stripeInvoice)
  await Promise.all(
    [...Array(3).keys()].flatMap(() => [testbed.sendEvent('invoice.paid', stripeInvoice), testbed.release()]),
  )
  expect(await testbed.overview()).toMatchObject({ availableCents: 3_150, pendingEarningsCents: 700 })
  expect(await testbed.stats()).toEqual([3_150, 700, 3_850])
  for (const paid of [id, second]) {
    expect(await testbed.ofSession(paid)).toMatchObject({ earnings_pending_until: null })
  }
  expect((await testbed.ofSession(later)).earnings_pending_until).toEqual(expect.any(String))
  expect((await testbed.requestPayout()).body).toMatchObject({ amountCents: 3_150, status: 'PAID' })
  expect(await testbed.stats()).toEqual([0, 700, 3_850])
})

test('earnings become available after the hold, regardless of the status of the invoice', async () => {
  await using testbed = await createFixture()
  await testbed.drive(60)
  await testbed.closeMonth()
  await testbed.run()
  testbed.invoices.end(testbed.stripeInvoice().id, 'void')
  await testbed.sendEvent('invoice.voided', testbed.stripeInvoice().id)
  expect(await testbed.stats()).toEqual([0, 2_100, 2_100])
  testbed.later(Date.parse('2026-03-01T13:00:00Z') - testbed.now().getTime() - 1)
  await testbed.release()
  expect(await testbed.stats()).toEqual([0, 2_100, 2_100])
  testbed.later(1)
  await Promise.all([testbed.release(), testbed.release(), testbed.release()])
  expect(await testbed.stats()).toEqual([2_100, 0, 2_100])
  expect((await testbed.requestPayout(2_100)).body).toMatchObject({ status: 'PAID' })
})

test('an invoice that an admin marks PAID releases its earnings', async () => {
  await using testbed = await createFixture()
  await testbed.drive(60)
  await testbed.closeMonth()
  await testbed.drive(10)
  await using client = await connectTo(testbed.world.database.url)
  await client.query(`update invoices set status = 'PAID', paid_at = $1`, [testbed.now()])
  await testbed.release()
  expect(await testbed.stats()).toEqual([2_100, 350, 2_450])
})

test('the worker releases the earnings of several operators to each operator', async () => {
  let clockMs = Date.parse('2026-01-15T12:00:00Z')
  const env = { EARNINGS_HOLD_DAYS: '7' }
  await using world = await createWorld({ now: () => new Date(clockMs), bus: 'redis', env })
  await using gateway = await createSilentGateway(world, () => clockMs)
  const { operator, robotId } = await actors(world, gateway)
  const secondOperator = await world.operator()
  for (const user of [operator, secondOperator, operator]) {
    const id = await start(user, robotId)
    clockMs += 10 * MINUTE_MS
    await performAction(user, id, 'end')
  }
  const stats = async (user: typeof operator) => (await user.get('/api/operator/stats')).body
  expect(await stats(operator)).toMatchObject({ available_for_payout_cents: 0, pending_earnings_cents: 700 })
  clockMs += 7 * DAY_MS
  await world.addNode('worker', env) // runs its jobs at once
  for (const [user, cents] of [
    [operator, 700],
    [secondOperator, 350],
  ] as const) {
    await expect.poll(async () => (await stats(user)).available_for_payout_cents).toBe(cents)
    expect(await stats(user)).toMatchObject({ pending_earnings_cents: 0 })
  }
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
  await using testbed = await createFixture()
  await testbed.drive(60)
  const {
    core: { transact, db },
  } = testbed.world.platform
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
          { account: from, userId: testbed.operator.id, amountCents: cents },
          { account: to, userId: testbed.operator.id, amountCents: -cents },
        ],
      }),
    )
  await expect(step('operator_payable', 'payout_reserved', 1)).rejects.toThrow('overdrawn')
  await expect(step('operator_pending', 'operator_payable', 2_101)).rejects.toThrow('overdrawn')
  const both = await Promise.allSettled([1, 2].map(() => step('operator_pending', 'operator_payable', 1_500)))
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(await balance(db, 'operator_payable', testbed.operator.id)).toBe(-1_500)
})

test('pays each cent once while a paid-invoice event, the worker and payout requests run concurrently', async () => {
  await using testbed = await createFixture()
  for (let round = 0; round < 3; round++) await testbed.drive(60)
  await testbed.closeMonth()
  await testbed.run()
  const { id } = testbed.stripeInvoice()
  testbed.invoices.pay(id)
  testbed.later(60 * DAY_MS) // the hold has also expired
  const answers = await Promise.all([
    testbed.sendEvent('invoice.paid', id),
    ...[...Array(4).keys()].map(() => testbed.release()),
    ...[...Array(8).keys()].map(() => testbed.requestPayout(2_000)),
  ])
  expect(answers.length).toBe(13)
  for (let round = 0; round < 4; round++) await testbed.requestPayout(2_000)
  const transferred = testbed.stripe.books.transfers.reduce((sum, { amount }) => sum + amount, 0)
  expect(transferred).toBe(6_000) // of 63.00 EUR
  expect(await testbed.stats()).toEqual([300, 0, 6_300])
})
