import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { createInvoicing, type InvoicedClient, type Invoicing } from '../../support/stripe/invoice-fixture.ts'
import { HOUR_MS, MINUTE_MS } from '../../support/world/billing.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'

let invoicing: Invoicing
beforeAll(async () => {
  invoicing = await createInvoicing()
})
afterAll(() => invoicing[Symbol.asyncDispose]())

/** Renames the robot and the users on an invoice, and removes the robot. */
async function renameAll({ owner, operator, users }: InvoicedClient) {
  const robotPath = `/api/client/robots/${users.robotId}`
  const changes = [
    await owner.patch(robotPath, { name: 'Renamed robot' }),
    await owner.post('/api/auth/profile', { display_name: 'Renamed owner' }),
    await owner.patch('/api/client/profile', { company_name: 'Renamed Ltd', vat_id: 'GB999', country: 'GB' }),
    await operator.post('/api/auth/profile', { display_name: 'Renamed operator' }),
  ]
  expect(changes.map(({ status, body }) => [status, body.error])).toEqual(changes.map(() => [200, undefined]))
}

/** Exports the sessions of a user that were created before a time. */
async function exportedBy(user: TestUser, format: string, to: string): Promise<string> {
  const response = await fetch(`${invoicing.world.baseUrl}/api/sessions/export`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${user.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ format, to }),
  })
  return await response.text()
}

test('renaming a robot or a user changes no completed record: invoices, collection, lists, exports', async () => {
  await using client = await invoicing.nextClient()
  const { owner, operator, users } = client
  const firstOnly = new Date(invoicing.now().getTime() + MINUTE_MS).toISOString()
  await owner.patch('/api/client/profile', { company_name: 'First Ltd', vat_id: 'DE111', country: 'DE' })
  const robotPath = `/api/client/robots/${users.robotId}`
  await owner.patch(robotPath, { name: 'First robot' })
  await operator.post('/api/auth/profile', { display_name: 'First operator' })
  const over = await client.drive(3)
  const open = await start(operator, users.robotId)
  invoicing.later(HOUR_MS)
  await invoicing.closeMonth()
  const [{ id }] = await client.list()
  const read = async () => ({
    // The platform adds the payment link later.
    invoice: { ...(await owner.get(`/api/client/invoices/${id}`)).body, hosted_url: null },
    sessions: await Promise.all(
      [owner, operator].flatMap((user) => [
        user.get(`/api/sessions?to=${firstOnly}`).then(({ body }) => body.sessions),
        user.get(`/api/sessions/${over}`).then(({ body }) => ({ ...body, control: null })),
        exportedBy(user, 'csv', firstOnly),
        exportedBy(user, 'json', firstOnly),
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

  await renameAll(client)
  expect(await read()).toEqual(before)
  // Both participants see an open session with the current names.
  for (const user of [owner, operator]) {
    expect((await user.get(`/api/sessions/${open}`)).body).toMatchObject({
      robot_name: 'Renamed robot',
      operator_name: 'Renamed operator',
    })
  }
  await invoicing.run() // the first request to Stripe
  const { description } = client.stripeInvoice().lines[0] as { description: string }
  expect(description).toContain('First robot')
  expect(description).toContain('operated by First operator')
  expect(description).not.toContain('Renamed')

  await performAction(operator, open, 'end')
  const scheduledFor = new Date(invoicing.now().getTime() + HOUR_MS).toISOString()
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
  await using owned = await invoicing.nextClient()
  const charged = await owned.drive(3)
  await invoicing.closeMonth()
  const invoiced = (await owned.list())[0].id
  const later = await owned.drive(2) // not invoiced yet
  await using database = await connectTo(invoicing.world.database.url)
  const refusal = async (statement: string, id: string): Promise<string | undefined> => {
    try {
      await database.query(statement, [id])
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
