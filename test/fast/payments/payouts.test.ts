import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { post } from '../../../src/modules/billing/ledger.ts'
import { PAYOUTS } from '../../../src/modules/payments/payout-transfers.ts'
import { createPaymentsFixture, type PaymentsFixture } from '../../support/stripe/payments-fixture.ts'
import type { StripeFault } from '../../support/stripe/server.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const PAYOUT = '/api/payments/payout'

let payments: PaymentsFixture
let aheadMs = 0
beforeAll(async () => {
  payments = await createPaymentsFixture({ now: () => new Date(Date.now() + aheadMs) })
})
afterAll(() => payments[Symbol.asyncDispose]())

const later = (ms: number) => {
  aheadMs += ms
}
/** Runs the worker once. */
const run = () => payments.world.runJobs(PAYOUTS)

/** Creates an operator with earnings and a payout account. */
async function earningOperator(earnedCents: number) {
  const operator = await payments.operator()
  const accountId = await payments.earn(operator, earnedCents)
  return {
    operator,
    accountId,
    requestPayout: (amountCents?: number) =>
      operator.post(PAYOUT, amountCents === undefined ? {} : { amountCents }),
    overview: async () => (await operator.get(PAYOUT)).body,
    /** Returns the operator's ledger balances and the amounts that Stripe has transferred. */
    money: () => payments.moneyOf(operator, accountId),
  }
}

test('pays out all earnings and leaves no amount for a second payout', async () => {
  const { operator, accountId, overview, requestPayout, money } = await earningOperator(4_250)
  expect(await overview()).toEqual({
    availableCents: 4_250,
    pendingCents: 0,
    minimumCents: 1_000,
    currency: 'EUR',
    payouts: [],
    pendingEarningsCents: 0,
    nextAvailableAt: null,
  })
  const answer = await requestPayout()
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
  expect(await overview()).toMatchObject({ availableCents: 0, pendingCents: 0, payouts: [answer.body] })
  expect(await money()).toEqual({ payable: 0, reserved: 0, transferred: [4_250] })
  expect(payments.transfersTo(accountId)).toMatchObject([{ transfer_group: answer.body.id }])
  const [notification] = (await operator.get('/api/notifications')).body.notifications
  expect(notification).toMatchObject({ type: 'payout.paid', data: { amount_cents: 4_250 } })
  expect((await requestPayout()).status).toBe(409)
})

test('a request without a body pays out all earnings', async () => {
  const { operator } = await earningOperator(1_000)
  expect((await operator.request('POST', PAYOUT)).body).toMatchObject({ amountCents: 1_000 })
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
    const { requestPayout, money } = await earningOperator(earned)
    const answer = await requestPayout(asked)
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(text)])
    expect(await money()).toEqual({ payable: earned, reserved: 0, transferred: [] })
  },
)

test('reserves nothing without a payout account or with a restricted payout account', async () => {
  const { accountId, requestPayout, money } = await earningOperator(2_000)
  payments.books.restrict(accountId, ['identity.individual.verification.document'])
  expect((await requestPayout()).body.error).toContain('not ready')
  payments.books.forget(accountId)
  expect((await requestPayout()).body.error).toContain('no payout account')
  expect(await money()).toEqual({ payable: 2_000, reserved: 0, transferred: [] })
})

test('concurrent requests never pay out more than the earnings', async () => {
  const { requestPayout, money } = await earningOperator(10_000)
  const answers = await Promise.all(Array.from({ length: 20 }, () => requestPayout(3_000)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, ...Array(17).fill(409)])
  expect(await money()).toEqual({ payable: 1_000, reserved: 0, transferred: [3_000, 3_000, 3_000] })
})

test('the database rejects a payout above the earnings', async () => {
  const { operator } = await earningOperator(2_000)
  const { transact } = payments.world.platform.core
  const take = (amountCents: number) =>
    transact((tx) =>
      post(tx, {
        kind: 'test',
        at: new Date(),
        lines: [
          { account: 'operator_payable', userId: operator.id, amountCents },
          { account: 'payout_reserved', userId: operator.id, amountCents: -amountCents },
        ],
      }),
    )
  await expect(take(2_001)).rejects.toThrow('overdrawn')
  const both = await Promise.allSettled([take(1_500), take(1_500)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

describe('Stripe', () => {
  test('rejects a transfer: the amount is available again, and the operator is notified of the reason', async () => {
    const { operator, requestPayout, money } = await earningOperator(2_000)
    const { balanceCents } = payments.books
    payments.books.balanceCents = 0
    const answer = await requestPayout()
    payments.books.balanceCents = balanceCents
    expect(answer.body).toMatchObject({ status: 'FAILED', failure: expect.stringContaining('insufficient') })
    expect(await money()).toEqual({ payable: 2_000, reserved: 0, transferred: [] })
    const [notification] = (await operator.get('/api/notifications')).body.notifications
    expect(notification).toMatchObject({ type: 'payout.failed' })
    expect((await requestPayout()).body.status).toBe('PAID')
  })

  const faults: [string, StripeFault][] = [
    ['drops the request', 'drops'],
    ['drops the response', 'drops after'],
    ['fails', 'fails'],
    ['fails after the transfer', 'fails after'],
    ['does not answer', { executedAfter: new Promise(() => {}) }],
  ]
  test.for(faults)(
    '%s: the payout stays reserved, is shown as pending, and is transferred once',
    async ([, fault]) => {
      const { overview, requestPayout, money } = await earningOperator(2_000)
      payments.stripe.plan(fault, /transfers$/, 2) // includes the retry of the Stripe library
      const answer = await requestPayout()
      expect([answer.status, answer.body.status]).toEqual([201, 'PENDING'])
      expect(await overview()).toMatchObject({ availableCents: 0, pendingCents: 2_000 })
      expect((await requestPayout()).status).toBe(409)
      payments.recover()
      await run() // too early: the original request may still wait for the answer
      expect(await overview()).toMatchObject({ pendingCents: 2_000 })
      // Stripe repeats a stored failure for a day.
      for (const ms of [HOUR_MS, HOUR_MS, DAY_MS, HOUR_MS, HOUR_MS]) {
        later(ms)
        if (ms === DAY_MS) payments.stripe.forgetKeys()
        await Promise.all([run(), run()])
      }
      expect(await overview()).toMatchObject({ pendingCents: 0, payouts: [{ status: 'PAID' }] })
      expect(await money()).toEqual({ payable: 0, reserved: 0, transferred: [2_000] })
      payments.recover()
    },
  )

  test('rejects the status query: the payout stays reserved because it may have been paid', async () => {
    const { overview, requestPayout, money } = await earningOperator(2_000)
    payments.stripe.plan('drops after', /transfers$/, 2, 'POST')
    expect((await requestPayout()).body.status).toBe('PENDING')
    payments.stripe.plan('refuses', /transfers$/, 1, 'GET')
    const { length } = payments.stripe.requests
    later(HOUR_MS)
    await run()
    const queries = payments.stripe.requests.slice(length).filter(({ path }) => path.endsWith('/transfers'))
    expect(queries).toMatchObject([{ method: 'GET' }])
    expect(await overview()).toMatchObject({ pendingCents: 2_000, payouts: [{ status: 'PENDING' }] })
    later(HOUR_MS)
    await run()
    expect(await overview()).toMatchObject({ pendingCents: 0, payouts: [{ status: 'PAID' }] })
    expect(await money()).toEqual({ payable: 0, reserved: 0, transferred: [2_000] })
    payments.recover()
  })

  test.each([
    ['an operator', false],
    ['a suspended operator', true],
  ])(
    'the worker completes a payout of %s if its process ends before the transfer',
    async (_who, suspended) => {
      const { operator, accountId, money, requestPayout } = await earningOperator(2_000)
      const { db, transact } = payments.world.platform.core
      const id = randomUUID()
      await transact(async (tx) => {
        await tx.db
          .insertInto('payouts')
          .values({
            id,
            operator_id: operator.id,
            amount_cents: 2_000,
            currency: 'EUR',
            destination: accountId,
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
            { account: 'operator_payable', userId: operator.id, amountCents: 2_000 },
            { account: 'payout_reserved', userId: operator.id, amountCents: -2_000 },
          ],
        })
      })
      if (suspended) {
        const admin = await payments.world.admin()
        const reply = await admin.post(`/api/admin/users/${operator.id}/suspend`, {
          reason: 'Unsafe driving',
        })
        expect(reply.status).toBe(204)
        expect((await requestPayout()).status).toBe(403)
      }
      later(HOUR_MS)
      await Promise.all(Array.from({ length: 5 }, run))
      expect(await money()).toEqual({ payable: 0, reserved: 0, transferred: [2_000] })
      const payout = db.selectFrom('payouts').select(['status', 'attempts']).where('id', '=', id)
      expect(await payout.execute()).toEqual([{ status: 'PAID', attempts: 2 }])
    },
  )
})
