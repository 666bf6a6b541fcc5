import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectOrm, queries } from '../../../src/app/database/orm.ts'
import type { Db } from '../../../src/core/database/tables.ts'
import type { Caller } from '../../../src/core/http/endpoint.ts'
import { createMailStore } from '../../../src/core/mail/mail-store.ts'
import { wholeScope } from '../../../src/core/permissions/authorization.ts'
import { listRobots } from '../../../src/modules/admin/robot-list.service.ts'
import { listSessions } from '../../../src/modules/admin/session-list.service.ts'
import { listUsers } from '../../../src/modules/admin/user-list.service.ts'
import { createMonthlyClose } from '../../../src/modules/billing/invoice-close.ts'
import { newestMatchingUsers } from '../../../src/modules/identity/index.ts'
import { createDigests } from '../../../src/modules/notifications/digest.service.ts'
import { createNotifications } from '../../../src/modules/notifications/notification.service.ts'
import { createAvailableRobots } from '../../../src/modules/operators/available-robots.service.ts'
import { createPresenceStore } from '../../../src/modules/presence/presence.store.ts'
import { ListRobots } from '../../../src/modules/robots/robot-list.schema.ts'
import { createRobotLists } from '../../../src/modules/robots/robot-list.service.ts'
import { createSearch } from '../../../src/modules/search/index.ts'
import { ListSessionRobots, ListSessions } from '../../../src/modules/sessions/record/session.schema.ts'
import { createSessionLists } from '../../../src/modules/sessions/record/session-list.service.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { connectTo } from '../../support/database/sql.ts'
import { testTransactor } from '../../support/database/test-transactor.ts'
import { actingForSelf } from '../../support/world/acting.ts'
import { attemptOf } from '../../support/world/jobs.ts'
import { waitFor } from '../../support/world/wait.ts'

// How many rows the queries read, in tables that are large enough for a wrong plan to exceed the limits. Times would depend on the
// machine.

const TABLES = [
  'control_intervals',
  'users',
  'robots',
  'robot_presence',
  'sessions',
  'notifications',
  'notification_mails',
  'notification_digests',
]
const USERS = 3_000
/** Robots of the owner, and of another owner. */
const [ROBOTS, OTHER_ROBOTS] = [2_000, 8_000]
/** Sessions of the owner and the operator, and of others: more than the highest count, which is 10,000. */
const [SESSIONS, OTHER_SESSIONS] = [12_000, 12_000]
/** Sessions of others in which one operator held control. */
const GUEST_SESSIONS = 120
/** Unread notifications of the busy user, and all notifications of each other user. */
const [UNREAD, PER_USER] = [5_000, 40]
/** Most rows that a page may read: its rows, their robots and users, and one row more. */
const PAGE_ROWS = 600
/** Most rows that a search in all names may read: each robot and each user once. The sessions of the owner are more. */
const NAME_ROWS = ROBOTS + OTHER_ROBOTS + USERS + PAGE_ROWS

const [owner, operator, stranger] = [randomUUID(), randomUUID(), randomUUID()]
const [busy, busyRobot] = [randomUUID(), randomUUID()]
const now = () => new Date()

let database: Awaited<ReturnType<typeof createTestDatabase>>
let sql: Awaited<ReturnType<typeof connectTo>>
let orm: Awaited<ReturnType<typeof connectOrm>>
let db: Db

/** Fills the tables over `sql`. The code under test uses `orm`, which has one connection. */
beforeAll(async () => {
  database = await createTestDatabase()
  sql = await connectTo(database.url)
  orm = await connectOrm({ url: database.url, poolSize: 1, applicationName: 'plans-test' })
  db = queries(orm.em.fork())
  // Without the triggers and the checks of references, which take half of the time.
  await sql.query('set session_replication_role = replica')
  const indexes = await withoutIndexes()
  for (const table of TABLES) {
    // Few rows on each page: the planner treats the table as one that is ten times as large, which a scan has to avoid.
    await sql.query(`alter table ${table} set (fillfactor = 10, autovacuum_enabled = false)`)
  }
  await sql.query(
    `insert into users (id, issuer, subject, display_name, email, email_verified, is_client, is_operator, created_at,
       notification_seq, notification_unread)
     select coalesce(named.id, gen_random_uuid()), 'test', n::text, coalesce(named.name, 'Driver ' || n), 'user' || n || '@test.local',
       true, named.id is not null, true, now() - n * interval '1 minute',
       case when named.id = $2 then ${UNREAD} else ${PER_USER} end, case when named.id = $2 then ${UNREAD} else 10 end
     from generate_series(1, ${USERS}) n
     left join unnest($1::uuid[], '{Busy Owner,Busy Operator,Stranger,Reader}'::text[]) with ordinality as named (id, name, number)
       on named.number = n`,
    [[owner, operator, stranger, busy], busy],
  )
  // Triggers make them otherwise.
  await sql.query(`
    insert into organizations (id, name, kind, created_at) select id, display_name, 'personal', created_at from users;
    insert into organization_members (organization_id, user_id, role) select id, id, 'owner' from users`)
  await sql.query(
    `insert into robots (id, owner_id, name, robot_type, hardware_id, status, require_certification, tags, created_at)
     select case when n = 1 then $3::uuid else gen_random_uuid() end, case when n <= ${ROBOTS} then $1::uuid else $2::uuid end,
       'Robot ' || n, 'type-' || n % 7, 'hw-' || n, case when n % 10 = 0 then 'AVAILABLE' else 'OFFLINE' end, false,
       case when n % 400 = 0 then '{fleet,rare}'::text[] when n % 2 = 0 then '{fleet}'::text[] else '{}'::text[] end,
       now() - n * interval '1 minute'
     from generate_series(1, ${ROBOTS + OTHER_ROBOTS}) n`,
    [owner, stranger, busyRobot],
  )
  await sql.query(
    'insert into robot_counts (id, robots) select owner_id, count(*) from robots group by owner_id',
  )
  await sql.query(
    `insert into robot_presence (robot_id, battery, battery_low)
     select id, case when number % 50 = 0 then 0.1 else 0.9 end, number % 500 = 0
     from (select id, substr(hardware_id, 4)::int as number from robots) listed`,
  )
  await sql.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, created_at,
       billable_minutes, client_charge_cents, operator_earnings_cents, invoice_id,
       recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     select gen_random_uuid(), robot.id, case when n <= ${SESSIONS} then $1::uuid else others.id end, robot.owner_id,
       case when n % 100 = 0 then 'CANCELLED' else 'COMPLETED' end, at, at + interval '90 s', at, 2, 100, 70, gen_random_uuid(),
       'Robot', 'type', 'Operator', 'Owner'
     from (select n, now() - n * interval '1 minute' as at from generate_series(1, ${SESSIONS + OTHER_SESSIONS}) n) rows
     join (select id, owner_id, substr(hardware_id, 4)::int as number from robots) robot on robot.number = case
       when n > ${SESSIONS} then ${ROBOTS} + 1 + n % ${OTHER_ROBOTS} when n % 10 = 1 then 1 else 1 + n % ${ROBOTS} end
     join (select id, subject::int as number from users) others on others.number = 5 + n % (${USERS} - 5)`,
    [operator],
  )
  await sql.query(
    `insert into control_intervals (session_id, epoch, participant_id, user_id, kind, started_at, ended_at, active_ms_before,
       outage_ms_before, plan_id, client_rate_cents_per_minute, operator_share_percent, driven_ms, client_charge_cents, operator_earnings_cents)
     select id, 2, id, case when n <= ${GUEST_SESSIONS} then $1::uuid else gen_random_uuid() end, 'operator', started_at, ended_at, 0,
       0, 'standard', 50, 70, 60000, 50, 35
     from (select *, row_number() over () as n from sessions where operator_id <> $1) driven`,
    [stranger],
  )
  await sql.query(
    `insert into notifications (user_id, seq, type, data, created_at, read_at, by_mail)
     select u.id, seq, 'session.ended', '{}', now() - interval '1 hour',
       case when u.id = $1 or seq > u.notification_seq - 10 then null else now() end, true
     from (select * from users where id = $1 or subject::int % 10 = 0) u, generate_series(1, u.notification_seq) seq`,
    [busy],
  )
  await sql.query(
    `insert into notification_mails (id, user_id, seqs, more, urgent, created_at, delivered_at, next_attempt_at)
     select gen_random_uuid(), u.id, '{1}', 0, n = 1, now() - n * interval '3 hours',
       case when n > 1 or u.subject::int % 2 = 0 then now() - n * interval '3 hours' end, now() + interval '1 minute'
     from users u, generate_series(1, 3) n where u.id <> $1`,
    [busy],
  )
  await sql.query(
    `insert into notification_digests (user_id, from_seq, due_at)
     select id, greatest(1, notification_seq - 20), now() + interval '1 hour' from users`,
  )
  for (const index of indexes) await sql.query(index)
  await vacuum()
})
afterAll(async () => {
  await orm?.close(true)
  await sql?.end()
  await database?.drop()
})

/** Drops the indexes that are no constraints, and returns their definitions: it takes less time to create them again than to extend them. */
async function withoutIndexes(): Promise<string[]> {
  const { rows } = await sql.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = any($1::regclass[]) and not indisprimary
       and not exists (select from pg_constraint where conindid = indexrelid)`,
    [TABLES],
  )
  await sql.query(`drop index ${rows.map(({ name }) => name).join(', ')}`)
  return rows.map(({ definition }) => definition)
}

/**
 * Updates the statistics of the tables, and marks all their pages as visible to all, as scans of only an index need. Repeats it: the
 * first run sets hint bits, and a snapshot of the automatic analysis keeps pages from being marked.
 */
const vacuum = () =>
  waitFor(async () => {
    await sql.query(`vacuum (analyze) ${TABLES.join(', ')}`)
    const { rows } = await sql.query(
      'select relname from pg_class where relname = any($1) and relallvisible < relpages',
      [TABLES],
    )
    expect(rows, 'tables with pages that are not visible to all').toEqual([])
  })

/** Makes a connection report its counts now, which would otherwise arrive up to ten seconds later. */
const FLUSH = 'select pg_stat_force_next_flush()'

/** Returns how many rows of the tables, and entries of their indexes, PostgreSQL has read in all. */
async function readSoFar(): Promise<{ rows: number; entries: number }> {
  await sql.query(FLUSH)
  await orm.em.getConnection().execute(FLUSH)
  const { rows } = await sql.query(
    `select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows,
       sum(seq_tup_read)::int + (select sum(idx_tup_read)::int from pg_stat_user_indexes where relname = any($1)) as entries
     from pg_stat_user_tables where relname = any($1)`,
    [TABLES],
  )
  return rows[0]
}

/** Returns how many rows of the tables `work` reads. Scans of only an index read none. */
async function rowsRead(work: () => Promise<unknown>): Promise<number> {
  const before = await readSoFar()
  await work()
  return (await readSoFar()).rows - before.rows
}

/** Returns how many entries of indexes `work` reads, and rows without an index. */
async function entriesRead(work: () => Promise<unknown>): Promise<number> {
  const before = await readSoFar()
  await work()
  return (await readSoFar()).entries - before.entries
}

type RoleName = 'client' | 'operator' | 'admin'
const callerOf = (userId: string, ...roles: RoleName[]): Caller => ({
  ...actingForSelf(userId),
  displayName: '',
  roles,
  permissionsVersion: 0,
})

describe('sessions', () => {
  const lists = () => createSessionLists({ db })
  const client = callerOf(owner, 'client')
  const callers: [string, Caller][] = [
    ['an owner', client],
    ['an operator', callerOf(operator, 'operator')],
  ]

  test.each(callers)('a page after a cursor reads few rows: %s', async (_who, caller) => {
    let cursor: string | undefined
    for (let page = 0; page < 3; page++) {
      for (const sort of ['-created_at', 'created_at'] as const) {
        const query = ListSessions.parse({
          limit: '100',
          sort,
          ...(sort === '-created_at' && cursor && { cursor }),
        })
        const reading = rowsRead(async () => {
          const { rows, next } = await lists().page(caller, query)
          expect(rows).toHaveLength(100)
          if (sort === '-created_at') cursor = next
        })
        expect(await reading, `page ${page} by ${sort}`).toBeLessThan(PAGE_ROWS)
      }
    }
    const deep = ListSessions.parse({ limit: '100', status: 'COMPLETED', cursor })
    expect(await rowsRead(() => lists().page(caller, deep))).toBeLessThan(PAGE_ROWS)
  })

  test('a page and counts of a guest read the sessions that the guest drove', async () => {
    const guest = callerOf(stranger, 'operator')
    for (const query of [{ limit: '50' }, { limit: '50', sort: 'created_at' }]) {
      const reading = rowsRead(async () => {
        const { rows } = await lists().page(guest, ListSessions.parse(query))
        expect(rows).toHaveLength(50)
        expect(rows[0]?.guest_terms?.[stranger]).toEqual({ cents: 35, share: 70 })
      })
      expect(await reading).toBeLessThan(PAGE_ROWS)
    }
    const counting = rowsRead(async () => {
      const { COMPLETED, CANCELLED } = await lists().counts(guest, {})
      expect(COMPLETED + CANCELLED).toBe(GUEST_SESSIONS)
    })
    expect(await counting).toBeLessThan(5 * 2 * GUEST_SESSIONS)
  })

  test('counts read indexes only', async () => {
    for (const [_who, caller] of callers) {
      const reading = rowsRead(async () => {
        const counts = await lists().counts(caller, {})
        expect(counts).toMatchObject({ COMPLETED: 10_000, CANCELLED: SESSIONS / 100 })
      })
      expect(await reading).toBeLessThan(100)
    }
    const [robot] = await lists().robots(client, ListSessionRobots.parse({ search: 'Robot 1718' }))
    const ofRobot = await rowsRead(async () => {
      const counts = await lists().counts(client, { robotId: robot?.id })
      expect(counts.COMPLETED + counts.CANCELLED).toBe(SESSIONS / ROBOTS)
    })
    expect(ofRobot).toBeLessThan(100)
  })

  test('a search compares robots, not sessions', async () => {
    const search = 'robot 1718'
    const reading = rowsRead(async () => {
      const { rows } = await lists().page(client, ListSessions.parse({ search }))
      expect(rows).toHaveLength(SESSIONS / ROBOTS)
    })
    expect(await reading).toBeLessThan(NAME_ROWS)
    expect(await rowsRead(() => lists().counts(client, { search }))).toBeLessThan(NAME_ROWS)
    const nothing = ListSessions.parse({ search: 'nothing' })
    expect(await rowsRead(() => lists().page(client, nothing))).toBeLessThan(NAME_ROWS)
  })

  test('the search for due invoices reads only sessions that need an invoice', async () => {
    const log = pino({ level: 'silent' })
    const close = createMonthlyClose({ db, transact: testTransactor(orm), now, log })
    expect(await rowsRead(close.run)).toBeLessThan(10)
  })
})

describe('robots of an owner', () => {
  const lists = () => createRobotLists({ db })

  test.each(['created_at', '-created_at', 'name', '-name'])('a page by %s reads few rows', async (sort) => {
    let cursor: string | undefined
    for (let page = 0; page < 3; page++) {
      const query = ListRobots.parse({ limit: '100', sort, ...(cursor && { cursor }) })
      const reading = rowsRead(async () => {
        const { rows, total, next } = await lists().page(wholeScope(owner), query)
        expect(rows).toHaveLength(100)
        expect(total).toBe(ROBOTS)
        cursor = next
      })
      expect(await reading, `page ${page}`).toBeLessThan(PAGE_ROWS)
    }
  })

  test('a tag reads the robots that have it, a charge each robot once', async () => {
    const total = async (filter: object) =>
      (await lists().page(wholeScope(owner), ListRobots.parse({ limit: '10', ...filter }))).total
    const tagged = await rowsRead(async () => expect(await total({ tag: 'rare' })).toBe(ROBOTS / 400))
    expect(tagged).toBeLessThan(100)
    const charged = await rowsRead(async () =>
      expect(await total({ battery_below: '0.2' })).toBe(ROBOTS / 50),
    )
    // The number of all matches, and a page that ends early.
    expect(charged).toBeLessThan(4 * ROBOTS)
  })

  test('counts read each robot and its charge once, and a search each robot once more', async () => {
    const counted = await rowsRead(async () => {
      const { by_status, by_type, by_tag, by_battery } = await lists().counts(wholeScope(owner), {})
      expect(by_status).toEqual({ AVAILABLE: ROBOTS / 10, IN_SESSION: 0, OFFLINE: (ROBOTS / 10) * 9 })
      expect(by_type).toHaveLength(7)
      expect(by_tag).toEqual([
        { tag: 'fleet', count: ROBOTS / 2 },
        { tag: 'rare', count: ROBOTS / 400 },
      ])
      expect(by_battery).toMatchObject([{ count: ROBOTS / 50 }, { count: ROBOTS / 50 }])
    })
    expect(counted).toBeLessThan(2 * ROBOTS)
    const searched = await rowsRead(() => lists().counts(wholeScope(owner), { search: 'robot 77' }))
    expect(searched).toBeLessThan(4 * ROBOTS)
  })
})

const adminRoles = { adminEmails: ['user7@test.local'], assignedRoles: () => [] }

test.each<[string, (limit: number) => Promise<{ rows: unknown[] }>]>([
  ['all sessions', (limit) => listSessions(db, { limit })],
  ['sessions of a status', (limit) => listSessions(db, { limit, status: 'CANCELLED' })],
  ['sessions of a busy owner', (limit) => listSessions(db, { limit, search: 'busy owner' })],
  ['sessions of a busy robot', (limit) => listSessions(db, { limit, search: busyRobot })],
  ['sessions of an operator', (limit) => listSessions(db, { limit, search: 'user2711@' })],
  ['all robots', (limit) => listRobots(db, { limit })],
  ['robots by name', (limit) => listRobots(db, { limit, search: 'robot 4711' })],
  ['robots by hardware id', (limit) => listRobots(db, { limit, search: 'HW-4711' })],
  ['robots of an owner', (limit) => listRobots(db, { limit, search: 'busy owner' })],
  ['robots with a rare tag', (limit) => listRobots(db, { limit, tag: 'rare' })],
  ['robots with a frequent tag', (limit) => listRobots(db, { limit, tag: 'fleet' })],
  ['robots with a low battery', (limit) => listRobots(db, { limit, battery_low: 'true' })],
  ['robots with another battery', (limit) => listRobots(db, { limit, battery_low: 'false' })],
  ['all users', (limit) => listUsers(db, adminRoles, { limit })],
  ['users by name', (limit) => listUsers(db, adminRoles, { limit, search: 'driver 2711' })],
  ['users by address', (limit) => listUsers(db, adminRoles, { limit, search: 'user2711@test' })],
  ['admins', (limit) => listUsers(db, adminRoles, { limit, role: 'admin' })],
])('for an admin, a page of %s reads few rows', async (_name, list) => {
  let found = 0
  const read = await entriesRead(async () => {
    found = (await list(50)).rows.length
  })
  expect(found).toBeGreaterThan(0)
  expect(read).toBeLessThan(PAGE_ROWS)
})

test.each<[string, Caller, string, string[]]>([
  ['an owner, one robot', callerOf(owner, 'client'), 'robot 718', ['own_robot', 'session']],
  ['an owner, all robots', callerOf(owner, 'client'), 'robot', ['own_robot', 'session']],
  ['an owner, nothing', callerOf(owner, 'client'), 'no such thing', []],
  ['an operator', callerOf(operator, 'operator'), 'robot', ['available_robot', 'session']],
  ['an admin, one user', callerOf(randomUUID(), 'admin'), 'driver 2711', ['user']],
  ['an admin, many users', callerOf(randomUUID(), 'admin'), 'driver', ['user']],
  ['an admin, an address', callerOf(randomUUID(), 'admin'), 'user2711@test', ['user']],
])('a search reads few rows: %s', async (_what, caller, text, kinds) => {
  const search = createSearch({
    db,
    robotLists: createRobotLists({ db }),
    availableRobots: createAvailableRobots({ db }),
    users: { find: (words, limit) => newestMatchingUsers(db, words, limit) },
  })
  const read = await rowsRead(async () => {
    const found = await search.find(caller, text)
    expect([...new Set(found.map(({ kind }) => kind))].sort()).toEqual(kinds)
  })
  // The newest 1,000 sessions with their robots and operators, and the robots of the owner.
  expect(read).toBeLessThan(3 * 1_000 + ROBOTS + PAGE_ROWS)
})

describe('notifications', () => {
  const parts = () => ({ db, transact: testTransactor(orm), now })

  test.each([
    ['the newest', {}],
    ['an old page', { before: 1_000 }],
    ['the unread', { unreadOnly: true }],
    ['an old page of the unread', { unreadOnly: true, before: 1_000 }],
  ])('a page reads few rows: %s', async (_what, page) => {
    const notifications = createNotifications(parts())
    expect(await rowsRead(() => notifications.list(busy, { ...page, limit: 100 }))).toBeLessThan(300)
  })

  test('a page of unread notifications reads few rows if the user has read almost all', async () => {
    const notifications = createNotifications(parts())
    const { rows } = await sql.query(`select id from users where subject = '10'`)
    const page = { unreadOnly: true, limit: 100 }
    const reading = rowsRead(async () => {
      expect((await notifications.list(rows[0].id, page)).notifications).toHaveLength(10)
    })
    expect(await reading).toBeLessThan(30)
  })

  test('catching up and marking as read touch only the returned and changed rows', async () => {
    const notifications = createNotifications(parts())
    expect(await rowsRead(() => notifications.since(busy, 2_000))).toBeLessThan(300)
    expect(await rowsRead(() => notifications.markRead(busy, 3_000))).toBeLessThan(20)
    expect(await rowsRead(() => notifications.markReadUpTo(busy, 900))).toBeLessThan(4_000)
  })

  test('a digest that is not due reads almost no rows; a user costs a few hundred at most', async () => {
    const { transact } = parts()
    const digests = createDigests({ transact, now })
    const decide = () => digests.decide(attemptOf({ userId: busy }))
    expect(await rowsRead(decide)).toBeLessThan(20)
    expect(await rowsRead(digests.removeDelivered)).toBeLessThan(20)
    await sql.query(`update notification_digests set due_at = now(), from_seq = 1 where user_id = $1`, [busy])
    expect(await rowsRead(decide)).toBeLessThan(1_000)
    const written = await sql.query(`select id, more from notification_mails where user_id = $1`, [busy])
    expect(written.rows).toMatchObject([{ more: 500 }])
    const mails = createMailStore({ db, now, table: 'notification_mails' })
    expect(await rowsRead(() => mails.begin(written.rows[0].id, false))).toBeLessThan(20)
  })
})

// A bad plan compares every connected robot with every item.
test('statistics collected while no robot was connected do not slow down the presence statements', async () => {
  /** PostgreSQL plans the first runs of a prepared statement separately; later runs may share a generic plan. */
  const RUNS = 8
  const BATCH = 400
  /** Each robot once, and the robots of the batch in some tables. */
  const limit = ROBOTS + OTHER_ROBOTS + 5 * BATCH
  const pools: Pool[] = []
  const store = createPresenceStore({
    databaseUrl: database.url,
    poolSize: 1,
    onPoolCreated: (pool) => pools.push(pool),
  })
  const cost = (work: () => Promise<unknown>) =>
    rowsRead(async () => {
      await work()
      await pools[0]?.query(FLUSH)
    })
  try {
    const nodeId = randomUUID()
    const atMs = Date.now()
    const { rows } = await sql.query<{ id: string }>('select id from robots where owner_id = $1', [stranger])
    const epochs: { robotId: string; epoch: number }[] = []
    for (let run = 0; run < RUNS; run++) {
      const items = rows
        .slice(run * BATCH, (run + 1) * BATCH)
        .map(({ id }) => ({ robotId: id, tokenVersion: 1, atMs }))
      expect(await cost(async () => epochs.push(...(await store.connect(nodeId, items))))).toBeLessThan(limit)
    }
    for (let run = 0; run < RUNS; run++) {
      const beats = epochs
        .slice(run * BATCH, (run + 1) * BATCH)
        .map((item) => ({ ...item, lastHeartbeatMs: atMs }))
      expect(await cost(async () => expect(await store.saveHeartbeats(beats)).toBe(BATCH))).toBeLessThan(
        limit,
      )
    }
    const ends = epochs.slice(0, BATCH).map((item) => ({ ...item, lastSignMs: atMs, lastHeartbeatMs: atMs }))
    const ending = cost(async () => expect(await store.disconnect(ends)).toEqual({ lostInSession: [] }))
    expect(await ending).toBeLessThan(limit)
    expect(await store.connectedTo(nodeId)).toHaveLength((RUNS - 1) * BATCH)
  } finally {
    await store.close()
  }
})
