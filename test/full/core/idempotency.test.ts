import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { ask } from '../../support/network/http-request.ts'
import { query, startWheelhouse } from '../../support/processes/processes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const ROBOTS = '/api/client/robots'
/** Longer than the lease of a request that died. */
const LEASE_OVER_MS = 31_000

let world: World
let owner: TestUser
let sql: Client
/** The offset of the platform's clock. */
let aheadMs = 0
beforeAll(async () => {
  world = await createWorld({ bus: 'redis', now: () => new Date(Date.now() + aheadMs) })
  owner = await world.client()
  sql = new Client({ connectionString: world.database.url })
  await sql.connect()
})
afterAll(async () => {
  await sql.end()
  await world[Symbol.asyncDispose]()
})

/** Sends a POST with a key to the api process of the world or to another process. */
const post = (path: string, body: unknown, key: string, at = world.baseUrl) =>
  ask(at + path, {
    method: 'POST',
    token: owner.token,
    headers: { 'Idempotency-Key': key },
    ...(body !== undefined && { body }),
  })
const rows = async (text: string, values: unknown[] = []) => (await sql.query(text, values)).rows
const robotsWith = (hardwareId: string) => rows('select id from robots where hardware_id = $1', [hardwareId])

/** Resolves once the given number of queries wait for a lock. */
async function blockedBackends(count: number): Promise<number[]> {
  const lockWaits = `select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and backend_type = 'client backend'`
  return await waitFor(async () => {
    const blocked = await query(world.database.url, lockWaits)
    expect(blocked).toHaveLength(count)
    return blocked.map(({ pid }) => pid as number)
  })
}

async function startApi() {
  const port = await freePort()
  const { dataDir } = world.platform.core.config
  const api = startWheelhouse({
    ROLES: 'api',
    PORT: String(port),
    BASE_URL: world.baseUrl,
    DATA_DIR: dataDir,
    DATABASE_URL: world.database.url,
    REDIS_URL: serviceUrl('redisUrl'),
    SECRET_KEY: 'a key for tests only, at least 32 characters',
  })
  await api.serving()
  return { api, at: `http://localhost:${port}` }
}
/** Ends the connections of the killed process; PostgreSQL would notice its death only after the wait for the lock. */
async function kill(api: Awaited<ReturnType<typeof startApi>>['api'], blocked: number[]): Promise<void> {
  await api.end('SIGKILL')
  for (const pid of blocked) await query(world.database.url, 'select pg_terminate_backend($1)', [pid])
}
test('a process that is killed after the commit, before the response was stored: nothing is done again, and the repetition learns so', async () => {
  const { api, at } = await startApi()
  await using _end = api
  const key = randomUUID()
  const body = { name: 'Arm', robot_type: 'testbot', hardware_id: randomUUID() }
  await rows(`
    create function wait() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(77); return new; end $$;
    create trigger wait before update on idempotency_keys for each row when (new.status is not null)
      execute function wait();`)
  await rows('select pg_advisory_lock(77)')
  const answer = post(ROBOTS, body, key, at).catch((cause) => cause)
  await kill(api, await blockedBackends(1))
  expect(await answer).toBeInstanceOf(Error)
  await rows('select pg_advisory_unlock(77)')
  await rows('drop function wait cascade')

  expect(await robotsWith(body.hardware_id)).toHaveLength(1)
  expect(
    (await rows('select effect_at from idempotency_keys where key = $1', [key]))[0].effect_at,
  ).toBeInstanceOf(Date)
  expect(await post(ROBOTS, { ...body, name: 'Other' }, key)).toMatchObject({ status: 422 })
  aheadMs += LEASE_OVER_MS
  for (let time = 0; time < 2; time++) {
    const repeat = await post(ROBOTS, body, key)
    expect(repeat).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('was processed') },
    })
    expect(repeat.headers.get('Retry-After')).toBeNull()
  }
  expect(await robotsWith(body.hardware_id)).toHaveLength(1)
})

test('a process that is killed before the commit: the repetition carries the request out once the lease has expired', async () => {
  const robot = await world.robot(owner)
  const path = `${ROBOTS}/${robot.id}/token`
  const { api, at } = await startApi()
  await using _end = api
  const key = randomUUID()
  await sql.query('begin')
  await sql.query('select from robots where id = $1 for update', [robot.id])
  const answer = post(path, undefined, key, at).catch((cause) => cause)
  await kill(api, await blockedBackends(1))
  expect(await answer).toBeInstanceOf(Error)
  await sql.query('rollback')

  aheadMs = 0 // the killed process used the real clock
  const early = await post(path, undefined, key)
  expect(early).toMatchObject({ status: 409, body: { error: expect.stringContaining('still') } })
  aheadMs = LEASE_OVER_MS
  const repeat = await post(path, undefined, key)
  expect(repeat.status).toBe(201)
  expect(repeat.headers.get('Idempotent-Replayed')).toBeNull()
  expect(await rows('select token_version from robots where id = $1', [robot.id])).toEqual([
    { token_version: 2 },
  ])
})
