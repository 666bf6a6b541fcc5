import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { queries } from '../../../src/app/database/orm.ts'
import { listRobots } from '../../../src/modules/admin/robot-list.service.ts'
import { listSessions } from '../../../src/modules/admin/session-list.service.ts'
import { listUsers } from '../../../src/modules/admin/user-list.service.ts'
import { createPlansDatabase, type PlansDatabase } from '../../support/database/plans-database.ts'

const USERS = 20_000
const ROBOTS = 30_000
const SESSIONS = 100_000
/** Maximum number of rows that a page may read: some pages of matches, and lookups of names. */
const FEW_ROWS = 5_000

let plans: PlansDatabase
const [busyOwner, busyRobot] = [randomUUID(), randomUUID()]

/** Inserts users, of whom the first owns all robots and a tenth of the sessions are on the first robot. */
beforeAll(async () => {
  plans = await createPlansDatabase(['users', 'robots', 'robot_presence', 'sessions'])
  const { sql } = plans
  await sql.query(
    `insert into users (id, issuer, subject, display_name, email, email_verified, is_client, is_operator, created_at)
     select case when n = 0 then $1::uuid else gen_random_uuid() end, 'test', n::text,
       case when n = 0 then 'Busy Owner' else 'Driver ' || n end, 'user' || n || '@test.local', true, n = 0, n > 0,
       now() - n * interval '1 minute'
     from generate_series(0, ${USERS}) n`,
    [busyOwner],
  )
  await sql.query(
    `insert into robots (id, owner_id, name, robot_type, hardware_id, tags, created_at)
     select case when n = 0 then $1::uuid else gen_random_uuid() end, $2, case when n = 0 then 'Busy' else 'Arm ' || n end,
       'testbot', 'hw-' || n,
       case when n % 3000 = 0 then '{fleet,rare}'::text[] when n % 2 = 0 then '{fleet}'::text[] else '{}'::text[] end, now() - n * interval '1 minute'
     from generate_series(0, ${ROBOTS}) n`,
    [busyRobot, busyOwner],
  )
  await sql.query(
    `insert into robot_presence (robot_id, battery, battery_low)
     select id, 0.5, n % 1000 = 0 from (select id, row_number() over () as n from robots) as listed`,
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
  await plans.vacuum()
})
afterAll(() => plans?.[Symbol.asyncDispose]())

const roles = { adminEmails: ['user7@test.local'], assignedRoles: () => [] }
const db = () => queries(plans.orm.em)

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
  ['robots with a rare tag', (limit) => listRobots(db(), { limit, tag: 'rare' })],
  ['robots with a frequent tag', (limit) => listRobots(db(), { limit, tag: 'fleet' })],
  ['robots with a low battery', (limit) => listRobots(db(), { limit, battery_low: 'true' })],
  ['robots with another battery', (limit) => listRobots(db(), { limit, battery_low: 'false' })],
  ['all users', (limit) => listUsers(db(), roles, { limit })],
  ['users by name', (limit) => listUsers(db(), roles, { limit, search: 'driver 4711' })],
  ['users by address', (limit) => listUsers(db(), roles, { limit, search: 'user4711@test' })],
  ['admins', (limit) => listUsers(db(), roles, { limit, role: 'admin' })],
])('a page of %s reads few rows', async (_name, list) => {
  let found = 0
  const read = await plans.rowsRead(async () => {
    found = (await list(50)).rows.length
  })
  expect(found).toBeGreaterThan(0)
  expect(read).toBeLessThan(FEW_ROWS)
})
