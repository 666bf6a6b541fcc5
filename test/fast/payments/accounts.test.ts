import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask } from '../../support/network/http-request.ts'
import { deliver, snapshotEvent } from '../../support/stripe/events.ts'
import { createPaymentsFixture, type PaymentsFixture } from '../../support/stripe/payments-fixture.ts'
import type { StripeFault } from '../../support/stripe/server.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const routes = [
  ['POST', '/api/payments/customer', 'client'],
  ['POST', '/api/payments/setup-intent', 'client'],
  ['POST', '/api/payments/portal', 'client'],
  ['GET', '/api/payments/connect', 'operator'],
  ['POST', '/api/payments/connect', 'operator'],
  ['GET', '/api/payments/payout', 'operator'],
  ['POST', '/api/payments/payout', 'operator'],
] as const

let payments: PaymentsFixture
beforeAll(async () => {
  payments = await createPaymentsFixture()
})
afterAll(() => payments[Symbol.asyncDispose]())

const userWithRole = (world: World, role: 'client' | 'operator') =>
  role === 'client' ? world.client() : world.operator()

test('every route checks the credential and the role, and returns 503 on a platform without a Stripe key', async () => {
  await using world = await createWorld()
  for (const [method, path, role] of routes) {
    const valid = await userWithRole(world, role)
    const wrong = await userWithRole(world, role === 'client' ? 'operator' : 'client')
    const { key } = await valid.key()
    const status = async (credential: string, user = valid) =>
      (await user.request(method, path, undefined, credential)).status
    expect([await status(''), await status(key), await status(wrong.token, wrong)], path).toEqual([
      401, 403, 403,
    ])
    const answer = await valid.request(method, path)
    expect([answer.status, answer.body.error], path).toEqual([
      503,
      'Payments are not set up on this platform',
    ])
  }
  expect(await deliver(world.baseUrl, snapshotEvent('customer.updated', { id: 'cus_1' }))).toBe(503)
})

describe('customer', () => {
  test('exists once per client, even with concurrent requests', async () => {
    const client = await payments.world.client()
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.post('/api/payments/customer')))
    const made = answers.filter(({ status }) => status === 200).map(({ body }) => body.customerId)
    expect(new Set(made).size).toBe(1)
    expect(payments.customersOf(client)).toHaveLength(1)
    const again = await client.post('/api/payments/customer')
    expect([again.status, again.body]).toEqual([200, { customerId: made[0] }])
    const [customer] = payments.customersOf(client)
    expect(customer).toMatchObject({ id: made[0], name: client.name, metadata: { user_id: client.id } })
    payments.recover() // a concurrent request may have logged an error that asks for a retry
  })

  test('has the name and address of the client profile', async () => {
    const client = await payments.world.client()
    await client.patch('/api/client/profile', {
      company_name: 'Deep Sea Ltd',
      contact_email: 'pay@deep.example',
    })
    await client.post('/api/payments/customer')
    const [customer] = payments.customersOf(client)
    expect(customer).toMatchObject({ name: 'Deep Sea Ltd', email: 'pay@deep.example' })
  })

  const faults: [StripeFault, number][] = [
    ['drops', 1],
    ['drops', 2],
    ['drops after', 1],
    ['drops after', 2],
  ]
  test.for(faults)('exists once although Stripe %s, %i times', async ([fault, times]) => {
    const client = await payments.world.client()
    payments.stripe.plan(fault, /customers$/, times)
    const first = await client.post('/api/payments/customer')
    expect(first.status).toBe(times === 1 ? 200 : 503)
    const second = await client.post('/api/payments/customer')
    expect(second.status).toBe(200)
    expect(payments.customersOf(client)).toMatchObject([{ id: second.body.customerId }])
    payments.recover()
  })

  test('Stripe repeats a stored failure for its idempotency key, so the next attempt has a new key', async () => {
    const client = await payments.world.client()
    payments.stripe.plan('fails', /customers$/)
    const first = await client.post('/api/payments/customer')
    expect([first.status, first.body.error]).toEqual([
      503,
      'The payment provider does not answer. Try again shortly.',
    ])
    expect((await client.post('/api/payments/customer')).status).toBe(200)
    expect(payments.customersOf(client)).toHaveLength(1)
    payments.recover()
  })

  test('an API key that Stripe rejects results in 503 with the reason', async () => {
    const client = await payments.world.client()
    payments.stripe.rejectKey()
    const answer = await client.post('/api/payments/customer')
    expect([answer.status, answer.body.error]).toEqual([
      503,
      'The payment provider does not accept the key of this platform. Ask an administrator to check it.',
    ])
    payments.recover()
  })

  test('a Stripe server that does not answer results in an error within bounded time', async () => {
    const client = await payments.world.client()
    const { length } = payments.stripe.requests
    payments.stripe.plan({ executedAfter: new Promise(() => {}) }, /customers$/, 9)
    expect((await client.post('/api/payments/customer')).status).toBe(503)
    expect(payments.stripe.requests.length - length).toBeLessThanOrEqual(2)
    payments.recover()
  })
})

describe('payment methods', () => {
  test('setup intent and portal create the client’s customer if it does not exist', async () => {
    const client = await payments.world.client()
    const intent = await client.post('/api/payments/setup-intent')
    expect([intent.status, intent.body]).toEqual([201, { clientSecret: expect.stringContaining('_secret_') }])
    const portal = await client.post('/api/payments/portal')
    expect([portal.status, portal.body]).toEqual([201, { url: expect.stringMatching(/^https:/) }])
    const [customer] = payments.customersOf(client)
    for (const path of [/setup_intents$/, /portal/]) {
      const request = payments.stripe.requestsTo('POST', path).at(-1)
      expect(request?.params.customer).toBe(customer?.id)
    }
    expect(payments.customersOf(client)).toHaveLength(1)
  })

  test('recreates a customer that was deleted at Stripe', async () => {
    const client = await payments.world.client()
    const { customerId } = (await client.post('/api/payments/customer')).body
    payments.books.forget(customerId)
    expect((await client.post('/api/payments/portal')).status).toBe(201)
    const renewed = (await client.post('/api/payments/customer')).body.customerId
    expect(renewed).not.toBe(customerId)
    expect(payments.customersOf(client)).toMatchObject([{ id: renewed }])
  })
})

describe('payout account', () => {
  test('becomes ready after onboarding and loses readiness when Stripe requires more information', async () => {
    const operator = await payments.operator()
    const status = async () => (await operator.get('/api/payments/connect')).body
    const profile = async () => (await operator.get('/api/operator/profile')).body
    const nothing = { connected: false, accountId: null, payoutsEnabled: false, requirements: [] }
    expect(await status()).toEqual(nothing)

    const begun = await operator.post('/api/payments/connect')
    expect([begun.status, begun.body]).toEqual([200, { url: expect.stringMatching(/^https:/) }])
    const [{ id: accountId = '' } = {}] = payments.recipientsOf(operator)
    expect(await status()).toEqual({
      connected: true,
      accountId,
      payoutsEnabled: false,
      requirements: [
        'identity.individual.date_of_birth',
        'configuration.recipient.default_outbound_destination',
      ],
    })
    expect(await profile()).toMatchObject({ payout_ready: false })

    payments.books.finishOnboarding(accountId)
    expect(await status()).toEqual({ connected: true, accountId, payoutsEnabled: true, requirements: [] })
    expect(await profile()).toMatchObject({ payout_ready: true, country: 'DE' })

    payments.books.restrict(accountId, ['identity.individual.verification.document'])
    expect(await status()).toMatchObject({
      connected: true,
      payoutsEnabled: false,
      requirements: ['identity.individual.verification.document'],
    })
    expect(await profile()).toMatchObject({ payout_ready: false })

    payments.books.forget(accountId)
    expect(await status()).toEqual(nothing)
  })

  test('exists once per operator, even with concurrent requests; every link is new', async () => {
    const operator = await payments.operator()
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => operator.post('/api/payments/connect')),
    )
    const urls = answers.filter(({ status }) => status === 200).map(({ body }) => body.url)
    expect(urls.length).toBeGreaterThan(0)
    expect(new Set(urls).size).toBe(urls.length)
    expect(payments.recipientsOf(operator)).toHaveLength(1)
    payments.recover()
  })

  test('requires the country of the operator profile', async () => {
    const operator = await payments.world.operator()
    const { length } = payments.stripe.requests
    const answer = await operator.post('/api/payments/connect')
    expect([answer.status, answer.body.error]).toEqual([409, expect.stringContaining('country')])
    expect(payments.stripe.requests).toHaveLength(length)
  })

  test('an expired link redirects only the signed-in operator to a new link', async () => {
    const operator = await payments.operator()
    const client = await payments.world.client()
    await operator.post('/api/payments/connect')
    const links = payments.stripe.requestsTo('POST', /account_links$/)
    const back = `${payments.world.baseUrl}/auth/payouts`
    expect(links.at(-1)?.params).toMatchObject({ use_case: { account_onboarding: { refresh_url: back } } })
    const openLink = async (cookie: string) =>
      await ask(back, { headers: { ...(cookie && { Cookie: cookie }), Accept: 'text/html' } })
    const fresh = await openLink(`__session=${operator.token}`)
    expect([fresh.status, fresh.headers.get('Location')]).toEqual([
      302,
      expect.stringMatching(/^https:\/\/connect\./),
    ])
    const unrelatedUser = await openLink('')
    expect([unrelatedUser.status, unrelatedUser.headers.get('Location')]).toEqual([
      302,
      '/auth/login?return_to=%2Fauth%2Fpayouts',
    ])
    expect((await openLink(`__session=${client.token}`)).status).toBe(403)
    expect(payments.stripe.requestsTo('POST', /account_links$/)).toHaveLength(links.length + 1)
  })
})
