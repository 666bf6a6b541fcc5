import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { applyMigrations } from '../../../src/app/database/migrations/apply-migrations.ts'
import { migrations } from '../../../src/app/database/migrations/index.ts'
import { connectOrm, type Orm } from '../../../src/app/database/orm.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { createEmptyDatabase, type EmptyDatabase } from '../../support/database/empty-database.ts'

type Row = Record<string, unknown>

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const open = (url: string): Promise<Orm> => connectOrm({ url, poolSize: 2, applicationName: 'schema-test' })

const columns = `
  select table_name, column_name, data_type, udt_name, datetime_precision, is_nullable, column_default
  from information_schema.columns where table_schema = 'public' and table_name <> 'migrations'
  order by table_name, column_name`
const indexes = `
  select tablename, indexname, indexdef
  from pg_indexes where schemaname = 'public' and tablename <> 'migrations' order by indexname`
const constraints = `
  select conrelid::regclass::text as table_name, conname, contype, pg_get_constraintdef(oid) as definition
  from pg_constraint
  where connamespace = 'public'::regnamespace and contype not in ('t', 'n')
    and conrelid::regclass::text <> 'migrations'
  order by conname`

describe('the schema', () => {
  let fromEntities: EmptyDatabase
  let fromMigrations: TestDatabase
  beforeAll(async () => {
    fromEntities = await createEmptyDatabase()
    fromMigrations = await createTestDatabase()
    const orm = await open(fromEntities.url)
    await orm.schema.create()
    await orm.close(true)
  })
  afterAll(async () => {
    await fromEntities.drop()
    await fromMigrations.drop()
  })

  const read = (url: string, query: string) =>
    withClient(url, async (client) => (await client.query<Row>(query)).rows)

  test('has the columns of the entities, and no others', async () => {
    const [declared, migrated] = [
      await read(fromEntities.url, columns),
      await read(fromMigrations.url, columns),
    ]
    expect(declared.length).toBeGreaterThan(10)
    expect(migrated).toEqual(declared)
  })

  // Entities declare keys, references and the values of enumerations; everything else is in the migrations only.
  test.each([
    ['keys', indexes],
    ['references and enumerations', constraints],
  ])('has the %s of the entities', async (_what, query) => {
    const [declared, migrated] = [await read(fromEntities.url, query), await read(fromMigrations.url, query)]
    expect(declared.length).toBeGreaterThan(10)
    expect(migrated).toEqual(expect.arrayContaining(declared))
  })
})

describe('several processes that start concurrently', () => {
  test('migrate an empty database together: each migration is applied once', async () => {
    const database = await createEmptyDatabase()
    const orms = await Promise.all(Array.from({ length: 4 }, () => open(database.url)))
    try {
      const applied = await Promise.all(orms.map((orm) => applyMigrations(orm, database.url)))
      const expected = migrations.map((migration) => migration.name)
      expect(expected.length).toBeGreaterThan(0)
      expect(applied.flat()).toHaveLength(expected.length)
      expect(applied.filter((names) => names.length > 0)).toHaveLength(1)
      const recorded = await withClient(database.url, (client) => client.query('select name from migrations'))
      expect(recorded.rows.map(({ name }) => name)).toEqual(applied.flat())
      expect(await applyMigrations(orms[0] as Orm, database.url), 'nothing is left to do').toEqual([])
    } finally {
      for (const orm of orms) await orm.close(true)
      await database.drop()
    }
  })
})

describe('a database from before 0.1.0', () => {
  let database: EmptyDatabase
  let orm: Orm
  beforeEach(async () => {
    database = await createEmptyDatabase()
    orm = await open(database.url)
  })
  afterEach(async () => {
    await orm.close(true)
    await database.drop()
  })
  const migrationsOf = () =>
    withClient(database.url, async (client) => {
      const { rows } = await client.query<{ name: string }>('select name from migrations order by id')
      return rows.map(({ name }) => name)
    })
  const names = migrations.map(({ name }) => name)
  /** Creates the schema of the first migration, and the list of applied migrations of a database that ended at `last`. */
  const endAt = async (last: string) => {
    await orm.migrator.up({ to: names[0] as string })
    await withClient(database.url, (client) => client.query('update migrations set name = $1', [last]))
  }

  test('is taken over as it is after its last migration', async () => {
    await endAt('0053_truthful_figures')
    const insert = `insert into users (id, issuer, subject, display_name) values ('${randomUUID()}', 'test', 'kept', 'Test')`
    await withClient(database.url, (client) => client.query(insert))
    expect(await applyMigrations(orm, database.url)).toEqual(names.slice(1))
    expect(await migrationsOf()).toEqual(['0053_truthful_figures', ...names])
    const kept = await withClient(database.url, (client) => client.query('select subject from users'))
    expect(kept.rows).toEqual([{ subject: 'kept' }])
  })

  test('is refused and left alone before its last migration', async () => {
    await endAt('0052_export_options')
    await expect(applyMigrations(orm, database.url)).rejects.toThrow(
      /older than 0\.1\.0 \(0052_export_options\).*Nothing was changed/,
    )
    expect(await migrationsOf()).toEqual(['0052_export_options'])
  })
})

describe('the database itself', () => {
  let database: TestDatabase
  let client: Client
  beforeAll(async () => {
    database = await createTestDatabase()
    client = new Client({ connectionString: database.url })
    await client.connect()
  })
  afterAll(async () => {
    await client.end()
    await database.drop()
  })

  const insertUser = async () => {
    const id = randomUUID()
    const sql = `insert into users (id, issuer, subject, display_name) values ($1, 'test', $1::uuid::text, 'Test')`
    await client.query(sql, [id])
    return id
  }
  const insertRobot = async (ownerId: string, status = 'AVAILABLE') => {
    const id = randomUUID()
    const sql = `insert into robots (id, owner_id, name, robot_type, hardware_id, status)
      values ($1, $2, 'Robot', 'testbot', $1::uuid::text, $3)`
    await client.query(sql, [id, ownerId, status])
    return id
  }
  const insertSession = async (session: {
    robot: string
    operator: string
    owner: string
    status?: string
    at?: string | null
    minutes?: number | null
  }) => {
    const id = randomUUID()
    const status = session.status ?? 'ACTIVE'
    const sql = `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, active_since,
        plan_id, client_rate_cents_per_minute, operator_share_percent, scheduled_for, planned_minutes)
      values ($1, $2, $3, $4, $5, case when $5::text <> 'PENDING' then now() end,
        case when $5::text = 'ACTIVE' then now() end, 'standard', 50, 70, $6, $7)`
    const { at = status === 'PENDING' ? '2026-12-01T09:00:00Z' : null } = session
    const { minutes = at === null ? null : 60 } = session
    await client.query(sql, [id, session.robot, session.operator, session.owner, status, at, minutes])
    return id
  }
  const setStatus = (robotId: string, status: string) =>
    client.query('update robots set status = $2 where id = $1', [robotId, status])

  /** Runs statements in one transaction; resolves with the constraint that refused it, or undefined. */
  async function refusal(work: () => Promise<unknown>): Promise<string | undefined> {
    await client.query('begin')
    try {
      await work()
      await client.query('commit')
      return undefined
    } catch (cause) {
      await client.query('rollback')
      return (cause as { constraint?: string }).constraint ?? String(cause)
    }
  }

  async function inSession() {
    const [owner, operator] = [await insertUser(), await insertUser()]
    const robot = await insertRobot(owner)
    let session = ''
    const refused = await refusal(async () => {
      await setStatus(robot, 'IN_SESSION')
      session = await insertSession({ robot, operator, owner })
    })
    expect(refused, 'an ordinary start').toBeUndefined()
    return { owner, operator, robot, session }
  }

  test.each(['ACTIVE', 'PAUSED'])('refuses a second open session (%s) of one robot', async (status) => {
    const { owner, robot } = await inSession()
    const operator = await insertUser()
    expect(await refusal(() => insertSession({ robot, operator, owner, status }))).toBe(
      'one_open_session_per_robot',
    )
  })

  test.each(['ACTIVE', 'PAUSED'])('refuses a second open session (%s) of one operator', async (status) => {
    const { owner, operator } = await inSession()
    const robot = await insertRobot(owner)
    const start = async () => {
      await setStatus(robot, 'IN_SESSION')
      await insertSession({ robot, operator, owner, status })
    }
    expect(await refusal(start)).toBe('one_open_session_per_operator')
  })

  test('accepts any number of sessions that are not open', async () => {
    const { owner, operator, robot } = await inSession()
    for (const status of ['PENDING', 'COMPLETED', 'CANCELLED']) {
      expect(await refusal(() => insertSession({ robot, operator, owner, status })), status).toBeUndefined()
    }
  })

  test('refuses bookings whose planned windows overlap, of one robot and of one operator, and accepts adjacent ones', async () => {
    const [owner, firstUser, other] = [await insertUser(), await insertUser(), await insertUser()]
    const [robot, second] = [await insertRobot(owner), await insertRobot(owner)]
    const book = (robot: string, operator: string, at: string, minutes?: number) =>
      refusal(() =>
        insertSession({ robot, operator, owner, status: 'PENDING', at, ...(minutes && { minutes }) }),
      )
    expect(await book(robot, firstUser, '2026-12-02T09:00:00Z')).toBeUndefined()
    expect(await book(robot, other, '2026-12-02T09:59:59Z')).toBe('sessions_robot_window')
    expect(await book(robot, other, '2026-12-02T08:30:00Z', 31)).toBe('sessions_robot_window')
    expect(await book(second, firstUser, '2026-12-02T09:30:00Z')).toBe('sessions_operator_window')
    expect(await book(robot, other, '2026-12-02T10:00:00Z'), 'right after it').toBeUndefined()
    expect(await book(robot, other, '2026-12-02T08:30:00Z', 30), 'right before it').toBeUndefined()
    expect(await book(second, other, '2026-12-02T09:00:00Z'), 'at the same time').toBeUndefined()
  })

  test('refuses a booking without a time, and a length of zero', async () => {
    const { owner, operator, robot } = await inSession()
    const pending = { robot, operator, owner, status: 'PENDING' }
    // Processes of the previous version insert no length; the row gets the default.
    expect(await refusal(() => insertSession({ ...pending, minutes: null }))).toBeUndefined()
    expect(await refusal(() => insertSession({ ...pending, at: null }))).toBe('sessions_pending_planned')
    expect(await refusal(() => insertSession({ ...pending, minutes: 0 }))).toBe('sessions_planned_minutes')
  })

  const mismatch = 'robot_in_session_matches_open_session'

  test('refuses at commit a robot that is IN_SESSION without an open session', async () => {
    const robot = await insertRobot(await insertUser())
    expect(await refusal(() => setStatus(robot, 'IN_SESSION'))).toBe(mismatch)
  })

  test('refuses at commit a robot that is inserted IN_SESSION without an open session', async () => {
    const owner = await insertUser()
    expect(await refusal(() => insertRobot(owner, 'IN_SESSION'))).toBe(mismatch)
  })

  test('refuses at commit an open session whose robot is not IN_SESSION', async () => {
    const [owner, operator] = [await insertUser(), await insertUser()]
    const robot = await insertRobot(owner)
    expect(await refusal(() => insertSession({ robot, operator, owner }))).toBe(mismatch)
  })

  test('refuses at commit to end a session and leave its robot IN_SESSION, and the reverse', async () => {
    const { robot, session } = await inSession()
    const end = () => update(session, `status = 'COMPLETED', ended_at = now(), active_since = null`)
    expect(await refusal(end)).toBe(mismatch)
    expect(await refusal(() => setStatus(robot, 'AVAILABLE'))).toBe(mismatch)
    const both = async () => {
      await end()
      await setStatus(robot, 'AVAILABLE')
    }
    expect(await refusal(both)).toBeUndefined()
  })

  const update = (sessionId: string, change: string) =>
    client.query(`update sessions set ${change} where id = '${sessionId}'`)

  test('refuses at commit to reopen a session', async () => {
    const { owner, operator } = await inSession()
    const robot = await insertRobot(owner)
    const done = await insertSession({ robot, operator, owner, status: 'COMPLETED' })
    const other = await insertUser()
    expect(
      await refusal(() => update(done, `status = 'ACTIVE', active_since = now(), operator_id = '${other}'`)),
    ).toBe(mismatch)
  })

  test('refuses at commit to delete an open session and leave its robot IN_SESSION', async () => {
    const { session } = await inSession()
    expect(await refusal(() => client.query('delete from sessions where id = $1', [session]))).toBe(mismatch)
  })

  test('refuses at commit to move an open session to another robot', async () => {
    const { owner, session } = await inSession()
    const free = await insertRobot(owner)
    expect(await refusal(() => update(session, `robot_id = '${free}'`))).toBe(mismatch)
  })

  test('refuses inconsistent sessions', async () => {
    const { owner, operator, robot, session } = await inSession()
    const refusalOf = (change: string) => refusal(() => update(session, change))
    expect(await refusalOf(`ended_at = started_at - interval '1 s'`)).toBe('sessions_times')
    expect(await refusalOf('rating = 6')).toBe('sessions_rating')
    expect(await refusalOf('started_at = null')).toBe('sessions_open_started')
    expect(await refusalOf('active_since = null')).toBe('sessions_active_time')
    expect(await refusalOf('active_until = now()')).toBe('sessions_active_time')
    expect(await refusalOf('client_rate_cents_per_minute = null')).toBe('sessions_priced')
    expect(await refusalOf('outage_ms = 1')).toBe('sessions_outage')
    expect(await refusalOf('client_charge_cents = 1, operator_earnings_cents = 2')).toBe('sessions_charge')
    expect(await refusal(() => insertSession({ robot, operator, owner, status: 'OPEN' }))).toBe(
      'sessions_status_check',
    )
  })

  test('numbers the log and the chat of a session uniquely', async () => {
    const { owner, operator, session } = await inSession()
    const event = `insert into session_events (session_id, seq, type, data) values ('${session}', 1, 'test', '{}')`
    expect(await refusal(() => client.query(event))).toBeUndefined()
    expect(await refusal(() => client.query(event))).toBe('session_events_pkey')
    const message = (seq: number, clientMessageId: string, sender: string) =>
      client.query(
        `insert into messages (id, session_id, seq, sender_id, sender_name, sender_role, body, client_message_id)
         values ($1, $2, $3, $4, 'Test', 'operator', 'hello', $5)`,
        [randomUUID(), session, seq, sender, clientMessageId],
      )
    expect(await refusal(() => message(2, 'a', operator))).toBeUndefined()
    expect(await refusal(() => message(2, 'b', operator))).toBe('messages_seq')
    expect(await refusal(() => message(3, 'a', operator))).toBe('messages_client_id')
    expect(await refusal(() => message(3, 'a', owner)), 'another sender').toBeUndefined()
  })

  test('accepts a hardware id again once its robot was removed', async () => {
    const owner = await insertUser()
    const robot = await insertRobot(owner)
    const again = () =>
      client.query(
        `insert into robots (id, owner_id, name, robot_type, hardware_id) values ($1, $2, 'Again', 'testbot', $3)`,
        [randomUUID(), owner, robot],
      )
    expect(await refusal(again)).toBe('one_robot_per_hardware_id')
    await client.query('update robots set deleted_at = now() where id = $1', [robot])
    expect(await refusal(again)).toBeUndefined()
  })
})
