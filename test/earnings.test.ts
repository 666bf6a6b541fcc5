import { expect, test } from 'vitest'
import { balance, post } from '../src/modules/billing/ledger.ts'
import { cast, createSilentGateway, HOUR_MS, MINUTE_MS } from './support/billing.ts'
import { act, openScene, start } from './support/cast.ts'
import { connectTo } from './support/sql.ts'
import { createInvoiceStage } from './support/stripe/invoice-stage.ts'
import { createWorld } from './support/world.ts'

const DAY_MS = 24 * HOUR_MS
const PAYOUT = '/api/payments/payout'
const patience = { timeout: 20_000 }

test('a session on an own robot is charged like any other, earns nothing, and cannot be rated', async () => {
  await using world = await createWorld()
  const scene = await openScene(world)
  await scene.act(scene.operator, 'end')
  const { owner } = scene
  await owner.post('/api/auth/profile', { role: 'operator' })
  const id = await start(owner, scene.robotId)
  const ended = await act(owner, id, 'end')
  expect(ended.client_charge_cents).toBe(50)
  expect((await owner.get('/api/operator/stats')).body).toMatchObject({
    ...{ earnings_total_cents: 0, available_for_payout_cents: 0, pending_earnings_cents: 0, rating_count: 0 },
  })
  const { db } = world.platform
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
  expect((await owner.post(`${scene.path}/rate`, { rating: 5 })).status).toBe(200) // another's work

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
    [scene.robotId, owner.id],
  )
  await expect(another).rejects.toMatchObject({ constraint: 'sessions_own_not_earned' })
})

/** A platform with payments, an operator who can be paid, and one client. */
async function createStage() {
  const stage = await createInvoiceStage()
  await stage.operator.post('/api/operator/profile', { country: 'DE' })
  await stage.operator.post('/api/payments/connect')
  const [accountId = ''] = stage.stripe.books.recipients.keys()
  stage.stripe.books.finishOnboarding(accountId)
  const overview = async () => {
    const { availableCents, pendingEarningsCents, pendingCents, nextAvailableAt } = (
      await stage.operator.get(PAYOUT)
    ).body
    return { availableCents, pendingEarningsCents, pendingCents, nextAvailableAt }
  }
  const stats = async () => {
    const { body } = await stage.operator.get('/api/operator/stats')
    return [body.available_for_payout_cents, body.pending_earnings_cents, body.earnings_total_cents]
  }
  return Object.assign(stage, {
    overview,
    stats,
    ask: (cents?: number) => stage.operator.post(PAYOUT, cents ? { amountCents: cents } : {}),
    release: () => stage.world.platform.earningsRelease.runDue(),
    ofSession: async (id: string) => (await stage.operator.get(`/api/sessions/${id}`)).body,
  })
}

test('earnings are pending until the client’s invoice is paid, then available at once, and once', async () => {
  await using stage = await createStage()
  const id = await stage.drive(60)
  const second = await stage.drive(30)
  const heldUntil = '2026-03-01T13:00:00.000Z' // 45 days after its end
  expect(await stage.overview()).toEqual({
    ...{ availableCents: 0, pendingEarningsCents: 3_150, pendingCents: 0, nextAvailableAt: heldUntil },
  })
  expect(await stage.stats()).toEqual([0, 3_150, 3_150])
  expect(await stage.ofSession(id)).toMatchObject({ earnings_pending_until: heldUntil })
  expect((await stage.owner.get(`/api/sessions/${id}`)).body).not.toHaveProperty('earnings_pending_until')
  for (const cents of [undefined, 1_000]) {
    const refused = await stage.ask(cents)
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringContaining('31.50 EUR of earnings are pending'),
    ])
  }
  await stage.closeMonth()
  await stage.run()
  const theirs = stage.theirs().id
  stage.invoices.fail(theirs)
  await stage.tell('invoice.payment_failed', theirs)
  expect(await stage.stats()).toEqual([0, 3_150, 3_150])

  const later = await stage.drive(20) // on the next invoice
  stage.invoices.pay(theirs)
  await Promise.all([...Array(3).keys()].flatMap(() => [stage.tell('invoice.paid', theirs), stage.release()]))
  expect(await stage.overview()).toMatchObject({ availableCents: 3_150, pendingEarningsCents: 700 })
  expect(await stage.stats()).toEqual([3_150, 700, 3_850])
  for (const paid of [id, second]) {
    expect(await stage.ofSession(paid)).toMatchObject({ earnings_pending_until: null })
  }
  expect((await stage.ofSession(later)).earnings_pending_until).toEqual(expect.any(String))
  expect((await stage.ask()).body).toMatchObject({ amountCents: 3_150, status: 'PAID' })
  expect(await stage.stats()).toEqual([0, 700, 3_850])
})

test('earnings become available when the hold is over, whatever became of the invoice', async () => {
  await using stage = await createStage()
  await stage.drive(60)
  await stage.closeMonth()
  await stage.run()
  stage.invoices.end(stage.theirs().id, 'void')
  await stage.tell('invoice.voided', stage.theirs().id)
  expect(await stage.stats()).toEqual([0, 2_100, 2_100])
  stage.later(Date.parse('2026-03-01T13:00:00Z') - stage.now().getTime() - 1)
  await stage.release()
  expect(await stage.stats()).toEqual([0, 2_100, 2_100])
  stage.later(1)
  await Promise.all([stage.release(), stage.release(), stage.release()])
  expect(await stage.stats()).toEqual([2_100, 0, 2_100])
  expect((await stage.ask(2_100)).body).toMatchObject({ status: 'PAID' })
})

test('an invoice that is made PAID by hand makes its earnings available, too', async () => {
  await using stage = await createStage()
  await stage.drive(60)
  await stage.closeMonth()
  await stage.drive(10)
  await using client = await connectTo(stage.world.database.url)
  await client.query(`update invoices set status = 'PAID', paid_at = $1`, [stage.now()])
  await stage.release()
  expect(await stage.stats()).toEqual([2_100, 350, 2_450])
})

test('the worker releases by itself; two operators at once each get their own', async () => {
  let clockMs = Date.parse('2026-01-15T12:00:00Z')
  await using world = await createWorld({ now: () => new Date(clockMs), env: { EARNINGS_HOLD_DAYS: '7' } })
  await using gateway = await createSilentGateway(world, () => clockMs)
  const { operator, robotId } = await cast(world, gateway)
  const other = await world.operator()
  for (const person of [operator, other, operator]) {
    const id = await start(person, robotId)
    clockMs += 10 * MINUTE_MS
    await act(person, id, 'end')
  }
  const stats = async (person: typeof other) => (await person.get('/api/operator/stats')).body
  expect(await stats(operator)).toMatchObject({ available_for_payout_cents: 0, pending_earnings_cents: 700 })
  clockMs += 7 * DAY_MS
  for (const [person, cents] of [
    [operator, 700],
    [other, 350],
  ] as const) {
    await expect.poll(async () => (await stats(person)).available_for_payout_cents, patience).toBe(cents)
    expect(await stats(person)).toMatchObject({ pending_earnings_cents: 0 })
  }
})

test('without a hold earnings are available when the session ends', async () => {
  let clockMs = Date.parse('2026-01-15T12:00:00Z')
  await using world = await createWorld({ now: () => new Date(clockMs), env: { EARNINGS_HOLD_DAYS: '0' } })
  await using gateway = await createSilentGateway(world, () => clockMs)
  const { operator, robotId } = await cast(world, gateway)
  const id = await start(operator, robotId)
  clockMs += 10 * MINUTE_MS
  await act(operator, id, 'end')
  expect((await operator.get('/api/operator/stats')).body).toMatchObject({
    ...{ available_for_payout_cents: 350, pending_earnings_cents: 0 },
  })
  expect((await operator.get(`/api/sessions/${id}`)).body).toMatchObject({ earnings_pending_until: null })
})

test('the database refuses to pay out what is pending, and to release what is not there', async () => {
  await using stage = await createStage()
  await stage.drive(60)
  const { transact, db } = stage.world.platform
  const move = (
    from: 'operator_pending' | 'operator_payable',
    to: 'operator_payable' | 'payout_reserved',
    cents: number,
  ) =>
    transact((tx) =>
      post(tx, {
        ...{ kind: 'test', at: new Date() },
        lines: [
          { account: from, userId: stage.operator.id, amountCents: cents },
          { account: to, userId: stage.operator.id, amountCents: -cents },
        ],
      }),
    )
  await expect(move('operator_payable', 'payout_reserved', 1)).rejects.toThrow('overdrawn')
  await expect(move('operator_pending', 'operator_payable', 2_101)).rejects.toThrow('overdrawn')
  const both = await Promise.allSettled([1, 2].map(() => move('operator_pending', 'operator_payable', 1_500)))
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(await balance(db, 'operator_payable', stage.operator.id)).toBe(-1_500)
})

test('an event of a paid invoice, the worker and requests for payouts at once: no cent twice', async () => {
  await using stage = await createStage()
  for (let round = 0; round < 3; round++) await stage.drive(60)
  await stage.closeMonth()
  await stage.run()
  const { id } = stage.theirs()
  stage.invoices.pay(id)
  stage.later(60 * DAY_MS) // the hold is over as well
  const answers = await Promise.all([
    stage.tell('invoice.paid', id),
    ...[...Array(4).keys()].map(() => stage.release()),
    ...[...Array(8).keys()].map(() => stage.ask(2_000)),
  ])
  expect(answers.length).toBe(13)
  for (let round = 0; round < 4; round++) await stage.ask(2_000)
  const moved = stage.stripe.books.transfers.reduce((sum, { amount }) => sum + amount, 0)
  expect(moved).toBe(6_000) // of 63.00 EUR
  expect(await stage.stats()).toEqual([300, 0, 6_300])
})
