import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMonthlyClose } from '../../../src/modules/billing/invoice-close.ts'
import { connectTo } from '../../support/database/sql.ts'
import { actors, createSilentGateway, HOUR_MS, MINUTE_MS } from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World, type WorldOptions } from '../../support/world/world.ts'

const utc = (text: string) => Date.parse(`${text}Z`)
const START = '2026-01-15T12:00:00'

type Fixture = Awaited<ReturnType<typeof createFixture>>

/** Creates a platform with a test-controlled clock and a helper for sessions that end at a given time. */
async function createFixture(options: Pick<WorldOptions, 'bus' | 'env'> = {}) {
  let clockMs = utc(START)
  const now = () => new Date(clockMs)
  const world = await createWorld({ now, ...options })
  const gateway = await createSilentGateway(world, () => clockMs)
  const close = createMonthlyClose({ ...world.platform.core, now })
  return {
    world,
    gateway,
    close,
    now,
    /** Creates users of a test, which begins at the given time. */
    begin: async (text = START) => {
      clockMs = utc(text)
      return await actors(world, gateway)
    },
    setClock: (text: string) => {
      clockMs = utc(text)
    },
    invoicesOf: async (client: TestUser) => (await client.get('/api/client/invoices')).body.invoices,
    /** Runs a session of the given length that ends at the given time, and returns its ID. */
    async session(users: { operator: TestUser; robotId: string }, endText: string, minutes = 2) {
      clockMs = utc(endText) - minutes * MINUTE_MS
      const id = await start(users.operator, users.robotId)
      clockMs = utc(endText)
      await performAction(users.operator, id, 'end')
      return id
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await world[Symbol.asyncDispose]()
    },
  }
}

/** Most tests share a platform. Each begins at its own time, with its own users, and closes months itself. */
let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const brief = ({ month, status, total_cents, session_count, minutes }: Record<string, unknown>) => ({
  month,
  status,
  total_cents,
  session_count,
  minutes,
})
/** Returns the month of the invoice of a session. */
const invoiceOf = (world: World, sessionId: string) =>
  world.platform.core.db
    .selectFrom('sessions')
    .leftJoin('invoices', 'invoices.id', 'sessions.invoice_id')
    .select('invoices.month')
    .where('sessions.id', '=', sessionId)
    .executeTakeFirstOrThrow()
    .then((row) => row.month)

test('GET /api/client/invoices: a completed month becomes one audited invoice, and the client is notified', async () => {
  const { world } = fixture
  const users = await fixture.begin()
  const { owner } = users
  await fixture.session(users, '2026-01-15T12:00:00', 3)
  await fixture.session(users, '2026-01-20T12:00:00', 5)
  fixture.setClock('2026-01-31T23:59:59.999')
  await fixture.close.run()
  expect(await fixture.invoicesOf(owner), 'the month is not over').toEqual([])

  fixture.setClock('2026-02-01T00:00:00')
  await fixture.close.run()
  const [invoice] = await fixture.invoicesOf(owner)
  expect(await fixture.invoicesOf(owner)).toEqual([
    {
      id: expect.any(String),
      month: '2026-01',
      status: 'OPEN',
      currency: 'EUR',
      total_cents: 400,
      session_count: 2,
      minutes: 8,
      billing_name: owner.name,
      billing_country: null,
      billing_vat_id: null,
      issued_at: '2026-02-01T00:00:00.000Z',
      paid_at: null,
      hosted_url: null,
    },
  ])
  const admin = await world.admin()
  expect((await admin.get(`/api/admin/audit?subject_id=${invoice.id}`)).body.entries).toMatchObject([
    {
      action: 'invoice.closed',
      actor_id: null,
      subject_type: 'invoice',
      data: { client_id: owner.id, month: '2026-01', total_cents: 400, session_count: 2 },
    },
  ])
  const notified = async () =>
    (await owner.get('/api/notifications')).body.notifications.filter(
      (item: { type: string }) => item.type === 'invoice.issued',
    )
  expect(await notified()).toMatchObject([
    { data: { invoice_id: invoice.id, month: '2026-01', total_cents: 400, currency: 'EUR' } },
  ])

  await fixture.close.run()
  fixture.setClock('2026-04-20T00:00:00')
  await fixture.close.run()
  expect(await fixture.invoicesOf(owner), 'a month without sessions has no invoice').toEqual([invoice])
  expect(await notified()).toHaveLength(1)
  expect(await fixture.invoicesOf(await world.client()), 'another client sees no invoice').toEqual([])
})

test('a month is a UTC month: it includes the last millisecond and excludes midnight', async () => {
  const users = await fixture.begin('2026-03-01T00:00:00')
  // Some clients' time zones change to summer time on the 29th. The platform ignores time zones.
  const inside = [
    await fixture.session(users, '2026-03-01T00:00:00', 0),
    await fixture.session(users, '2026-03-29T01:30:00'),
    await fixture.session(users, '2026-03-31T23:59:59.999'),
  ]
  const outside = await fixture.session(users, '2026-04-01T00:00:00')
  await fixture.close.run()
  for (const id of inside) expect(await invoiceOf(fixture.world, id)).toBe('2026-03')
  expect(await invoiceOf(fixture.world, outside)).toBeNull()
  expect((await fixture.invoicesOf(users.owner)).map(brief)).toEqual([
    { month: '2026-03', status: 'OPEN', total_cents: 200, session_count: 3, minutes: 4 },
  ])
})

test('an invoice with a total of zero is PAID immediately', async () => {
  const users = await fixture.begin()
  await fixture.session(users, '2026-01-15T12:00:00', 0)
  fixture.setClock('2026-02-03T10:00:00')
  await fixture.close.run()
  expect(await fixture.invoicesOf(users.owner)).toMatchObject([
    {
      status: 'PAID',
      total_cents: 0,
      session_count: 1,
      minutes: 0,
      issued_at: '2026-02-03T10:00:00.000Z',
      paid_at: '2026-02-03T10:00:00.000Z',
    },
  ])
})

test('creates one invoice per month after months of downtime, oldest first, and lists the newest first', async () => {
  const users = await fixture.begin('2025-11-15T12:00:00')
  const open = await start(users.operator, users.robotId) // spans the end of the year
  fixture.setClock('2025-11-20T12:00:00')
  await performAction(users.operator, open, 'pause')
  fixture.setClock('2026-01-02T12:00:00')
  await performAction(users.operator, open, 'end')
  fixture.setClock('2026-01-15T12:00:00')
  await fixture.session(users, '2025-12-31T23:59:00', 1)
  await fixture.session(users, '2026-01-10T12:00:00', 2)
  await fixture.session(users, '2026-03-10T12:00:00', 3)
  const cancelled = await users.operator.post('/api/sessions', {
    robotId: users.robotId,
    scheduledFor: '2026-03-10T13:00:00Z',
  })
  await performAction(users.operator, cancelled.body.sessionId, 'cancel')
  fixture.setClock('2026-04-02T00:00:00')
  await fixture.close.run()

  const pausedMinutes = (5 * 24 * HOUR_MS) / MINUTE_MS
  expect((await fixture.invoicesOf(users.owner)).map(brief)).toEqual([
    { month: '2026-03', status: 'OPEN', total_cents: 150, session_count: 1, minutes: 3 },
    {
      month: '2026-01',
      status: 'OPEN',
      session_count: 2,
      minutes: pausedMinutes + 2,
      total_cents: (pausedMinutes + 2) * 50,
    },
    { month: '2025-12', status: 'OPEN', total_cents: 50, session_count: 1, minutes: 1 },
  ])
  const months = (await users.owner.get('/api/notifications')).body.notifications
    .filter((item: { type: string }) => item.type === 'invoice.issued')
    .map((item: { data: { month: string } }) => item.data.month)
  expect(months.reverse(), 'in the order of creation').toEqual(['2025-12', '2026-01', '2026-03'])
})

test('puts a late session on the next invoice without delaying other clients', async () => {
  const users = await fixture.begin()
  const others = await fixture.begin()
  await fixture.session(users, '2026-01-15T12:00:00')
  fixture.setClock('2026-02-01T00:00:00')
  await fixture.close.run()
  const late = await fixture.session(users, '2026-01-31T23:59:59') // ended by a process with a slow clock
  const punctual = await fixture.session(others, '2026-01-31T23:59:59')
  fixture.setClock('2026-02-10T00:00:00')
  await fixture.close.run()
  expect(await invoiceOf(fixture.world, punctual)).toBe('2026-01')
  expect(await invoiceOf(fixture.world, late), 'remains without an invoice until the month ends').toBeNull()
  expect((await fixture.invoicesOf(users.owner)).map(brief)).toMatchObject([{ total_cents: 100 }])

  const own = await fixture.session(users, '2026-02-11T12:00:00')
  fixture.setClock('2026-03-01T00:00:00')
  await fixture.close.run()
  for (const id of [late, own]) expect(await invoiceOf(fixture.world, id)).toBe('2026-02')
  expect((await fixture.invoicesOf(users.owner)).map(brief)).toMatchObject([
    { month: '2026-02', total_cents: 200, session_count: 2 },
    { month: '2026-01', total_cents: 100, session_count: 1 },
  ])
})

/** Inserts completed sessions directly into the database, because it takes long to run so many. */
async function insertSessions(
  world: World,
  users: { owner: TestUser; operator: TestUser; robotId: string },
  count: number,
  { first, everyMs = 0 }: { first: string; everyMs?: number },
) {
  // Not through the platform's connections: on a busy machine, so many rows take longer than its queries may.
  await using database = await connectTo(world.database.url)
  // Without the triggers, which take most of the time: they update the totals of the platform for each session.
  await database.query('set session_replication_role = replica')
  await database.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, billable_minutes, started_at, ended_at,
       client_charge_cents, operator_earnings_cents,
       recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     select gen_random_uuid(), $1, $2, $3, 'COMPLETED', 2, at, at, 100, 70, 'Robot', 'testbot', 'Operator', 'Owner'
     from generate_series(0, $4::int - 1) n,
       lateral (select $5::timestamptz + n * $6::float8 * interval '1 ms' as at) times`,
    [users.robotId, users.operator.id, users.owner.id, count, new Date(utc(first)), everyMs],
  )
}

describe('several workers', () => {
  test('create each invoice once, with every session on exactly one invoice', async () => {
    const { world, now } = fixture
    const clients = await Promise.all(Array.from({ length: 3 }, () => fixture.begin()))
    const days = { first: '2025-11-01T00:00:00', everyMs: 4 * 24 * HOUR_MS }
    for (const users of clients) await insertSessions(world, users, 20, days) // November to January
    fixture.setClock('2026-02-01T00:00:00')
    const workers = Array.from({ length: 4 }, () => createMonthlyClose({ ...world.platform.core, now }))
    await Promise.all(workers.map((worker) => worker.run()))
    await fixture.close.run() // a worker may have skipped a client whose invoice another worker then rolled back

    for (const { owner } of clients) {
      expect((await fixture.invoicesOf(owner)).map(brief)).toEqual(
        [
          ['2026-01', 4],
          ['2025-12', 8],
          ['2025-11', 8],
        ].map(([month, count]) => ({
          month,
          status: 'OPEN',
          session_count: count,
          total_cents: Number(count) * 100,
          minutes: Number(count) * 2,
        })),
      )
      const notified = (await owner.get('/api/notifications')).body.notifications
      expect(notified).toHaveLength(3)
    }
  })

  test('roll back on a crash, and the next worker creates the invoice', async () => {
    const { world } = fixture
    const users = await fixture.begin()
    const id = await fixture.session(users, '2026-01-15T12:00:00')
    fixture.setClock('2026-02-01T00:00:00')
    await using blocker = await connectTo(world.database.url)
    await using killer = await connectTo(world.database.url)
    await blocker.query('begin')
    await blocker.query('select from users where id = $1 for no key update', [users.owner.id])
    // The worker blocks before the notification, its last step.
    const dying = fixture.close.run().then(
      () => 'finished',
      () => 'died',
    )
    const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and pid <> pg_backend_pid() and query like '%update "users" set "notification_seq"%'`
    await waitFor(async () => expect((await killer.query(waiting)).rows).not.toEqual([]))
    await killer.query(`select pg_terminate_backend(pid) from (${waiting}) waiting`)
    expect(await dying).toBe('died')
    await blocker.query('rollback')
    expect(await fixture.invoicesOf(users.owner)).toEqual([])
    expect(await invoiceOf(world, id)).toBeNull()

    await fixture.close.run()
    expect((await fixture.invoicesOf(users.owner)).map(brief)).toEqual([
      { month: '2026-01', status: 'OPEN', total_cents: 100, session_count: 1, minutes: 2 },
    ])
    expect(await invoiceOf(world, id)).toBe('2026-01')
  })

  test('put more sessions on one invoice than one statement can update', async () => {
    const users = await fixture.begin()
    const seconds = { first: '2026-01-01T00:00:00', everyMs: 1_000 }
    await insertSessions(fixture.world, users, 5_001, seconds)
    fixture.setClock('2026-02-01T00:00:00')
    await fixture.close.run()
    expect((await fixture.invoicesOf(users.owner)).map(brief)).toEqual([
      { month: '2026-01', status: 'OPEN', total_cents: 500_100, session_count: 5_001, minutes: 10_002 },
    ])
  })
})

test('a worker closes months and releases earnings without a request', async () => {
  const env = { EARNINGS_HOLD_DAYS: '7' }
  await using separate = await createFixture({ bus: 'redis', env })
  const { world } = separate
  const users = await separate.begin()
  const second = await world.operator()
  await separate.session(users, '2026-01-15T12:00:00', 20)
  await separate.session({ ...users, operator: second }, '2026-01-15T13:00:00', 10)
  const stats = async (user: TestUser) => (await user.get('/api/operator/stats')).body
  expect(await stats(second)).toMatchObject({ available_for_payout_cents: 0, pending_earnings_cents: 350 })
  separate.setClock('2026-02-01T00:00:00')
  await world.addNode('worker', env) // runs its jobs at once
  await waitFor(async () => expect(await separate.invoicesOf(users.owner)).toHaveLength(1))
  for (const [user, cents] of [
    [users.operator, 700],
    [second, 350],
  ] as const) {
    const released = { available_for_payout_cents: cents, pending_earnings_cents: 0 }
    await waitFor(async () => expect(await stats(user)).toMatchObject(released))
  }
})

test('a failure for one client does not block the invoices of other clients', async () => {
  const { world, now } = fixture
  const [failing, healthy] = [await fixture.begin(), await fixture.begin()]
  // The failing client has more sessions than one query returns, all older than those of the other client.
  await insertSessions(world, failing, 600, { first: '2026-01-02T00:00:00' })
  await insertSessions(world, healthy, 1, { first: '2026-01-20T00:00:00' })
  fixture.setClock('2026-02-01T00:00:00')
  await world.platform.core.db.schema
    .alterTable('invoices')
    .addCheckConstraint('trouble', sql`session_count <> 600`)
    .execute()
  const errors: unknown[] = []
  const log = { ...world.platform.core.log, error: (line: unknown) => void errors.push(line) } as never
  await createMonthlyClose({ ...world.platform.core, now, log }).run()
  expect(await fixture.invoicesOf(healthy.owner)).toHaveLength(1)
  expect(await fixture.invoicesOf(failing.owner)).toEqual([])
  expect(errors).toMatchObject([{ clientId: failing.owner.id, month: '2026-01' }])

  await world.platform.core.db.schema.alterTable('invoices').dropConstraint('trouble').execute()
  await fixture.close.run()
  expect((await fixture.invoicesOf(failing.owner)).map(brief)).toMatchObject([{ session_count: 600 }])
})
