import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliver, thinEvent } from '../../support/stripe/events.ts'
import { createPaymentsFixture, type PaymentsFixture } from '../../support/stripe/payments-fixture.ts'

let payments: PaymentsFixture
beforeAll(async () => {
  payments = await createPaymentsFixture()
})
afterAll(() => payments[Symbol.asyncDispose]())

/** Refreshes a transfer because of an event. */
const refresh = (transferId: string, eventId: string, apply: () => void = () => {}) =>
  payments.world.platform.payments!.stripeSync.refreshFromStripe(
    transferId,
    async () => 'an answer',
    async () => apply(),
    { id: eventId, type: 'transfer.reversed' },
  )

test('the answer to the later query wins, even if an earlier answer arrives after it', async () => {
  const { stripe, books, world } = payments
  const operator = await payments.operator()
  const accountId = await payments.earn(operator, 1_000)
  const isReady = async () => (await operator.get('/api/operator/profile')).body.payout_ready
  const changed = () => deliver(world.baseUrl, thinEvent('v2.core.account.updated', accountId))

  const answered = Promise.withResolvers<void>()
  const account = new RegExp(`accounts/${accountId}$`)
  stripe.plan({ answeredAfter: answered.promise }, account, 1, 'GET')
  const early = changed() // queries an account that is ready for payouts, and receives the answer late
  await stripe.whenRequested(account)
  books.restrict(accountId, ['identity.individual.verification.document'])
  expect(await changed()).toBe(200)
  expect(await isReady()).toBe(false)
  answered.resolve()
  expect(await early).toBe(200)
  expect(await isReady()).toBe(false)
  books.finishOnboarding(accountId)
  expect(await changed()).toBe(200)
  expect(await isReady()).toBe(true)
})

test('processes an event once despite concurrent and later deliveries, and processes another event of the same object', async () => {
  let applied = 0
  const apply = () => void applied++
  await Promise.all(Array.from({ length: 3 }, () => refresh('tr_1', 'evt_1', apply)))
  await refresh('tr_1', 'evt_1', apply)
  expect(applied).toBe(1)
  await refresh('tr_1', 'evt_2', apply)
  expect(applied).toBe(2)
})

test('removes only expired records of Stripe objects and events', async () => {
  const { db } = payments.world.platform.core
  for (const age of ['old', 'new']) await refresh(`tr_${age}`, `evt_${age}`)
  await sql`update stripe_objects set asked_at = asked_at - interval '25 hours' where id = 'tr_old'`.execute(
    db,
  )
  await sql`update stripe_events set at = at - interval '41 days' where id = 'evt_old'`.execute(db)
  await payments.world.platform.payments!.stripeSync.removeExpired()
  const remaining = async (table: 'stripe_objects' | 'stripe_events', ids: string[]) =>
    (await db.selectFrom(table).select('id').where('id', 'in', ids).execute()).map(({ id }) => id)
  expect(await remaining('stripe_objects', ['tr_old', 'tr_new'])).toEqual(['tr_new'])
  expect(await remaining('stripe_events', ['evt_old', 'evt_new'])).toEqual(['evt_new'])
})
