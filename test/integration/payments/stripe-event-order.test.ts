import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { deliver, thinEvent } from '../../support/stripe/events.ts'
import { startStripe } from '../../support/stripe/server.ts'
import { createWorld } from '../../support/world/world.ts'

async function createFixture() {
  const stripe = await startStripe()
  const world = await createWorld({ env: stripe.env })
  return {
    stripe,
    world,
    events: world.platform.payments!.stripeSync,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await stripe[Symbol.asyncDispose]()
    },
  }
}

test('the answer to the later query wins, even if an earlier answer arrives after it', async () => {
  await using fixture = await createFixture()
  const { stripe, world } = fixture
  const operator = await world.operator()
  await operator.post('/api/operator/profile', { country: 'DE' })
  await operator.post('/api/payments/connect')
  const [accountId = ''] = stripe.books.recipients.keys()
  stripe.books.finishOnboarding(accountId)
  const isReady = async () => (await operator.get('/api/operator/profile')).body.payout_ready
  const changed = () => deliver(world.baseUrl, thinEvent('v2.core.account.updated', accountId))

  stripe.plan({ answeredLateMs: 1_000 }, /accounts\/acct_\w+$/, 1, 'GET')
  const early = changed() // queries an account that is ready for payouts, and receives the answer late
  await stripe.whenRequested(/accounts\/acct_\w+$/)
  stripe.books.restrict(accountId, ['identity.individual.verification.document'])
  expect(await changed()).toBe(200)
  expect(await isReady()).toBe(false)
  expect(await early).toBe(200)
  expect(await isReady()).toBe(false)
  stripe.books.finishOnboarding(accountId)
  expect(await changed()).toBe(200)
  expect(await isReady()).toBe(true)
})

test('processes an event once despite concurrent and later deliveries, and processes another event of the same object', async () => {
  await using fixture = await createFixture()
  let applied = 0
  const refresh = (eventId: string) =>
    fixture.events.refreshFromStripe(
      'tr_1',
      async () => 'an answer',
      async () => void applied++,
      { id: eventId, type: 'transfer.reversed' },
    )
  await Promise.all([refresh('evt_1'), refresh('evt_1'), refresh('evt_1')])
  await refresh('evt_1')
  expect(applied).toBe(1)
  await refresh('evt_2')
  expect(applied).toBe(2)
})

test('removes only expired records of Stripe objects and events', async () => {
  await using fixture = await createFixture()
  const { core, payments } = fixture.world.platform
  const { db } = core
  const refresh = (id: string) =>
    fixture.events.refreshFromStripe(
      id,
      async () => 'an answer',
      async () => {},
      { id: `evt_${id}`, type: 'transfer.reversed' },
    )
  for (const id of ['tr_old', 'tr_new']) await refresh(id)
  await sql`update stripe_objects set asked_at = asked_at - interval '25 hours' where id = 'tr_old'`.execute(
    db,
  )
  await sql`update stripe_events set at = at - interval '41 days' where id = 'evt_tr_old'`.execute(db)
  await payments!.stripeSync.removeExpired()
  const ids = async (table: 'stripe_objects' | 'stripe_events') =>
    (await db.selectFrom(table).select('id').execute()).map(({ id }) => id)
  expect(await ids('stripe_objects')).toEqual(['tr_new'])
  expect(await ids('stripe_events')).toEqual(['evt_tr_new'])
})
