import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { connectOrm, queries } from '../../../src/app/database/orm.ts'
import type { Caller } from '../../../src/core/http/endpoint.ts'
import { createSettle } from '../../../src/modules/billing/settle.ts'
import { createSessionLifecycle } from '../../../src/modules/sessions/lifecycle/session-lifecycle.ts'
import { createSessionStarts } from '../../../src/modules/sessions/lifecycle/session-start.ts'
import { createSessionQueries } from '../../../src/modules/sessions/record/session-queries.ts'
import { createEmptyDatabase } from '../../support/database/empty-database.ts'
import { connectTo } from '../../support/database/sql.ts'
import { testTransactor } from '../../support/database/test-transactor.ts'

test('the pricing migration gives open sessions the default plan and keeps their pauses; completed sessions stay free', async () => {
  const database = await createEmptyDatabase()
  const orm = await connectOrm({ url: database.url, poolSize: 1, applicationName: 'migration-test' })
  try {
    await orm.migrator.up({ to: '0002_audit' })
    await using client = await connectTo(database.url)
    const insert = async (status: string, times: string) => {
      const [id, user] = [randomUUID(), randomUUID()]
      await client.query(
        `insert into users (id, issuer, subject, display_name) values ($1, 'test', $1::uuid::text, 'Test')`,
        [user],
      )
      const robotStatus = status === 'COMPLETED' ? 'AVAILABLE' : 'IN_SESSION'
      await client.query('begin')
      await client.query(
        `insert into robots (id, owner_id, name, robot_type, hardware_id, status)
         values ($1, $2, 'Robot', 'testbot', $1::uuid::text, $3)`,
        [id, user, robotStatus],
      )
      await client.query(
        `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, paused_at, paused_ms, ended_at)
         values ($1, $1, $2, $2, $3, ${times})`,
        [id, user, status],
      )
      await client.query('commit')
      return id
    }
    const active = await insert('ACTIVE', `'2026-01-01T12:00:00Z', null, 90000, null`)
    const paused = await insert('PAUSED', `'2026-01-01T12:00:00Z', '2026-01-01T12:10:00Z', 60000, null`)
    const done = await insert('COMPLETED', `'2026-01-01T12:00:00Z', null, 0, '2026-01-01T13:00:00Z'`)
    await orm.migrator.up()

    const { rows } = await client.query(
      `select id, plan_id, client_rate_cents_per_minute as rate, operator_share_percent as share,
         active_since, active_ms::int, client_charge_cents as charge from sessions`,
    )
    const terms = { plan_id: 'standard', rate: 50, share: 70, charge: null }
    expect(rows).toHaveLength(3)
    expect(rows).toContainEqual({
      id: active,
      ...terms,
      active_since: new Date('2026-01-01T12:01:30Z'),
      active_ms: 0,
    })
    expect(rows).toContainEqual({ id: paused, ...terms, active_since: null, active_ms: 9 * 60_000 })
    expect(rows).toContainEqual({
      id: done,
      plan_id: null,
      rate: null,
      share: null,
      charge: null,
      active_since: null,
      active_ms: 0,
    })
  } finally {
    await orm.close(true)
    await database.drop()
  }
})

test('a session of the first schema version starts, stops, ends and is counted after all migrations', async () => {
  const database = await createEmptyDatabase()
  const orm = await connectOrm({ url: database.url, poolSize: 2, applicationName: 'migration-test' })
  try {
    await orm.migrator.up({ to: '0001_foundation' })
    await using client = await connectTo(database.url)
    const insert = async (status: string, columns: Record<string, unknown>) => {
      const [id, user] = [randomUUID(), randomUUID()]
      const open = status === 'ACTIVE' || status === 'PAUSED'
      await client.query('begin')
      await client.query(
        `insert into users (id, issuer, subject, display_name, is_client, is_operator)
         values ($1, 'test', $1::uuid::text, 'Test', true, true)`,
        [user],
      )
      await client.query(
        `insert into robots (id, owner_id, name, robot_type, hardware_id, status)
         values ($1, $2, 'Robot', 'testbot', $1::uuid::text, $3)`,
        [id, user, open ? 'IN_SESSION' : 'AVAILABLE'],
      )
      await client.query('insert into robot_presence (robot_id, connected) values ($1, true)', [id])
      const row = { id, robot_id: id, operator_id: user, client_id: user, status, event_seq: 1, ...columns }
      await client.query(`insert into sessions select * from json_populate_record(null::sessions, $1)`, [
        JSON.stringify({
          paused_ms: 0,
          episodes_collected: 0,
          data_collected_bytes: 0,
          created_at: at(0),
          ...row,
        }),
      ])
      await client.query(
        `insert into session_events (session_id, seq, type, data) values ($1, 1, 'session.started', '{}')`,
        [id],
      )
      await client.query('commit')
      const caller = { userId: user, roles: ['client', 'operator'] } as const
      return { id, caller: caller as unknown as Caller }
    }
    const at = (minutes: number) =>
      new Date(Date.parse('2026-01-01T12:00:00Z') + minutes * 60_000).toISOString()
    const pending = await insert('PENDING', { scheduled_for: at(100) })
    const active = await insert('ACTIVE', { started_at: at(0), paused_ms: 90_000 })
    const stopped = await insert('ACTIVE', { started_at: at(0) })
    const paused = await insert('PAUSED', { started_at: at(0), paused_at: at(10), pause_reason: 'lunch' })
    const lost = await insert('PAUSED', {
      started_at: at(0),
      paused_at: at(3),
      pause_reason: 'robot_lost',
      robot_lost_at: at(3),
    })
    const done = await insert('COMPLETED', {
      started_at: at(0),
      ended_at: at(60),
      rating: 5,
      episodes_collected: 7,
      data_collected_bytes: 1e6,
    })
    await insert('CANCELLED', { scheduled_for: at(5), ended_at: at(4), episodes_collected: 0 })
    await orm.migrator.up()

    const totals = async () =>
      (
        await client.query(
          `select sum(completed)::int as completed, sum(teleop_ms)::int as ms, sum(episodes)::int as episodes
           from session_totals`,
        )
      ).rows[0]
    expect(await totals()).toEqual({ completed: 1, ms: 60 * 60_000, episodes: 7 })

    const db = queries(orm.em)
    const now = () => new Date(at(20))
    const transact = testTransactor(orm)
    const starts = createSessionStarts({ db, transact, now })
    const settle = createSettle({ earningsHoldMs: 0 })
    const lifecycle = createSessionLifecycle({
      db,
      transact,
      now,
      starts,
      settle,
      queries: createSessionQueries({ db }),
    })
    const charged = async (
      { id, caller }: typeof active,
      ...actions: Parameters<typeof lifecycle.performAction>[2][]
    ) => {
      for (const action of actions) await lifecycle.performAction(caller, id, action)
      return (await lifecycle.performAction(caller, id, 'end')).client_charge_cents
    }
    expect(await charged(active)).toBe(19 * 50) // 20 minutes without 90 s of pauses
    expect(await charged(stopped, 'emergency_stop', 'clear_stop')).toBe(20 * 50)
    expect(await charged(paused, 'resume')).toBe(10 * 50)
    expect(await charged(lost)).toBe(3 * 50)
    expect(await charged(pending, 'start')).toBe(0)
    await expect(lifecycle.performAction(done.caller, done.id, 'end')).rejects.toMatchObject({ status: 409 })
    expect(await totals()).toEqual({ completed: 6, ms: (60 + 4 * 20) * 60_000, episodes: 7 })
    const { rows } = await client.query(
      `select from sessions s join session_events e on e.session_id = s.id group by s.id
       having count(*) <> s.event_seq or max(e.seq) <> s.event_seq`,
    )
    expect(rows).toEqual([])
  } finally {
    await orm.close(true)
    await database.drop()
  }
})

test('the migration of money records writes the current names into existing rows and keeps earnings available', async () => {
  const database = await createEmptyDatabase()
  const orm = await connectOrm({ url: database.url, poolSize: 1, applicationName: 'migration-test' })
  try {
    await orm.migrator.up({ to: '0018_outbound_events' })
    await using client = await connectTo(database.url)
    const [owner, operator, robot] = [randomUUID(), randomUUID(), randomUUID()]
    for (const [id, name] of [
      [owner, 'Owner'],
      [operator, 'Operator'],
    ]) {
      await client.query(
        `insert into users (id, issuer, subject, display_name) values ($1, 'test', $1::uuid::text, $2)`,
        [id, name],
      )
    }
    await client.query(
      `insert into robots (id, owner_id, name, robot_type, hardware_id) values ($1, $2, 'Robot', 'testbot', 'h')`,
      [robot, owner],
    )
    const insert = async (status: string, operatorId: string, rating: number | null) => {
      const id = randomUUID()
      const cents = status === 'COMPLETED' ? [100, 70] : [null, null]
      await client.query(
        `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, scheduled_for,
           planned_minutes, client_charge_cents, operator_earnings_cents, rating)
         values ($1, $2, $3, $4, $5, now(), now(), now(), 60, $6, $7, $8)`,
        [id, robot, operatorId, owner, status, ...cents, rating],
      )
      return id
    }
    const done = await insert('COMPLETED', operator, 5)
    const own = await insert('COMPLETED', owner, 5)
    const cancelled = await insert('CANCELLED', operator, null)
    const pending = await insert('PENDING', operator, null)
    const posting = randomUUID()
    await client.query(
      `insert into ledger_entries (posting_id, account, user_id, amount_cents, kind) values
       ($1, 'operator_payable', $2, -70, 'session_charge'), ($1, 'platform_revenue', null, 70, 'session_charge')`,
      [posting, operator],
    )
    await client.query(
      `insert into invoices (id, client_id, month, status, currency, total_cents, session_count, minutes, issued_at)
       values (gen_random_uuid(), $1, '2026-01', 'OPEN', 'EUR', 100, 1, 2, now())`,
      [owner],
    )
    await orm.migrator.up()

    const { rows } = await client.query(
      `select id, rating, earnings_held_until as held, recorded_robot_name as robot, recorded_robot_type as type,
         recorded_operator_name as operator, recorded_client_name as client from sessions`,
    )
    const names = { robot: 'Robot', type: 'testbot', operator: 'Operator', client: 'Owner' }
    const none = { robot: null, type: null, operator: null, client: null }
    expect(rows).toHaveLength(4)
    expect(rows).toContainEqual({ id: done, rating: 5, held: null, ...names })
    expect(rows).toContainEqual({ id: own, rating: null, held: null, ...names, operator: 'Owner' })
    expect(rows).toContainEqual({ id: cancelled, rating: null, held: null, ...names })
    expect(rows).toContainEqual({ id: pending, rating: null, held: null, ...none })
    const invoices = await client.query('select billing_name from invoices')
    expect(invoices.rows).toEqual([{ billing_name: 'Owner' }])
    const payable = await client.query(
      `select -sum(amount_cents)::int as cents from ledger_entries where account = 'operator_payable'`,
    )
    expect(payable.rows).toEqual([{ cents: 70 }])
    // An existing session on the operator's own robot can still be invoiced.
    await client.query(`insert into invoices (id, client_id, month, status, currency, total_cents, session_count, minutes)
      values (gen_random_uuid(), '${owner}', '2026-02', 'DRAFT', 'EUR', 0, 0, 0)`)
    await client.query(
      `update sessions set invoice_id = (select id from invoices where status = 'DRAFT') where id = $1`,
      [own],
    )
  } finally {
    await orm.close(true)
    await database.drop()
  }
})
