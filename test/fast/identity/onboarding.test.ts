import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const PROFILE = '/api/auth/profile'
const CLIENT = '/api/client/profile'
const OPERATOR = '/api/operator/profile'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Returns the missing steps, and checks that the profile agrees. */
async function missing(user: TestUser): Promise<string[]> {
  const { status, body } = await user.get('/api/auth/check-onboarding')
  expect(status).toBe(200)
  const profile = (await user.get(PROFILE)).body
  expect(body.onboarded).toBe(body.missing.length === 0)
  expect(profile).toMatchObject({ onboarded: body.onboarded, roles: body.roles })
  return body.missing
}

describe('GET /api/auth/check-onboarding: returns the missing steps', () => {
  test('of a new user: a role', async () => {
    expect(await missing(await world.newUser())).toEqual(['role'])
  })

  test('of a client: a contact e-mail', async () => {
    const client = await world.client()
    expect(await missing(client)).toEqual(['client_profile'])
    await client.patch(CLIENT, { company_name: 'Arms' })
    expect(await missing(client)).toEqual(['client_profile'])
    await client.patch(CLIENT, { contact_email: 'a@b.example' })
    expect(await missing(client)).toEqual([])
    await client.patch(CLIENT, { contact_email: null })
    expect(await missing(client)).toEqual(['client_profile'])
  })

  test('of an operator: a headline and a time zone', async () => {
    const operator = await world.operator()
    expect(await missing(operator)).toEqual(['operator_profile'])
    await operator.post(OPERATOR, { headline: 'Steady' })
    expect(await missing(operator)).toEqual(['operator_profile'])
    await operator.post(OPERATOR, { timezone: 'UTC' })
    expect(await missing(operator)).toEqual([])
  })

  test('of a client and operator: those of both roles', async () => {
    const both = await world.client()
    expect((await both.post(PROFILE, { role: 'operator' })).body.onboarded).toBe(false)
    expect(await missing(both)).toEqual(['client_profile', 'operator_profile'])
    await both.post(OPERATOR, { headline: 'Steady', timezone: 'UTC' })
    expect(await missing(both)).toEqual(['client_profile'])
    await both.patch(CLIENT, { contact_email: 'a@b.example' })
    expect(await missing(both)).toEqual([])
    expect((await both.post(PROFILE, {})).body.onboarded).toBe(true)
    expect((await both.post('/api/auth/sync')).body.onboarded).toBe(true)
  })

  test('of an admin: none, unless they are also a client or an operator', async () => {
    const admin = await world.admin()
    expect(await missing(admin)).toEqual([])
    await admin.post(PROFILE, { role: 'client' })
    expect(await missing(admin)).toEqual(['client_profile'])
  })
})
