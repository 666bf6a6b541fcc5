import type { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scannedRows } from '../../support/database/scanned-rows.ts'
import { connectTo } from '../../support/database/sql.ts'
import { recordStatements } from '../../support/database/statements.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const USERS = 20_000
/** Robots of the owner, and of all others. */
const [ROBOTS, OTHER_ROBOTS] = [1_000, 40_000]
/** Sessions of the owner and the operator, and of all others. */
const [SESSIONS, OTHER_SESSIONS] = [50_000, 150_000]
/** Most rows that one query of a search may read: its newest sessions with robots and operators, or the robots of the owner. */
const FEW_ROWS = 7_000

let world: World
let sql: Client & AsyncDisposable
let owner: TestUser
let operator: TestUser
let admin: TestUser

beforeAll(async () => {
  world = await createWorld()
  sql = await connectTo(world.database.url)
  owner = await world.client()
  operator = await world.operator()
  admin = await world.admin()
  const stranger = await world.client()
  await sql.query('set session_replication_role = replica')
  await sql.query(
    `insert into users (id, issuer, subject, display_name, email, email_verified, is_client, is_operator, created_at)
     select gen_random_uuid(), 'test', n::text, 'Driver ' || n, 'user' || n || '@test.local', true, false, true,
       now() - n * interval '1 minute'
     from generate_series(1, ${USERS}) n`,
  )
  await sql.query(
    `insert into robots (id, owner_id, name, robot_type, hardware_id, status, require_certification, created_at)
     select gen_random_uuid(), case when n <= ${ROBOTS} then $1::uuid else $2::uuid end, 'Arm ' || n, 'testbot', 'hw-' || n,
       case when n % 100 = 0 then 'AVAILABLE' else 'OFFLINE' end, false, now() - n * interval '1 minute'
     from generate_series(1, ${ROBOTS + OTHER_ROBOTS}) n`,
    [owner.id, stranger.id],
  )
  await sql.query('insert into robot_presence (robot_id) select id from robots')
  await sql.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, created_at,
       recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     select gen_random_uuid(), robot.id, case when n <= ${SESSIONS} then $1::uuid else $2::uuid end, robot.owner_id, 'CANCELLED',
       now() - n * interval '1 minute', 'R', 'testbot', 'O', 'C'
     from generate_series(1, ${SESSIONS + OTHER_SESSIONS}) n
     join (select id, owner_id, row_number() over (order by created_at desc) as number from robots) robot
       on robot.number = case when n <= ${SESSIONS} then 1 + n % ${ROBOTS} else ${ROBOTS} + 1 + n % ${OTHER_ROBOTS} end`,
    [operator.id, stranger.id],
  )
  await sql.query('vacuum analyze users, robots, robot_presence, sessions')
})
afterAll(async () => {
  await sql?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

/** Searches, and returns the kinds of the results and the most rows that one of the queries read. */
async function search(user: TestUser, text: string) {
  using recorded = recordStatements()
  const { status, body } = await user.get(`/api/search?q=${encodeURIComponent(text)}`)
  expect(status, JSON.stringify(body)).toBe(200)
  const kinds = new Set(body.results.map(({ kind }: { kind: string }) => kind))
  // The other queries of the request have no pattern: they authorize it.
  const queries = recorded.statements.filter(({ values }) => JSON.stringify(values).includes('%'))
  expect(queries.length).toBeGreaterThan(0)
  return { kinds: [...kinds].sort(), read: Math.max(...(await scannedRows(sql, queries))) }
}

test.each<[string, () => TestUser, string, string[]]>([
  ['an owner, one robot', () => owner, 'arm 471', ['own_robot', 'session']],
  ['an owner, all robots', () => owner, 'arm', ['own_robot', 'session']],
  ['an owner, nothing', () => owner, 'no such thing', []],
  ['an operator', () => operator, 'arm', ['available_robot', 'session']],
  ['an admin, one user', () => admin, 'driver 4711', ['user']],
  ['an admin, many users', () => admin, 'driver', ['user']],
  ['an admin, an address', () => admin, 'user4711@test', ['user']],
])('a search reads few rows: %s', async (_what, user, text, kinds) => {
  const found = await search(user(), text)
  expect(found.kinds).toEqual(kinds)
  expect(found.read).toBeLessThan(FEW_ROWS)
})
