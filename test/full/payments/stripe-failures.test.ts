import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { PAYOUTS } from '../../../src/modules/payments/payout-transfers.ts'
import { createPaymentsFixture, type PaymentsFixture } from '../../support/stripe/payments-fixture.ts'
import type { FakeStripe, StripeFault } from '../../support/stripe/server.ts'
import { checkFailure, stripeFailures } from '../../support/stripe/stripe-failures.ts'

const PAYMENTS = '/api/payments'
const EARNED_CENTS = 5_000
const HOUR_MS = 3_600_000

let payments: PaymentsFixture
let stripe: FakeStripe
let aheadMs = 0

beforeAll(async () => {
  payments = await createPaymentsFixture({ now: () => new Date(Date.now() + aheadMs) })
  stripe = payments.stripe
})
afterAll(() => payments[Symbol.asyncDispose]())
afterEach(() => payments.recover()) // a Stripe failure is logged as an error, and these tests expect it

test.for(Object.entries(stripeFailures))(
  'Stripe %s: every route reports the failure, and works after recovery',
  ([, failure]) => checkFailure(payments, failure),
)

const faults: StripeFault[] = [
  { status: 429, type: 'rate_limit' },
  { status: 401, type: 'invalid_request_error' },
  { status: 403, type: 'invalid_request_error' },
  { answers: '<html>Bad gateway</html>' },
  { answers: '"ok"' },
  { answers: '{}' },
]
test.for(faults)(
  'Stripe answers a transfer with %j: the payout is pending and is transferred once',
  async (fault) => {
    const operator = await payments.operator()
    const accountId = await payments.earn(operator, EARNED_CENTS)
    stripe.plan(fault, /transfers$/, 2, 'POST')
    const { status, body } = await operator.post(`${PAYMENTS}/payout`)
    expect([status, body]).toMatchObject([201, { status: 'PENDING', failure: null }])
    expect(await payments.moneyOf(operator, accountId)).toMatchObject({
      payable: 0,
      reserved: EARNED_CENTS,
    })
    stripe.recover()
    aheadMs += 2 * HOUR_MS
    stripe.forgetKeys()
    await payments.world.runJobs(PAYOUTS)
    const overview = (await operator.get(`${PAYMENTS}/payout`)).body
    expect(overview).toMatchObject({ pendingCents: 0, payouts: [{ id: body.id, status: 'PAID' }] })
    const paidOnce = { payable: 0, reserved: 0, transferred: [EARNED_CENTS] }
    expect(await payments.moneyOf(operator, accountId)).toEqual(paidOnce)
  },
)
