import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const MINUTE_MS = 60_000

let world: World
let owner: TestUser
let aheadMs = 0
beforeAll(async () => {
  world = await createWorld({ now: () => new Date(Date.now() + aheadMs) })
  owner = await world.client()
})
afterAll(() => world[Symbol.asyncDispose]())

async function createCode(robot: { id: string }, user = owner): Promise<string> {
  const reply = await user.post(`/api/client/robots/${robot.id}/pairing-code`)
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.code
}

/** Exchanges a code without a credential, as a robot does. */
async function exchange(code: string, baseUrl = world.baseUrl) {
  const response = await fetch(`${baseUrl}/api/pairing`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  const errorCode = response.headers.get('Wheelhouse-Error')
  return { status: response.status, errorCode, headers: response.headers, body: await response.json() }
}

test('a code is exchanged once for the address and the token of its robot, in any spelling', async () => {
  const robot = await world.robot(owner, { name: 'Paired' })
  const code = await createCode(robot)
  expect(code).toMatch(/^[2-9A-HJ-NP-Z]{5}-[2-9A-HJ-NP-Z]{5}$/)
  const { status, body, headers } = await exchange(` ${code.toLowerCase().replace('-', ' ')} `)
  expect(status).toBe(200)
  expect(headers.get('Cache-Control')).toBe('no-store')
  expect(body).toEqual({
    robot_id: robot.id,
    name: 'Paired',
    control_url: `${world.gatewayUrl}/robots/${robot.id}/control`,
    robot_token: robot.token,
  })
  await world.connect({ id: robot.id, token: body.robot_token })

  const again = await exchange(code)
  expect(again).toMatchObject({ status: 409, errorCode: 'pairing_code_used' })
  expect(JSON.stringify(again.body)).not.toContain(robot.token)
})

test('one of several concurrent exchanges wins', async () => {
  const code = await createCode(await world.robot(owner))
  const replies = await Promise.all(Array.from({ length: 8 }, () => exchange(code)))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
})

test('a code ends after ten minutes, with a newer code, with a new token and with its robot', async () => {
  const robot = await world.robot(owner)
  const invalid = { status: 404, errorCode: 'pairing_code_invalid' }
  const [first, second] = [await createCode(robot), await createCode(robot)]
  expect(await exchange(first)).toMatchObject(invalid)

  await owner.post(`/api/client/robots/${robot.id}/token`)
  expect(await exchange(second)).toMatchObject(invalid)

  const expired = await createCode(robot)
  aheadMs += 10 * MINUTE_MS
  expect(await exchange(expired)).toMatchObject(invalid)

  const orphaned = await createCode(robot)
  expect((await owner.delete(`/api/client/robots/${robot.id}`)).status).toBe(204)
  expect(await exchange(orphaned)).toMatchObject(invalid)
  expect(await exchange('22222-22222')).toMatchObject(invalid)
})

test('the token after a rotation and a new code is the current one', async () => {
  const robot = await world.robot(owner)
  const { robot_token } = (await owner.post(`/api/client/robots/${robot.id}/token`)).body
  expect((await exchange(await createCode(robot))).body.robot_token).toBe(robot_token)
})

test('only the owner creates codes, and malformed codes are refused before the database is asked', async () => {
  const robot = await world.robot(owner)
  const stranger = await world.client()
  expect((await stranger.post(`/api/client/robots/${robot.id}/pairing-code`)).status).toBe(404)
  for (const code of ['', '1234', 'IIIII-00000', '2'.repeat(101)])
    expect(await exchange(code), code).toMatchObject({ status: 400, errorCode: 'invalid_request' })
})

test('the database has no code, and the audit log has its creation and its use', async () => {
  const robot = await world.robot(owner)
  const code = await createCode(robot)
  await exchange(code)
  const { db } = world.platform.core
  const rows = await db.selectFrom('robot_pairings').selectAll().where('robot_id', '=', robot.id).execute()
  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(code)
  expect(JSON.stringify(rows)).not.toContain(code.replace('-', ''))
  const entries = await db
    .selectFrom('audit_log')
    .select(['action', 'actor_id', 'data'])
    .where('subject_id', '=', robot.id)
    .orderBy('id')
    .execute()
  expect(entries).toMatchObject([
    { action: 'robot.pairing_code_created', actor_id: owner.id },
    { action: 'robot.paired', actor_id: null, data: { owner_id: owner.id } },
  ])
  expect(JSON.stringify(entries)).not.toContain(code)
})

test('attempts with one code are limited, and do not keep other robots of the network from pairing', async () => {
  await using limited = await createWorld({ env: { RATE_LIMIT_PUBLIC_PER_MINUTE: '45' } })
  const statuses: number[] = []
  for (let count = 0; count < 20; count++)
    statuses.push((await exchange('22222-22222', limited.baseUrl)).status)
  expect(statuses).toEqual([404, 404, 404, ...Array(17).fill(429)])
  const client = await limited.client()
  const code = await createCode(await limited.robot(client), client)
  expect((await exchange(code, limited.baseUrl)).status).toBe(200)
})

test('attempts are limited for each network', async () => {
  await using limited = await createWorld({ env: { RATE_LIMIT_PER_MINUTE: '3' } })
  const statuses: number[] = []
  for (const last of '23456') statuses.push((await exchange(`22222-2222${last}`, limited.baseUrl)).status)
  expect(statuses).toEqual([404, 404, 404, 429, 429])
})
