import { randomUUID } from 'node:crypto'
import { type CompiledQuery, sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { createMonthlyClose } from '../../../src/modules/billing/invoice-close.ts'
import { connectTo } from '../../support/database/sql.ts'
import { actors, createSilentGateway, HOUR_MS, MINUTE_MS } from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const utc = (text: string) => Date.parse(`${text}Z`)

/** A world whose clock the test moves, with clients whose sessions lie wherever they should. */
async function fixture(begin = '2026-01-15T12:00:00') {
  let clockMs = utc(begin)
  const now = () => new Date(clockMs)
  const world = await createWorld({ now })
  const gateway = await createSilentGateway(world, () => clockMs)
  const close = createMonthlyClose({ ...world.platform.core, now })
  return {
    world,
    gateway,
    close,
    now,
    set: (text: string) => {
      clockMs = utc(text)
    },
    invoicesOf: async (client: TestUser) => (await client.get('/api/client/invoices')).body.invoices,
    /** A session that ended at a moment, after so many minutes. */
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
const brief = ({ month, status, total_cents, session_count, minutes }: Record<string, unknown>) => ({
  month,
  status,
  total_cents,
  session_count,
  minutes,
})
const invoiceOf = (world: World, sessionId: string) =>
  world.platform.core.db
    .selectFrom('sessions')
    .leftJoin('invoices', 'invoices.id', 'sessions.invoice_id')
    .select('invoices.month')
    .where('sessions.id', '=', sessionId)
    .executeTakeFirstOrThrow()
    .then((row) => row.month)

test('GET /api/client/invoices: a month that is over becomes one invoice, audited and told to the client', async () => {
  await using on = await fixture()
  const { world } = on
  const users = await actors(world, on.gateway)
  const { owner } = users
  await on.session(users, '2026-01-15T12:00:00', 3)
  await on.session(users, '2026-01-20T12:00:00', 5)
  on.set('2026-01-31T23:59:59.999')
  await on.close.run()
  expect(await on.invoicesOf(owner), 'the month is not over').toEqual([])

  on.set('2026-02-01T00:00:00')
  await on.close.run()
  const [invoice] = await on.invoicesOf(owner)
  expect(await on.invoicesOf(owner)).toEqual([
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

  await on.close.run()
  on.set('2026-04-20T00:00:00')
  await on.close.run()
  expect(await on.invoicesOf(owner), 'months without sessions have none').toEqual([invoice])
  expect(await notified()).toHaveLength(1)
  expect(await on.invoicesOf(await world.client()), 'nobody else’s').toEqual([])
})

test('a month is one of UTC: the last millisecond belongs to it, midnight to the next', async () => {
  await using on = await fixture('2026-03-01T00:00:00')
  const users = await actors(on.world, on.gateway)
  // Clocks change on the 29th where some clients live; the platform's months know nothing of it.
  const inside = [
    await on.session(users, '2026-03-01T00:00:00', 0),
    await on.session(users, '2026-03-29T01:30:00'),
    await on.session(users, '2026-03-31T23:59:59.999'),
  ]
  const outside = await on.session(users, '2026-04-01T00:00:00')
  await on.close.run()
  for (const id of inside) expect(await invoiceOf(on.world, id)).toBe('2026-03')
  expect(await invoiceOf(on.world, outside)).toBeNull()
  expect((await on.invoicesOf(users.owner)).map(brief)).toEqual([
    { month: '2026-03', status: 'OPEN', total_cents: 200, session_count: 3, minutes: 4 },
  ])
})

test('an invoice of nothing to pay is PAID at once', async () => {
  await using on = await fixture()
  const users = await actors(on.world, on.gateway)
  await on.session(users, '2026-01-15T12:00:00', 0)
  on.set('2026-02-03T10:00:00')
  await on.close.run()
  expect(await on.invoicesOf(users.owner)).toMatchObject([
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

test('after months of downtime every month gets its invoice, oldest first, newest shown first', async () => {
  await using on = await fixture('2025-11-15T12:00:00')
  const users = await actors(on.world, on.gateway)
  const open = await start(users.operator, users.robotId) // spans the turn of the year
  on.set('2025-11-20T12:00:00')
  await performAction(users.operator, open, 'pause')
  on.set('2026-01-02T12:00:00')
  await performAction(users.operator, open, 'end')
  on.set('2026-01-15T12:00:00')
  await on.session(users, '2025-12-31T23:59:00', 1)
  await on.session(users, '2026-01-10T12:00:00', 2)
  await on.session(users, '2026-03-10T12:00:00', 3)
  const cancelled = await users.operator.post('/api/sessions', {
    robotId: users.robotId,
    scheduledFor: '2026-03-10T13:00:00Z',
  })
  await performAction(users.operator, cancelled.body.sessionId, 'cancel')
  on.set('2026-04-02T00:00:00')
  await on.close.run()

  const pausedMinutes = (5 * 24 * HOUR_MS) / MINUTE_MS
  expect((await on.invoicesOf(users.owner)).map(brief)).toEqual([
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
  expect(months.reverse(), 'in the order in which they were made').toEqual(['2025-12', '2026-01', '2026-03'])
})

test('a session that comes too late for its month is on the next invoice, and holds nobody up', async () => {
  await using on = await fixture()
  const users = await actors(on.world, on.gateway)
  const others = await actors(on.world, on.gateway)
  await on.session(users, '2026-01-15T12:00:00')
  on.set('2026-02-01T00:00:00')
  await on.close.run()
  const late = await on.session(users, '2026-01-31T23:59:59') // as of a process whose clock is behind
  const other = await on.session(others, '2026-01-31T23:59:59')
  on.set('2026-02-10T00:00:00')
  await on.close.run()
  expect(await invoiceOf(on.world, other)).toBe('2026-01')
  expect(await invoiceOf(on.world, late), 'waits for the end of the month').toBeNull()
  expect((await on.invoicesOf(users.owner)).map(brief)).toMatchObject([{ total_cents: 100 }])

  const own = await on.session(users, '2026-02-11T12:00:00')
  on.set('2026-03-01T00:00:00')
  await on.close.run()
  for (const id of [late, own]) expect(await invoiceOf(on.world, id)).toBe('2026-02')
  expect((await on.invoicesOf(users.owner)).map(brief)).toMatchObject([
    { month: '2026-02', total_cents: 200, session_count: 2 },
    { month: '2026-01', total_cents: 100, session_count: 1 },
  ])
})

/** Completed sessions straight in the database: more than one could play. */
async function insertSessions(
  world: World,
  users: { owner: TestUser; operator: TestUser; robotId: string },
  count: number,
  endedAt: (index: number) => Date,
) {
  const rows = Array.from({ length: count }, (_, index) => ({
    id: randomUUID(),
    robot_id: users.robotId,
    operator_id: users.operator.id,
    client_id: users.owner.id,
    status: 'COMPLETED' as const,
    billable_minutes: 2,
    started_at: endedAt(index),
    ended_at: endedAt(index),
    client_charge_cents: 100,
    operator_earnings_cents: 70,
  }))
  for (let from = 0; from < rows.length; from += 1_000) {
    await world.platform.core.db
      .insertInto('sessions')
      .values(rows.slice(from, from + 1_000))
      .execute()
  }
}

describe.concurrent('several workers', () => {
  test('at once make each invoice once, with every session on exactly one', async () => {
    await using on = await fixture()
    const { world, now } = on
    const clients = await Promise.all(Array.from({ length: 12 }, () => actors(world, on.gateway)))
    const at = (index: number) => new Date(utc('2025-11-01T00:00:00') + index * 24 * HOUR_MS)
    for (const users of clients) await insertSessions(world, users, 80, at) // November to January
    on.set('2026-02-01T00:00:00')
    const workers = Array.from({ length: 4 }, () => createMonthlyClose({ ...world.platform.core, now }))
    await Promise.all(workers.map((worker) => worker.run()))
    await on.close.run() // what one left to another that then lost the race

    for (const { owner } of clients) {
      expect((await on.invoicesOf(owner)).map(brief)).toEqual(
        [
          ['2026-01', 19],
          ['2025-12', 31],
          ['2025-11', 30],
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

  test('that die in the middle leave no trace, and the next one makes the invoice', async () => {
    await using on = await fixture()
    const { world } = on
    const users = await actors(world, on.gateway)
    const id = await on.session(users, '2026-01-15T12:00:00')
    on.set('2026-02-01T00:00:00')
    await using other = await connectTo(world.database.url)
    await using killer = await connectTo(world.database.url)
    await other.query('begin')
    await other.query('select from users where id = $1 for no key update', [users.owner.id])
    // Waits with everything done but the notification.
    const dying = on.close.run().then(
      () => 'finished',
      () => 'died',
    )
    const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and pid <> pg_backend_pid() and query like '%update "users" set "notification_seq"%'`
    await vi.waitFor(async () => expect((await killer.query(waiting)).rows).not.toEqual([]), 10_000)
    await killer.query(`select pg_terminate_backend(pid) from (${waiting}) waiting`)
    expect(await dying).toBe('died')
    await other.query('rollback')
    expect(await on.invoicesOf(users.owner)).toEqual([])
    expect(await invoiceOf(world, id)).toBeNull()

    await on.close.run()
    expect((await on.invoicesOf(users.owner)).map(brief)).toEqual([
      { month: '2026-01', status: 'OPEN', total_cents: 100, session_count: 1, minutes: 2 },
    ])
    expect(await invoiceOf(world, id)).toBe('2026-01')
  })

  test('put more sessions on one invoice than one statement takes', { timeout: 60_000 }, async () => {
    await using on = await fixture()
    const users = await actors(on.world, on.gateway)
    const at = (index: number) => new Date(utc('2026-01-01T00:00:00') + index * 1_000)
    await insertSessions(on.world, users, 12_001, at)
    on.set('2026-02-01T00:00:00')
    await on.close.run()
    expect((await on.invoicesOf(users.owner)).map(brief)).toEqual([
      { month: '2026-01', status: 'OPEN', total_cents: 1_200_100, session_count: 12_001, minutes: 24_002 },
    ])
  })

  test('close months by themselves', { timeout: 30_000 }, async () => {
    await using on = await fixture()
    const users = await actors(on.world, on.gateway)
    await on.session(users, '2026-01-15T12:00:00')
    on.set('2026-02-01T00:00:00')
    await vi.waitFor(async () => expect(await on.invoicesOf(users.owner)).toHaveLength(1), 20_000)
  })
})

test('one client’s trouble does not keep the invoices of the others', async () => {
  await using on = await fixture()
  const { world, now } = on
  const [broken, fine] = [await actors(world, on.gateway), await actors(world, on.gateway)]
  // More of the troubled one's sessions than one look takes in, all older than the other's.
  await insertSessions(world, broken, 600, () => new Date(utc('2026-01-02T00:00:00')))
  await insertSessions(world, fine, 1, () => new Date(utc('2026-01-20T00:00:00')))
  on.set('2026-02-01T00:00:00')
  await world.platform.core.db.schema
    .alterTable('invoices')
    .addCheckConstraint('trouble', sql`session_count < 600`)
    .execute()
  const errors: unknown[] = []
  const log = { ...world.platform.core.log, error: (line: unknown) => void errors.push(line) } as never
  await createMonthlyClose({ ...world.platform.core, now, log }).run()
  expect(await on.invoicesOf(fine.owner)).toHaveLength(1)
  expect(await on.invoicesOf(broken.owner)).toEqual([])
  expect(errors).toMatchObject([{ clientId: broken.owner.id, month: '2026-01' }])

  await world.platform.core.db.schema.alterTable('invoices').dropConstraint('trouble').execute()
  await on.close.run()
  expect((await on.invoicesOf(broken.owner)).map(brief)).toMatchObject([{ session_count: 600 }])
})

test('looking for work reads no more of the sessions than there is to do', async () => {
  await using on = await fixture()
  const { world, now } = on
  const {
    core: { db },
  } = world.platform
  const users = await actors(world, on.gateway)
  await insertSessions(world, users, 20_000, () => new Date(utc('2026-01-20T00:00:00')))
  on.set('2026-01-25T00:00:00')
  const statements: CompiledQuery[] = []
  const listening = db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      statements.push(db.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await createMonthlyClose({ ...world.platform.core, db: listening, now }).run()
  expect(statements, 'one look, and nothing else').toHaveLength(1)

  const [{ sql: text, parameters }] = statements as [CompiledQuery]
  await using client = await connectTo(world.database.url)
  await client.query('vacuum analyze sessions')
  const { rows } = await client.query(`explain (analyze, format json) ${text}`, [...parameters])
  const plan = JSON.stringify(rows)
  expect(plan).toContain('sessions_uninvoiced')
  expect(plan).not.toContain(
    'Seq Scan","Parallel Aware":false,"Async Capable":false,"Relation Name":"sessions',
  )
  const read = [...plan.matchAll(/"(?:Actual Rows|Rows Removed by [a-zA-Z ]+)":([\d.]+)/g)]
  expect(read.length).toBeGreaterThan(0)
  for (const [, count] of read) expect(Number(count)).toBe(0)
})
