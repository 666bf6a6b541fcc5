import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { connectOrm } from '../../../src/app/database/orm.ts'
import { createEmptyDatabase } from '../../support/database/empty-database.ts'
import { connectTo } from '../../support/database/sql.ts'
import { createInvoiceFixture, type InvoiceFixture } from '../../support/stripe/invoice-fixture.ts'
import { HOUR_MS } from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'

/** A time before the test creates the second session. */
const FIRST_ONLY = '2026-01-15T12:01:00Z'

/** Renames the robot and the users on an invoice, and removes the robot. */
async function renameAll({ owner, operator, users }: InvoiceFixture) {
  const robotPath = `/api/client/robots/${users.robotId}`
  const changes = [
    await owner.patch(robotPath, { name: 'Renamed robot' }),
    await owner.post('/api/auth/profile', { display_name: 'Renamed owner' }),
    await owner.patch('/api/client/profile', { company_name: 'Renamed Ltd', vat_id: 'GB999', country: 'GB' }),
    await operator.post('/api/auth/profile', { display_name: 'Renamed operator' }),
  ]
  expect(changes.map(({ status, body }) => [status, body.error])).toEqual(changes.map(() => [200, undefined]))
}

async function exportedBy({ baseUrl }: { baseUrl: string }, user: TestUser, format: string): Promise<string> {
  const response = await fetch(`${baseUrl}/api/sessions/export`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${user.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ format, to: FIRST_ONLY }),
  })
  return await response.text()
}

test('renaming a robot or a user changes no completed record: invoices, collection, lists, exports', async () => {
  await using fixture = await createInvoiceFixture()
  const { owner, operator, world, users } = fixture
  await owner.patch('/api/client/profile', { company_name: 'First Ltd', vat_id: 'DE111', country: 'DE' })
  const robotPath = `/api/client/robots/${users.robotId}`
  await owner.patch(robotPath, { name: 'First robot' })
  await operator.post('/api/auth/profile', { display_name: 'First operator' })
  const over = await fixture.drive(3)
  const open = await start(operator, users.robotId)
  fixture.later(HOUR_MS)
  await fixture.closeMonth()
  const [{ id }] = await fixture.list()
  const read = async () => ({
    // The platform adds the payment link later.
    invoice: { ...(await owner.get(`/api/client/invoices/${id}`)).body, hosted_url: null },
    sessions: await Promise.all(
      [owner, operator].flatMap((user) => [
        user.get(`/api/sessions?to=${FIRST_ONLY}`).then(({ body }) => body.sessions),
        user.get(`/api/sessions/${over}`).then(({ body }) => ({ ...body, control: null })),
        exportedBy(world, user, 'csv'),
        exportedBy(world, user, 'json'),
      ]),
    ),
  })
  const before = await read()
  expect(before.invoice).toMatchObject({
    billing_name: 'First Ltd',
    billing_country: 'DE',
    billing_vat_id: 'DE111',
    lines: [{ robot_name: 'First robot', robot_type: 'testbot', operator_name: 'First operator' }],
  })
  for (const shown of before.sessions) expect(JSON.stringify(shown)).toContain('First robot')

  await renameAll(fixture)
  expect(await read()).toEqual(before)
  // Both participants see an open session with the current names.
  for (const user of [owner, operator]) {
    expect((await user.get(`/api/sessions/${open}`)).body).toMatchObject({
      robot_name: 'Renamed robot',
      operator_name: 'Renamed operator',
    })
  }
  await fixture.run() // the first request to Stripe
  const { description } = fixture.stripeInvoice().lines[0] as { description: string }
  expect(description).toContain('First robot')
  expect(description).toContain('operated by First operator')
  expect(description).not.toContain('Renamed')

  await performAction(operator, open, 'end')
  const scheduledFor = new Date(fixture.now().getTime() + HOUR_MS).toISOString()
  const planned = (await operator.post('/api/sessions', { robotId: users.robotId, scheduledFor })).body
  expect((await owner.delete(robotPath)).status).toBe(204) // cancels the scheduled session
  expect(await read()).toEqual(before)
  expect((await owner.get(`/api/sessions/${planned.sessionId}`)).body).toMatchObject({
    status: 'CANCELLED',
    robot_name: 'Renamed robot',
    operator_name: 'Renamed operator',
  })
})

test('the database rejects changes to completed sessions, charges and issued invoices', async () => {
  await using fixture = await createInvoiceFixture()
  const charged = await fixture.drive(3)
  await fixture.closeMonth()
  const invoiced = (await fixture.list())[0].id
  const later = await fixture.drive(2) // not invoiced yet
  await using client = await connectTo(fixture.world.database.url)
  const refusal = async (statement: string, id: string): Promise<string | undefined> => {
    try {
      await client.query(statement, [id])
      return undefined
    } catch (cause) {
      return (cause as { constraint?: string }).constraint ?? String(cause)
    }
  }
  const session = (change: string, id = charged) => refusal(`update sessions set ${change} where id = $1`, id)
  const invoice = (change: string) => refusal(`update invoices set ${change} where id = $1`, invoiced)
  for (const name of ['robot_name', 'robot_type', 'operator_name', 'client_name']) {
    expect(await session(`recorded_${name} = 'Another'`), name).toBe('sessions_names_fixed')
    expect(await session(`recorded_${name} = null`, later), name).toBe('sessions_names_fixed')
  }
  for (const change of [
    "status = 'CANCELLED'",
    'operator_id = client_id',
    'client_id = operator_id',
    "started_at = started_at - interval '1 h'",
    "ended_at = ended_at + interval '1 h'",
    'active_ms = active_ms + 1',
    'outage_ms = outage_ms + 1',
    'paused_ms = 1',
    "plan_id = 'fleet'",
    'client_rate_cents_per_minute = 1',
    'operator_share_percent = 1',
    'billable_minutes = 1',
    'client_charge_cents = 1000',
    'operator_earnings_cents = 1',
    'client_charge_cents = null',
  ]) {
    expect(await session(change), change).toBe('sessions_charge_fixed')
  }
  expect(await session('invoice_id = null')).toBe('sessions_invoice_fixed')
  expect(await session(`invoice_id = '${invoiced}'`, later)).toBe('sessions_invoice_fixed')
  for (const change of [
    "status = 'DRAFT'",
    "month = '2027-01'",
    "currency = 'USD'",
    'total_cents = 1',
    'session_count = 9',
    'minutes = 1',
    'issued_at = now()',
    'created_at = now()',
    "billing_name = 'Another'",
    "billing_country = 'NO'",
    "billing_vat_id = 'NO1'",
    'client_id = gen_random_uuid()',
  ]) {
    expect(await invoice(change), change).toBe('invoices_issued_fixed')
  }
  expect(await refusal('delete from invoices where id = $1', invoiced)).toBe('invoices_issued_fixed')
  expect(await invoice("status = 'PAID', paid_at = now()")).toBeUndefined()
  expect(await invoice("status = 'OPEN'")).toBe('invoices_issued_fixed')
  expect(await invoice('paid_at = now()')).toBe('invoices_issued_fixed')
  // Columns outside the record remain writable.
  expect(await session('rating = 4, episodes_collected = 3')).toBeUndefined()
})

test('the migration records the current names in existing rows and keeps earnings available', async () => {
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
