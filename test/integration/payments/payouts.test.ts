import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { balance, post } from '../../../src/modules/billing/ledger.ts'
import { PAYOUTS } from '../../../src/modules/payments/payout-transfers.ts'
import { type StripeFault, startStripe } from '../../support/stripe/server.ts'
import { createWorld } from '../../support/world/world.ts'

const HOUR_MS = 3_600_000
const PAYOUT = '/api/payments/payout'

/** Creates a platform with payments and an operator with earnings and a payout account. */
async function createFixture(earnedCents: number) {
  const stripe = await startStripe()
  let aheadMs = 0
  const world = await createWorld({ env: stripe.env, now: () => new Date(Date.now() + aheadMs) })
  const { db, transact } = world.platform.core
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
    stripe,
    world,
    operator,
    accountId,
    requestPayout: (amountCents?: number) =>
      operator.post(PAYOUT, amountCents === undefined ? {} : { amountCents }),
    overview: async () => (await operator.get(PAYOUT)).body,
    later: (ms: number) => {
      aheadMs += ms
    },
    /** Runs the worker once. */
    run: () => world.runJobs(PAYOUTS),
    /** Returns the operator's ledger balances and the amount that Stripe has transferred. */
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

test('pays out all earnings and leaves no amount for a second payout', async () => {
  await using fixture = await createFixture(4_250)
  expect(await fixture.overview()).toEqual({
    availableCents: 4_250,
    pendingCents: 0,
    minimumCents: 1_000,
    currency: 'EUR',
    payouts: [],
    pendingEarningsCents: 0,
    nextAvailableAt: null,
  })
  const answer = await fixture.requestPayout()
  expect([answer.status, answer.body]).toEqual([
    201,
    {
      id: expect.any(String),
      amountCents: 4_250,
      currency: 'EUR',
      status: 'PAID',
      failure: null,
      createdAt: expect.any(String),
      settledAt: expect.any(String),
    },
  ])
  expect(await fixture.overview()).toMatchObject({
    availableCents: 0,
    pendingCents: 0,
    payouts: [answer.body],
  })
  expect(await fixture.books()).toEqual({ payable: 0, reserved: 0, transferred: 4_250 })
  expect(fixture.stripe.books.transfers).toMatchObject([
    { amount: 4_250, destination: fixture.accountId, transfer_group: answer.body.id },
  ])
  const [notification] = (await fixture.operator.get('/api/notifications')).body.notifications
  expect(notification).toMatchObject({ type: 'payout.paid', data: { amount_cents: 4_250 } })
  expect((await fixture.requestPayout()).status).toBe(409)
})

test('a request without a body pays out all earnings', async () => {
  await using fixture = await createFixture(1_000)
  expect((await fixture.operator.request('POST', PAYOUT)).body).toMatchObject({ amountCents: 1_000 })
})

test.for([
  [999, 999, 409, 'at least 10.00 EUR'],
  [5_000, 999, 409, 'at least 10.00 EUR'],
  [5_000, 5_001, 409, 'Only 50.00 EUR'],
  [5_000, 0, 400, 'amountCents'],
  [5_000, 10.5, 400, 'amountCents'],
  [5_000, -2_000, 400, 'amountCents'],
] as const)(
  'with %i cents available, a payout of %d cents is rejected with %i',
  async ([earned, asked, status, text]) => {
    await using fixture = await createFixture(earned)
    const answer = await fixture.requestPayout(asked)
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(text)])
    expect(await fixture.books()).toEqual({ payable: earned, reserved: 0, transferred: 0 })
  },
)

test('reserves nothing without a payout account or with a restricted payout account', async () => {
  await using fixture = await createFixture(2_000)
  fixture.stripe.books.restrict(fixture.accountId, ['identity.individual.verification.document'])
  expect((await fixture.requestPayout()).body.error).toContain('not ready')
  fixture.stripe.books.forget(fixture.accountId)
  expect((await fixture.requestPayout()).body.error).toContain('no payout account')
  expect(await fixture.books()).toEqual({ payable: 2_000, reserved: 0, transferred: 0 })
})

test('concurrent requests never pay out more than the earnings', async () => {
  await using fixture = await createFixture(10_000)
  const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.requestPayout(3_000)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, ...Array(17).fill(409)])
  expect(await fixture.books()).toEqual({ payable: 1_000, reserved: 0, transferred: 9_000 })
})

test('the database rejects a payout above the earnings', async () => {
  await using fixture = await createFixture(2_000)
  const {
    core: { transact },
  } = fixture.world.platform
  const take = (amountCents: number) =>
    transact((tx) =>
      post(tx, {
        kind: 'test',
        at: new Date(),
        lines: [
          { account: 'operator_payable', userId: fixture.operator.id, amountCents },
          { account: 'payout_reserved', userId: fixture.operator.id, amountCents: -amountCents },
        ],
      }),
    )
  await expect(take(2_001)).rejects.toThrow('overdrawn')
  const both = await Promise.allSettled([take(1_500), take(1_500)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

describe.concurrent('Stripe', () => {
  test('rejects a transfer: the amount is available again, and the operator is notified of the reason', async () => {
    await using fixture = await createFixture(2_000)
    fixture.stripe.books.balanceCents = 0
    const answer = await fixture.requestPayout()
    expect(answer.body).toMatchObject({ status: 'FAILED', failure: expect.stringContaining('insufficient') })
    expect(await fixture.books()).toEqual({ payable: 2_000, reserved: 0, transferred: 0 })
    const [notification] = (await fixture.operator.get('/api/notifications')).body.notifications
    expect(notification).toMatchObject({ type: 'payout.failed' })
    fixture.stripe.books.balanceCents = 10_000
    expect((await fixture.requestPayout()).body.status).toBe('PAID')
  })

  const faults: StripeFault[] = ['drops', 'drops after', 'fails', 'fails after', { lateMs: 60_000 }]
  test.for(faults)(
    '%j: the payout stays reserved, is shown as pending, and is transferred once',

    async (fault) => {
      await using fixture = await createFixture(2_000)
      fixture.stripe.plan(fault, /transfers$/, 2) // includes the retry of the Stripe library
      const answer = await fixture.requestPayout()
      expect([answer.status, answer.body.status]).toEqual([201, 'PENDING'])
      expect(await fixture.overview()).toMatchObject({ availableCents: 0, pendingCents: 2_000 })
      expect((await fixture.requestPayout()).status).toBe(409)
      fixture.stripe.recover()
      await fixture.run() // too early: the original request may still wait for the answer
      expect(await fixture.overview()).toMatchObject({ pendingCents: 2_000 })
      for (let hour = 0; hour < 30; hour++) {
        fixture.later(HOUR_MS)
        if (hour === 25) fixture.stripe.forgetKeys()
        await Promise.all([fixture.run(), fixture.run()])
      }
      expect(await fixture.overview()).toMatchObject({ pendingCents: 0, payouts: [{ status: 'PAID' }] })
      expect(await fixture.books()).toEqual({ payable: 0, reserved: 0, transferred: 2_000 })
      fixture.forgiveErrors()
    },
  )

  test('rejects the status query: the payout stays reserved because it may have been paid', async () => {
    await using fixture = await createFixture(2_000)
    fixture.stripe.plan('drops after', /transfers$/, 2, 'POST')
    expect((await fixture.requestPayout()).body.status).toBe('PENDING')
    fixture.stripe.plan('refuses', /transfers$/, 1, 'GET')
    fixture.later(HOUR_MS)
    await fixture.run()
    expect(fixture.stripe.requestsTo('GET', /transfers$/)).toHaveLength(1)
    expect(await fixture.overview()).toMatchObject({ pendingCents: 2_000, payouts: [{ status: 'PENDING' }] })
    fixture.later(HOUR_MS)
    await fixture.run()
    expect(await fixture.overview()).toMatchObject({ pendingCents: 0, payouts: [{ status: 'PAID' }] })
    expect(await fixture.books()).toEqual({ payable: 0, reserved: 0, transferred: 2_000 })
    fixture.forgiveErrors()
  })

  test('the worker completes a payout if its process ends between the reservation and the transfer', async () => {
    await using fixture = await createFixture(2_000)
    const {
      core: { db, transact },
    } = fixture.world.platform
    const id = randomUUID()
    await transact(async (tx) => {
      await tx.db
        .insertInto('payouts')
        .values({
          id,
          operator_id: fixture.operator.id,
          amount_cents: 2_000,
          currency: 'EUR',
          destination: fixture.accountId,
          status: 'PENDING',
          attempts: 1,
        })
        .execute()
      tx.enqueue({ queue: PAYOUTS, data: { payoutId: id } })
      await post(tx, {
        kind: 'payout_reserved',
        at: new Date(),
        payoutId: id,
        lines: [
          { account: 'operator_payable', userId: fixture.operator.id, amountCents: 2_000 },
          { account: 'payout_reserved', userId: fixture.operator.id, amountCents: -2_000 },
        ],
      })
    })
    fixture.later(HOUR_MS)
    await Promise.all(Array.from({ length: 5 }, fixture.run))
    expect(await fixture.books()).toEqual({ payable: 0, reserved: 0, transferred: 2_000 })
    const rows = await db.selectFrom('payouts').select(['status', 'attempts']).execute()
    expect(rows).toEqual([{ status: 'PAID', attempts: 2 }])
  })
})
