import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { balance, post } from '../src/modules/billing/ledger.ts'
import { type Mishap, startStripe } from './support/stripe/server.ts'
import { createWorld } from './support/world.ts'

const HOUR_MS = 3_600_000
const PAYOUT = '/api/payments/payout'

/** A platform with payments and an operator who has earned something and can be paid. */
async function createStage(earnedCents: number) {
  const stripe = await startStripe()
  let aheadMs = 0
  const world = await createWorld({ env: stripe.env, now: () => new Date(Date.now() + aheadMs) })
  const { db, transact, payments } = world.platform
  const operator = await world.operator()
  await operator.post('/api/operator/profile', { country: 'DE' })
  await operator.post('/api/payments/connect')
  const [accountId = ''] = stripe.books.recipients.keys()
  stripe.books.finishOnboarding(accountId)
  const lines = [
    { account: 'operator_payable' as const, userId: operator.id, amountCents: -earnedCents },
    { account: 'platform_revenue' as const, amountCents: earnedCents },
  ]
  await transact((tx) => post(tx, { kind: 'test_earnings', at: new Date(), lines }))
  return {
    ...{ stripe, world, operator, accountId },
    ask: (amountCents?: number) => operator.post(PAYOUT, amountCents === undefined ? {} : { amountCents }),
    overview: async () => (await operator.get(PAYOUT)).body,
    later: (ms: number) => {
      aheadMs += ms
    },
    /** One run of a worker. */
    run: () => payments!.payoutTransfers.runDue(),
    /** Where the operator's money is, and what the provider has moved. */
    async books() {
      return {
        payable: 0 - (await balance(db, 'operator_payable', operator.id)),
        reserved: 0 - (await balance(db, 'payout_reserved', operator.id)),
        transferred: stripe.books.transfers.reduce((sum, { amount }) => sum + amount, 0),
      }
    },
    forgiveErrors: () => void world.errors.splice(0),
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await stripe[Symbol.asyncDispose]()
    },
  }
}

test('all that was earned is paid out; nothing is left to pay out again', async () => {
  await using stage = await createStage(4_250)
  expect(await stage.overview()).toEqual({
    ...{ availableCents: 4_250, pendingCents: 0, minimumCents: 1_000, currency: 'EUR', payouts: [] },
    ...{ pendingEarningsCents: 0, nextAvailableAt: null },
  })
  const answer = await stage.ask()
  expect([answer.status, answer.body]).toEqual([
    201,
    {
      ...{ id: expect.any(String), amountCents: 4_250, currency: 'EUR', status: 'PAID', failure: null },
      ...{ createdAt: expect.any(String), settledAt: expect.any(String) },
    },
  ])
  expect(await stage.overview()).toMatchObject({ availableCents: 0, pendingCents: 0, payouts: [answer.body] })
  expect(await stage.books()).toEqual({ payable: 0, reserved: 0, transferred: 4_250 })
  expect(stage.stripe.books.transfers).toMatchObject([
    { amount: 4_250, destination: stage.accountId, transfer_group: answer.body.id },
  ])
  const [notification] = (await stage.operator.get('/api/notifications')).body.notifications
  expect(notification).toMatchObject({ type: 'payout.paid', data: { amount_cents: 4_250 } })
  expect((await stage.ask()).status).toBe(409)
})

test('an empty request pays out everything as well', async () => {
  await using stage = await createStage(1_000)
  expect((await stage.operator.request('POST', PAYOUT)).body).toMatchObject({ amountCents: 1_000 })
})

test.for([
  [999, 999, 409, 'at least 10.00 EUR'],
  [5_000, 999, 409, 'at least 10.00 EUR'],
  [5_000, 5_001, 409, 'Only 50.00 EUR'],
  [5_000, 0, 400, 'amountCents'],
  [5_000, 10.5, 400, 'amountCents'],
  [5_000, -2_000, 400, 'amountCents'],
] as const)('of %i cents, %d cents are refused with %i', async ([earned, asked, status, text]) => {
  await using stage = await createStage(earned)
  const answer = await stage.ask(asked)
  expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(text)])
  expect(await stage.books()).toEqual({ payable: earned, reserved: 0, transferred: 0 })
})

test('without a payout account, or with one that the provider holds back, nothing is reserved', async () => {
  await using stage = await createStage(2_000)
  stage.stripe.books.restrict(stage.accountId, ['identity.individual.verification.document'])
  expect((await stage.ask()).body.error).toContain('not ready')
  stage.stripe.books.forget(stage.accountId)
  expect((await stage.ask()).body.error).toContain('no payout account')
  expect(await stage.books()).toEqual({ payable: 2_000, reserved: 0, transferred: 0 })
})

test('however many ask at once, no more is paid than was earned', async () => {
  await using stage = await createStage(10_000)
  const answers = await Promise.all(Array.from({ length: 20 }, () => stage.ask(3_000)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, ...Array(17).fill(409)])
  expect(await stage.books()).toEqual({ payable: 1_000, reserved: 0, transferred: 9_000 })
})

test('the database refuses to pay out what was not earned', async () => {
  await using stage = await createStage(2_000)
  const { transact } = stage.world.platform
  const take = (amountCents: number) =>
    transact((tx) =>
      post(tx, {
        ...{ kind: 'test', at: new Date() },
        lines: [
          { account: 'operator_payable', userId: stage.operator.id, amountCents },
          { account: 'payout_reserved', userId: stage.operator.id, amountCents: -amountCents },
        ],
      }),
    )
  await expect(take(2_001)).rejects.toThrow('overdrawn')
  const both = await Promise.allSettled([take(1_500), take(1_500)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

describe.concurrent('the provider', () => {
  test('refuses: the amount is available again, and the operator is told why', async () => {
    await using stage = await createStage(2_000)
    stage.stripe.books.balanceCents = 0
    const answer = await stage.ask()
    expect(answer.body).toMatchObject({ status: 'FAILED', failure: expect.stringContaining('insufficient') })
    expect(await stage.books()).toEqual({ payable: 2_000, reserved: 0, transferred: 0 })
    const [notification] = (await stage.operator.get('/api/notifications')).body.notifications
    expect(notification).toMatchObject({ type: 'payout.failed' })
    stage.stripe.books.balanceCents = 10_000
    expect((await stage.ask()).body.status).toBe('PAID')
  })

  const mishaps: Mishap[] = ['drops', 'drops after', 'fails', 'fails after', { lateMs: 60_000 }]
  test.for(mishaps)(
    '%j: the payout is held, shown as pending, and made once',
    { timeout: 30_000 },
    async (mishap) => {
      await using stage = await createStage(2_000)
      stage.stripe.plan(mishap, /transfers$/, 2) // the library's own second attempt included
      const answer = await stage.ask()
      expect([answer.status, answer.body.status]).toEqual([201, 'PENDING'])
      expect(await stage.overview()).toMatchObject({ availableCents: 0, pendingCents: 2_000 })
      expect((await stage.ask()).status).toBe(409)
      stage.stripe.recover()
      await stage.run() // too early: whoever asked may still be waiting for the answer
      expect(await stage.overview()).toMatchObject({ pendingCents: 2_000 })
      for (let hour = 0; hour < 30; hour++) {
        stage.later(HOUR_MS)
        if (hour === 25) stage.stripe.forgetKeys()
        await Promise.all([stage.run(), stage.run()])
      }
      expect(await stage.overview()).toMatchObject({ pendingCents: 0, payouts: [{ status: 'PAID' }] })
      expect(await stage.books()).toEqual({ payable: 0, reserved: 0, transferred: 2_000 })
      stage.forgiveErrors()
    },
  )

  test('refuses to say what it has done: nothing is released that may have been paid', async () => {
    await using stage = await createStage(2_000)
    stage.stripe.plan('drops after', /transfers$/, 2, 'POST')
    expect((await stage.ask()).body.status).toBe('PENDING')
    stage.stripe.plan('refuses', /transfers$/, 1, 'GET')
    stage.later(HOUR_MS)
    await stage.run()
    expect(stage.stripe.asked('GET', /transfers$/)).toHaveLength(1)
    expect(await stage.overview()).toMatchObject({ pendingCents: 2_000, payouts: [{ status: 'PENDING' }] })
    stage.later(HOUR_MS)
    await stage.run()
    expect(await stage.overview()).toMatchObject({ pendingCents: 0, payouts: [{ status: 'PAID' }] })
    expect(await stage.books()).toEqual({ payable: 0, reserved: 0, transferred: 2_000 })
    stage.forgiveErrors()
  })

  test('a process that ends between the reservation and the transfer leaves the payout to the worker', async () => {
    await using stage = await createStage(2_000)
    const { db, transact } = stage.world.platform
    const id = randomUUID()
    await transact(async (tx) => {
      await tx.db
        .insertInto('payouts')
        .values({
          ...{ id, operator_id: stage.operator.id, amount_cents: 2_000, currency: 'EUR' },
          ...{ destination: stage.accountId, status: 'PENDING', attempts: 1, try_at: new Date() },
        })
        .execute()
      await post(tx, {
        ...{ kind: 'payout_reserved', at: new Date(), payoutId: id },
        lines: [
          { account: 'operator_payable', userId: stage.operator.id, amountCents: 2_000 },
          { account: 'payout_reserved', userId: stage.operator.id, amountCents: -2_000 },
        ],
      })
    })
    stage.later(HOUR_MS)
    await Promise.all(Array.from({ length: 5 }, stage.run))
    expect(await stage.books()).toEqual({ payable: 0, reserved: 0, transferred: 2_000 })
    const rows = await db.selectFrom('payouts').select(['status', 'attempts']).execute()
    expect(rows).toEqual([{ status: 'PAID', attempts: 2 }])
  })
})
