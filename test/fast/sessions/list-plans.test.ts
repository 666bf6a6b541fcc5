import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queries } from '../../../src/app/database/orm.ts'
import type { Db } from '../../../src/core/database/tables.ts'
import type { Caller } from '../../../src/core/http/endpoint.ts'
import { ListRobots } from '../../../src/modules/robots/robot-list.schema.ts'
import { createRobotLists } from '../../../src/modules/robots/robot-list.service.ts'
import { ListSessionRobots, ListSessions } from '../../../src/modules/sessions/record/session.schema.ts'
import { createSessionLists } from '../../../src/modules/sessions/record/session-list.service.ts'
import { createPlansDatabase, type PlansDatabase } from '../../support/database/plans-database.ts'

const SESSIONS = 100_000
const ROBOTS = 10_000
/** Sessions of another owner, so that plans have to select by owner. */
const OTHERS = 200_000
/** Maximum number of rows that a page may read: its rows, their robots and operators, and one row more. */
const FEW_ROWS = 600

let plans: PlansDatabase
let db: Db
const [owner, operator, stranger] = [randomUUID(), randomUUID(), randomUUID()]
const callerOf = (userId: string, role: 'client' | 'operator') =>
  ({ userId, roles: [role] }) as unknown as Caller

/** Inserts an owner with 10,000 robots and 100,000 sessions of one operator, and sessions of others. */
beforeAll(async () => {
  plans = await createPlansDatabase(['users', 'robots', 'robot_presence', 'sessions'])
  const { sql } = plans
  db = queries(plans.orm.em.fork())
  await sql.query('set session_replication_role = replica')
  await sql.query(
    `insert into users (id, issuer, subject, display_name, is_client, is_operator)
     select id, 'test', id::text, 'User ' || n, true, true from unnest($1::uuid[]) with ordinality as listed (id, n)`,
    [[owner, operator, stranger]],
  )
  await sql.query(
    `insert into robots (id, owner_id, name, robot_type, hardware_id, status, tags, created_at)
     select gen_random_uuid(), case when n <= ${ROBOTS} then $1::uuid else $2::uuid end, 'Robot ' || n, 'type-' || n % 7,
       n::text, case when n % 10 = 0 then 'AVAILABLE' else 'OFFLINE' end,
       case when n % 100 = 0 then '{rare}'::text[] else '{}'::text[] end, now() - n * interval '1 minute'
     from generate_series(1, ${4 * ROBOTS}) n`,
    [owner, stranger],
  )
  await sql.query(`insert into robot_presence (robot_id, battery)
     select id, case when hardware_id::int % 50 = 0 then 0.1 else 0.9 end from robots`)
  await sql.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, created_at,
       recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     select gen_random_uuid(), robot.id, case when n <= ${SESSIONS} then $1::uuid else $2::uuid end, robot.owner_id,
       case when n % 100 = 0 then 'CANCELLED' else 'COMPLETED' end,
       at, at + interval '90 s', at, 'Robot', 'type', 'Operator', 'Owner'
     from (select n, now() - n * interval '1 minute' as at from generate_series(1, ${SESSIONS + OTHERS}) n) rows
     join (select id, owner_id, row_number() over (order by created_at desc) as number from robots) robot
       on robot.number = case when n <= ${SESSIONS} then 1 + n % ${ROBOTS} else ${ROBOTS} + 1 + n % ${3 * ROBOTS} end`,
    [operator, stranger],
  )
  await plans.vacuum()
})
afterAll(() => plans?.[Symbol.asyncDispose]())

describe('with a hundred thousand sessions of one owner', () => {
  const lists = () => createSessionLists({ db })
  const client = callerOf(owner, 'client')

  test.each([
    ['an owner', client],
    ['an operator', callerOf(operator, 'operator')],
  ])('a page after a cursor reads few rows: %s', async (_who, caller) => {
    let cursor: string | undefined
    for (let page = 0; page < 3; page++) {
      for (const sort of ['-created_at', 'created_at'] as const) {
        const query = ListSessions.parse({
          limit: '100',
          sort,
          ...(sort === '-created_at' && cursor && { cursor }),
        })
        const reading = plans.rowsRead(async () => {
          const { rows, next } = await lists().page(caller, query)
          expect(rows).toHaveLength(100)
          if (sort === '-created_at') cursor = next
        })
        expect(await reading, `page ${page} by ${sort}`).toBeLessThan(FEW_ROWS)
      }
    }
    const deep = ListSessions.parse({ limit: '100', status: 'COMPLETED', cursor })
    expect(await plans.rowsRead(() => lists().page(caller, deep))).toBeLessThan(FEW_ROWS)
  })

  test('counts read indexes only', async () => {
    for (const caller of [client, callerOf(operator, 'operator')]) {
      const reading = plans.rowsRead(async () => {
        const counts = await lists().counts(caller, {})
        expect(counts).toMatchObject({ COMPLETED: 10_000, CANCELLED: SESSIONS / 100 })
      })
      expect(await reading).toBeLessThan(100)
    }
    const [robot] = await lists().robots(client, ListSessionRobots.parse({ search: 'Robot 4711' }))
    const ofRobot = await plans.rowsRead(async () => {
      const counts = await lists().counts(client, { robotId: robot?.id })
      expect(counts.COMPLETED + counts.CANCELLED).toBe(SESSIONS / ROBOTS)
    })
    expect(ofRobot).toBeLessThan(100)
  })

  test('a search compares robots, not sessions', async () => {
    const search = 'robot 4711'
    const reading = plans.rowsRead(async () => {
      const { rows } = await lists().page(client, ListSessions.parse({ search }))
      expect(rows).toHaveLength(SESSIONS / ROBOTS)
    })
    expect(await reading).toBeLessThan(4 * ROBOTS)
    expect(await plans.rowsRead(() => lists().counts(client, { search }))).toBeLessThan(4 * ROBOTS)
    expect(
      await plans.rowsRead(() => lists().page(client, ListSessions.parse({ search: 'nothing' }))),
    ).toBeLessThan(4 * ROBOTS)
  })
})

describe('with ten thousand robots of one owner', () => {
  const lists = () => createRobotLists({ db })

  test.each(['created_at', '-created_at', 'name', '-name'])('a page by %s reads few rows', async (sort) => {
    let cursor: string | undefined
    for (let page = 0; page < 3; page++) {
      const query = ListRobots.parse({ limit: '100', sort, ...(cursor && { cursor }) })
      const reading = plans.rowsRead(async () => {
        const { rows, total, next } = await lists().page(owner, query)
        expect(rows).toHaveLength(100)
        expect(total).toBe(ROBOTS)
        cursor = next
      })
      expect(await reading, `page ${page}`).toBeLessThan(FEW_ROWS)
    }
  })

  test('a tag reads the robots that have it, a charge each robot once', async () => {
    const total = async (filter: object) =>
      (await lists().page(owner, ListRobots.parse({ limit: '10', ...filter }))).total
    const tagged = await plans.rowsRead(async () => expect(await total({ tag: 'rare' })).toBe(ROBOTS / 100))
    expect(tagged).toBeLessThan(20 * (ROBOTS / 100))
    const charged = await plans.rowsRead(async () =>
      expect(await total({ battery_below: '0.2' })).toBe(ROBOTS / 50),
    )
    // The number of all matches, and a page that ends early.
    expect(charged).toBeLessThan(4 * ROBOTS)
  })

  test('counts read each robot and its charge once, and a search each robot once more', async () => {
    const counted = await plans.rowsRead(async () => {
      const { by_status, by_type, by_tag, by_battery } = await lists().counts(owner, {})
      expect(by_status).toEqual({ AVAILABLE: ROBOTS / 10, IN_SESSION: 0, OFFLINE: (ROBOTS / 10) * 9 })
      expect(by_type).toHaveLength(7)
      expect(by_tag).toEqual([{ tag: 'rare', count: ROBOTS / 100 }])
      expect(by_battery).toMatchObject([{ count: ROBOTS / 50 }, { count: ROBOTS / 50 }])
    })
    expect(counted).toBeLessThan(2 * ROBOTS)
    const searched = await plans.rowsRead(() => lists().counts(owner, { search: 'robot 77' }))
    expect(searched).toBeLessThan(4 * ROBOTS)
  })
})
