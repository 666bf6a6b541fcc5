import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isCountry } from '../../../src/core/http/locale-fields.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const CLIENT = '/api/client/profile'
const OPERATOR = '/api/operator/profile'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

describe('the client profile', () => {
  test('GET /api/client/profile: is empty before the first save, with the dates of the account', async () => {
    const client = await world.client()
    const { created_at } = (await client.get('/api/auth/profile')).body
    expect(await client.get(CLIENT)).toMatchObject({ status: 200 })
    expect((await client.get(CLIENT)).body).toEqual({
      company_name: null,
      contact_email: null,
      phone: null,
      country: null,
      vat_id: null,
      billing_ready: false,
      created_at,
    })
  })

  test('PATCH /api/client/profile: changes only the given fields, and null clears a field', async () => {
    const client = await world.client()
    const first = await client.patch(CLIENT, { company_name: ' Arms & Legs ', country: 'de' })
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({ company_name: 'Arms & Legs', country: 'DE', contact_email: null })

    const second = await client.patch(CLIENT, { contact_email: 'ops@arms.example', company_name: null })
    expect(second.body).toEqual({
      company_name: null,
      contact_email: 'ops@arms.example',
      phone: null,
      country: 'DE',
      vat_id: null,
      billing_ready: false,
      created_at: first.body.created_at,
    })
    expect((await client.get(CLIENT)).body).toEqual(second.body)
  })

  test('accepts telephone and VAT numbers in common notations', async () => {
    const client = await world.client()
    const written = { phone: '+49 (0)30 / 123-456.7', vat_id: 'de 123.456-789' }
    expect((await client.patch(CLIENT, written)).body).toMatchObject({
      phone: '+49 (0)30 / 123-456.7',
      vat_id: 'DE123456789',
    })
    for (const vat_id of [
      'ATU12345678',
      'ESX1234567X',
      'CHE-123.456.788 MWST',
      'XI123456789',
      '51 824 753 556',
    ]) {
      expect((await client.patch(CLIENT, { vat_id })).status, vat_id).toBe(200)
    }
  })

  test.each([
    ['', {}],
    ['company_name', { company_name: '' }],
    ['company_name', { company_name: 'a\0b' }],
    ['company_name', { company_name: 'x'.repeat(201) }],
    ['contact_email', { contact_email: 'invalid' }],
    ['contact_email', { contact_email: 'a@b.example\r\nBcc: c@d.example' }],
    ['phone', { phone: 'call me' }],
    ['phone', { phone: '+49' }],
    ['phone', { phone: '+1234567890123456' }],
    ['phone', { phone: `12345+${'6'.repeat(20)}` }],
    ['country', { country: 'Germany' }],
    ['country', { country: 'ZZ' }],
    ['country', { country: 'UK' }],
    ['country', { country: 'ß' }],
    ['vat_id', { vat_id: 'none' }],
    ['vat_id', { vat_id: 'DE1' }],
    ['vat_id', { vat_id: '<b>123456</b>' }],
    ['billing_ready', { billing_ready: true }],
    ['payment_method_at', { payment_method_at: '2026-01-01T00:00:00.000Z' }],
    ['created_at', { created_at: '2026-01-01T00:00:00.000Z' }],
  ])('answers 400 naming %s for %j, and saves nothing', async (field, body) => {
    const client = await world.client()
    const before = (await client.get(CLIENT)).body
    const reply = await client.patch(CLIENT, body)
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
    expect((await client.get(CLIENT)).body).toEqual(before)
  })

  test('keeps every change of concurrent requests', async () => {
    const client = await world.client()
    const change = {
      company_name: 'Arms',
      contact_email: 'a@b.example',
      phone: '123456',
      country: 'FR',
      vat_id: 'FR12345678901',
    }
    const replies = await Promise.all(
      Object.entries(change).map(([field, value]) => client.patch(CLIENT, { [field]: value })),
    )
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200, 200, 200])
    expect((await client.get(CLIENT)).body).toMatchObject(change)
  })

  test('is ready for billing after a payment method is saved', async () => {
    const client = await world.client()
    await client.patch(CLIENT, { company_name: 'Arms' })
    await world.platform.core.db
      .updateTable('client_profiles')
      .set({ payment_method_at: new Date() })
      .where('organization_id', '=', client.id)
      .execute()
    expect((await client.get(CLIENT)).body.billing_ready).toBe(true)
  })

  test('accepts the 249 countries of ISO 3166-1 and Kosovo', () => {
    const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
    const codes = alphabet.flatMap((first) => alphabet.map((second) => first + second)).filter(isCountry)
    expect(codes).toHaveLength(250)
    expect(codes).toEqual(expect.arrayContaining(['AX', 'BQ', 'DE', 'GB', 'SS', 'UM', 'XK']))
    for (const code of ['EU', 'SU', 'UK', 'XA', 'de', 'D', '']) expect(isCountry(code), code).toBe(false)
  })
})

describe('the operator profile', () => {
  const whole = {
    headline: 'Steady hands',
    bio: 'I drive.\nSince 2019.',
    country: 'IN',
    timezone: 'Asia/Kolkata',
    languages: ['en', 'hi'],
  }

  test('GET /api/operator/profile: is empty before the first save, with the dates of the account', async () => {
    const operator = await world.operator()
    const { created_at } = (await operator.get('/api/auth/profile')).body
    const { status, body } = await operator.get(OPERATOR)
    expect(status).toBe(200)
    expect(body).toEqual({
      headline: null,
      bio: null,
      country: null,
      timezone: null,
      languages: [],
      rating_average: null,
      rating_count: 0,
      payout_ready: false,
      created_at,
    })
  })

  test('POST /api/operator/profile: creates the profile, then changes only the given fields; null clears a field', async () => {
    const operator = await world.operator()
    const created = await operator.post(OPERATOR, whole)
    expect(created).toMatchObject({ status: 200, body: whole })

    const changed = await operator.post(OPERATOR, { headline: 'Steadier', bio: null })
    expect(changed.body).toEqual({ ...created.body, headline: 'Steadier', bio: null })
    expect((await operator.get(OPERATOR)).body).toEqual(changed.body)
    const unchanged = await operator.post(OPERATOR, {})
    expect(unchanged.body).toEqual(changed.body)
    expect(unchanged.body.created_at).toBe(created.body.created_at)
  })

  test('can be created empty', async () => {
    const operator = await world.operator()
    expect(await operator.post(OPERATOR, {})).toMatchObject({ status: 200, body: { languages: [] } })
  })

  test('normalizes time zones and languages, and removes duplicate languages', async () => {
    const operator = await world.operator()
    const given = { timezone: 'europe/berlin', languages: ['EN-us', 'pt-br', 'en-US', 'zh-hans'] }
    expect((await operator.post(OPERATOR, given)).body).toMatchObject({
      timezone: 'Europe/Berlin',
      languages: ['en-US', 'pt-BR', 'zh-Hans'],
    })
  })

  test('explains which code to send instead of the name of a country or a language', async () => {
    const operator = await world.operator()
    const country = { country: 'Germany', languages: ['German'] }
    expect((await operator.post(OPERATOR, country)).body).toEqual({
      error:
        'country: must be the two-letter code of a country (ISO 3166-1), such as DE for Germany; ' +
        'languages.0: must be the code of a language (BCP 47), such as de or pt-BR',
    })
  })

  test.each([
    ['headline', { headline: 'two\nlines' }],
    ['headline', { headline: 'x'.repeat(121) }],
    ['bio', { bio: 'x'.repeat(4_001) }],
    ['bio', { bio: 'a\ud800' }],
    ['country', { country: 'XX' }],
    ['country', { country: 'Germany' }],
    ['country', { country: 'DEU' }],
    ['country', { country: 'ß' }],
    ['country', { country: '' }],
    ['languages.0', { languages: ['German'] }],
    ['languages.0', { languages: ['english'] }],
    ['languages.0', { languages: ['de-XX'] }],
    ['timezone', { timezone: 'Berlin' }],
    ['timezone', { timezone: '+01:00' }],
    ['timezone', { timezone: '' }],
    ['timezone', { timezone: 'Europe/Berlin\0' }],
    ['languages.1', { languages: ['en', 'en_US'] }],
    ['languages.0', { languages: [''] }],
    ['languages', { languages: Array(21).fill('en') }],
    ['languages', { languages: null }],
    ['rating_average', { rating_average: 5 }],
    ['rating_count', { rating_count: 5 }],
    ['payout_ready', { payout_ready: true }],
  ])('answers 400 naming %s for %j, and saves nothing', async (field, body) => {
    const operator = await world.operator()
    await operator.post(OPERATOR, whole)
    const reply = await operator.post(OPERATOR, body)
    expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
    expect((await operator.get(OPERATOR)).body).toMatchObject(whole)
  })

  test('is created once by twenty concurrent requests', async () => {
    const operator = await world.operator()
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => operator.post(OPERATOR, { headline: `Number ${index}` })),
    )
    expect(replies.map((reply) => reply.status)).toEqual(Array(20).fill(200))
    expect(new Set(replies.map((reply) => reply.body.created_at)).size).toBe(1)
  })

  test('returns the mean of the operator’s own ratings', async () => {
    const [client, operator, secondOperator] = [
      await world.client(),
      await world.operator(),
      await world.operator(),
    ]
    const robot = await world.robot(client)
    const rated = (operatorId: string, rating: number | null) => ({
      id: randomUUID(),
      robot_id: robot.id,
      client_id: client.id,
      operator_id: operatorId,
      rating,
      status: 'COMPLETED' as const,
      started_at: new Date(),
      ended_at: new Date(),
    })
    const sessions = [5, 4, 4, null].map((rating) => rated(operator.id, rating))
    await world.platform.core.db
      .insertInto('sessions')
      .values([...sessions, rated(secondOperator.id, 1)])
      .execute()

    expect((await operator.get(OPERATOR)).body).toMatchObject({ rating_average: 4.33, rating_count: 3 })
    expect((await operator.post(OPERATOR, {})).body).toMatchObject({ rating_average: 4.33, rating_count: 3 })
    expect((await secondOperator.get(OPERATOR)).body).toMatchObject({ rating_average: 1, rating_count: 1 })
  })

  test('is ready for payouts after Stripe confirms it', async () => {
    const operator = await world.operator()
    await operator.post(OPERATOR, whole)
    await world.platform.core.db
      .updateTable('operator_profiles')
      .set({ payout_ready_at: new Date() })
      .where('user_id', '=', operator.id)
      .execute()
    expect((await operator.get(OPERATOR)).body.payout_ready).toBe(true)
  })
})
