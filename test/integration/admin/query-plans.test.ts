import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectOrm, type Orm, queries } from '../../../src/app/database/orm.ts'
import { listRobots } from '../../../src/modules/admin/robot-list.service.ts'
import { listSessions } from '../../../src/modules/admin/session-list.service.ts'
import { listUsers } from '../../../src/modules/admin/user-list.service.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { connectTo } from '../../support/database/sql.ts'

const USERS = 20_000
const ROBOTS = 30_000
const SESSIONS = 100_000
/** Maximum number of rows that a page may read: some pages of matches, and lookups of names. */
const FEW_ROWS = 5_000

let database: TestDatabase
let sql: Client & AsyncDisposable
let orm: Orm
const [busyOwner, busyRobot] = [randomUUID(), randomUUID()]

/** Inserts users, of whom the first owns all robots and a tenth of the sessions are on the first robot. */
beforeAll(async () => {
  database = await createTestDatabase()
  sql = await connectTo(database.url)
  orm = await connectOrm({ url: database.url, poolSize: 1, applicationName: 'plans-test' })
  await sql.query(
    `insert into users (id, issuer, subject, display_name, email, email_verified, is_client, is_operator, created_at)
     select case when n = 0 then $1::uuid else gen_random_uuid() end, 'test', n::text,
       case when n = 0 then 'Busy Owner' else 'Driver ' || n end, 'user' || n || '@test.local', true, n = 0, n > 0,
       now() - n * interval '1 minute'
     from generate_series(0, ${USERS}) n`,
    [busyOwner],
  )
  await sql.query(
    `insert into robots (id, owner_id, name, robot_type, hardware_id, created_at)
     select case when n = 0 then $1::uuid else gen_random_uuid() end, $2, case when n = 0 then 'Busy' else 'Arm ' || n end,
       'testbot', 'hw-' || n, now() - n * interval '1 minute'
     from generate_series(0, ${ROBOTS}) n`,
    [busyRobot, busyOwner],
  )
  await sql.query(
    `with r as (select id, row_number() over (order by created_at desc) - 1 as n from robots),
       u as (select id, row_number() over (order by created_at desc) - 1 as n from users)
     insert into sessions (id, robot_id, operator_id, client_id, status, created_at, started_at, ended_at,
       recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     select gen_random_uuid(), r.id, u.id, $1, 'CANCELLED', now() - s * interval '1 minute', null, null, 'R', 'testbot', 'O', 'C'
     from generate_series(1, ${SESSIONS}) s
     join r on r.n = case when s % 10 = 0 then 0 else s % ${ROBOTS} end
     join u on u.n = 1 + s % ${USERS}`,
    [busyOwner],
  )
  await sql.query('vacuum analyze users, robots, sessions')
}, 120_000)
afterAll(async () => {
  await orm?.close(true)
  await sql?.[Symbol.asyncDispose]()
  await database?.drop()
})

/** Returns the number of rows that `work` reads, as PostgreSQL counts them. */
async function rowsRead(work: () => Promise<unknown>): Promise<number> {
  const read = async () => {
    await sql.query('select pg_stat_force_next_flush()')
    await orm.em.getConnection().execute('select pg_stat_force_next_flush()')
    const { rows } = await sql.query(
      `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows
       from pg_stat_user_tables where relname in ('users', 'robots', 'sessions')`,
    )
    return rows[0].rows as number
  }
  const before = await read()
  await work()
  return (await read()) - before
}

const roles = { adminEmails: ['user7@test.local'], assignedRoles: () => [] }
const db = () => queries(orm.em)

test.each<[string, (limit: number) => Promise<{ rows: unknown[] }>]>([
  ['all sessions', (limit) => listSessions(db(), { limit })],
  ['sessions of a status', (limit) => listSessions(db(), { limit, status: 'CANCELLED' })],
  ['sessions of a busy owner', (limit) => listSessions(db(), { limit, search: 'busy owner' })],
  ['sessions of a busy robot', (limit) => listSessions(db(), { limit, search: busyRobot })],
  ['sessions of an operator', (limit) => listSessions(db(), { limit, search: 'user4711@' })],
  ['all robots', (limit) => listRobots(db(), { limit })],
  ['robots by name', (limit) => listRobots(db(), { limit, search: 'arm 4711' })],
  ['robots by hardware id', (limit) => listRobots(db(), { limit, search: 'HW-4711' })],
  ['robots of an owner', (limit) => listRobots(db(), { limit, search: 'busy owner' })],
  ['all users', (limit) => listUsers(db(), roles, { limit })],
  ['users by name', (limit) => listUsers(db(), roles, { limit, search: 'driver 4711' })],
  ['users by address', (limit) => listUsers(db(), roles, { limit, search: 'user4711@test' })],
  ['admins', (limit) => listUsers(db(), roles, { limit, role: 'admin' })],
])('a page of %s reads few rows', async (_name, list) => {
  let found = 0
  const read = await rowsRead(async () => {
    found = (await list(50)).rows.length
  })
  expect(found).toBeGreaterThan(0)
  expect(read).toBeLessThan(FEW_ROWS)
})
