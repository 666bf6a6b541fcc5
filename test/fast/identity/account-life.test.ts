import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DATA_EXPORTS } from '../../../src/modules/identity/account/data-export.service.ts'
import { personalData } from '../../../src/modules/identity/account/personal-data.ts'
import { DELETED_NAME, DELETED_TEXT } from '../../../src/modules/identity/account/personal-data-columns.ts'
import { personalDataTable } from '../../../src/modules/identity/account/personal-data-table.ts'
import { connectTo } from '../../support/database/sql.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let database: Awaited<ReturnType<typeof connectTo>>
beforeAll(async () => {
  world = await createWorld()
  database = await connectTo(world.database.url)
})
afterAll(async () => {
  await database?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

const rowsOf = async (text: string, ...values: unknown[]) => (await database.query(text, values)).rows
const tokenOf = (email: string) => world.platform.identity.builtIn!.issueDevToken({ email, name: 'Again' })
const remove = (user: TestUser, confirm: string) => user.request('DELETE', '/api/auth/account', { confirm })
const codeOf = async (user: TestUser, confirm: string) => {
  const reply = await remove(user, confirm)
  return [reply.status, reply.headers.get('Wheelhouse-Error')]
}
const emailOf = async (user: TestUser) => (await user.get('/api/auth/profile')).body.email as string
const rename = (user: TestUser, display_name: string) => user.post('/api/auth/profile', { display_name })

/** Returns the tables that contain one of these texts anywhere, in any column. */
async function tablesWith(...texts: string[]): Promise<string[]> {
  const tables = await rowsOf(
    `select table_schema || '.' || table_name as name from information_schema.tables
     where table_schema in ('public', 'pgboss') and table_type = 'BASE TABLE' order by 1`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const [row] = await rowsOf(
      `select exists (select from ${name} as row where row::text ilike any($1)) as found`,
      texts.map((text) => `%${text}%`),
    )
    if (row.found) found.push(name)
  }
  return found
}

/** Exports the data of a person, and returns the file. */
async function exportOf(user: TestUser) {
  const made = await user.post('/api/auth/data-export')
  expect(made.status, JSON.stringify(made.body)).toBe(202)
  await world.runJobs(DATA_EXPORTS)
  await waitFor(async () =>
    expect((await user.get(`/api/auth/data-exports/${made.body.id}`)).body.status).toBe('READY'),
  )
  const file = await user.get(`/api/auth/data-exports/${made.body.id}/download`)
  expect(file.status).toBe(200)
  return { id: made.body.id as string, file: file.body, text: JSON.stringify(file.body) }
}

const slug = (name: string) => name.toLowerCase().replace(' ', '-')
const phoneOf = (name: string) => `+44 20 5550 ${1_000 + name.length}`

/** Adds a session of a person with everything that is stored about both. */
async function drivenSession(names: { client: string; operator: string }): Promise<SessionFixture> {
  const fixture = await openSessionFixture(world, { readEvents: true })
  await rename(fixture.client, names.client)
  await rename(fixture.operator, names.operator)
  for (const user of [fixture.client, fixture.operator])
    expect((await user.post(`${fixture.path}/messages`, { body: `from ${user.id}` })).status).toBe(201)
  await fixture.client.patch('/api/client/profile', {
    company_name: `${names.client} Limited`,
    contact_email: `${slug(names.client)}@office.example`,
    phone: phoneOf(names.client),
    country: 'GB',
  })
  await fixture.operator.post('/api/operator/profile', {
    headline: `${names.operator} drives anything`,
    country: 'US',
    timezone: 'America/New_York',
  })
  await fixture.performAction(fixture.operator, 'end')
  await fixture.client.post(`${fixture.path}/rate`, { rating: 5, comment: 'Steady hands' })
  await world.drained()
  return fixture
}

/** Pays what a session costs: the invoice of the client, and the earnings of the operator. */
async function settle({ id, client, operator }: SessionFixture): Promise<void> {
  const [invoice] = await rowsOf(
    `insert into invoices (id, client_id, month, status, currency, total_cents, session_count, minutes)
     values (gen_random_uuid(), $1, '2026-10', 'DRAFT', 'EUR', 50, 1, 1) returning id`,
    client.id,
  )
  await rowsOf('update sessions set invoice_id = $1 where id = $2', invoice.id, id)
  await rowsOf(`update invoices set status = 'OPEN', issued_at = now() where id = $1`, invoice.id)
  await rowsOf(`update invoices set status = 'PAID', paid_at = now() where id = $1`, invoice.id)
  for (const user of [client, operator])
    await rowsOf(
      `with balances as (
         select account, sum(amount_cents) as cents from ledger_entries where user_id = $1
         group by account having sum(amount_cents) <> 0
       ), posting as (select gen_random_uuid() as id)
       insert into ledger_entries (posting_id, account, user_id, amount_cents, kind)
       select posting.id, account, $1::uuid, -cents, 'adjustment' from balances, posting
       union all
       select posting.id, 'provider_cash', null, sum(cents), 'adjustment' from balances, posting group by posting.id
       having sum(cents) <> 0`,
      user.id,
    )
}

test('every table that refers to people or organizations is in the table of personal data', async () => {
  /** They refer to robots, to sessions or to what an admin decided, and name nobody. */
  const others = [
    ...['sessions', 'episodes', 'running_episodes', 'data_grants', 'users', 'pricing_plans'],
    ...['organization_domains', 'organization_sign_ins', 'role_mappings', 'scim_groups', 'scim_tokens'],
  ]
  const references = await rowsOf(
    `select distinct conrelid::regclass::text as name from pg_constraint
     where contype = 'f' and confrelid in ('users'::regclass, 'organizations'::regclass)`,
  )
  const known = new Set<string>([...personalData.map(({ table }) => table), ...others])
  expect(references.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([])
  expect(readFileSync('docs/data.md', 'utf8')).toContain(personalDataTable())
})

test('an export has everything of its person and nothing of others', async () => {
  const { client, operator } = await drivenSession({ client: 'Ada Lovelace', operator: 'Grace Hopper' })
  await client.key()
  const [mine, other] = [await exportOf(client), await exportOf(operator)]
  const { parts } = mine.file
  const exported = personalData.filter((data) => typeof data.exported !== 'string')
  expect(Object.keys(parts)).toEqual(exported.map(({ part }) => part))
  expect(parts.profile).toMatchObject([{ id: client.id, display_name: 'Ada Lovelace' }])
  expect(parts.client_profile).toMatchObject([{ company_name: 'Ada Lovelace Limited' }])
  expect(parts.sessions_of_robots).toMatchObject([{ rating: 5, rating_comment: 'Steady hands' }])
  expect(parts.messages).toMatchObject([{ body: `from ${client.id}` }])
  for (const part of ['robots', 'memberships', 'api_keys', 'notifications', 'ledger'])
    expect(parts[part], part).not.toEqual([])
  expect(mine.text).not.toMatch(/Grace Hopper|"hash"|svc_live_\w{10}/)
  expect(mine.text).not.toContain(`from ${operator.id}`)
  expect(mine.text).not.toContain(await emailOf(operator))

  expect(other.file.parts.sessions_operated).toMatchObject([{ recorded_operator_name: 'Grace Hopper' }])
  expect(other.file.parts.operator_profile).toMatchObject([{ headline: 'Grace Hopper drives anything' }])
  expect(other.text).not.toMatch(/Ada Lovelace|office|5550/)
  expect(other.text).not.toContain(`from ${client.id}`)

  for (const tail of ['', '/download'])
    expect((await operator.get(`/api/auth/data-exports/${mine.id}${tail}`)).status).toBe(404)
  const { key } = await client.key()
  expect((await client.request('POST', '/api/auth/data-export', {}, key)).status).toBe(403)
})

test('an export is written in chunks, and is one JSON file', async () => {
  const user = await world.newUser()
  await rowsOf(
    `insert into notifications (user_id, seq, type, data)
     select $1, n, 'account.restored', jsonb_build_object('text', repeat('x', 1000)) from generate_series(1, 1500) n`,
    user.id,
  )
  const { id, file } = await exportOf(user)
  expect(file.parts.notifications.map(({ seq }: { seq: number }) => seq)).toEqual(
    Array.from({ length: 1_500 }, (_, index) => index + 1),
  )
  const [row] = await rowsOf('select chunks, rows from data_exports where id = $1', id)
  expect(row.chunks).toBeGreaterThan(1)
  expect((await user.get('/api/auth/data-exports')).body.exports).toMatchObject([{ id, status: 'READY' }])
})

test('an account with something to settle is not deleted', async () => {
  const { client, operator, id, robotId, performAction, link } = await openSessionFixture(world)
  expect((await remove(client, 'someone else')).status).toBe(400)
  const [names, operatorName] = [client.name.toUpperCase(), operator.name]
  expect(await codeOf(client, names)).toEqual([409, 'account_has_sessions'])
  expect(await codeOf(operator, operatorName)).toEqual([409, 'account_has_sessions'])
  await performAction(operator, 'end')
  link.close()
  expect(await codeOf(client, names)).toEqual([409, 'account_has_robots'])
  await waitFor(async () => expect((await client.delete(`/api/client/robots/${robotId}`)).status).toBe(204))
  await rowsOf(
    `with made as (insert into organizations (id, name) values (gen_random_uuid(), 'Team') returning id)
     insert into organization_members (organization_id, user_id, role) select id, $1, 'owner' from made`,
    client.id,
  )
  expect(await codeOf(client, names)).toEqual([409, 'account_is_last_owner'])
  const other = await world.newUser()
  await rowsOf(
    `insert into organization_members (organization_id, user_id, role)
     select organization_id, $2, 'owner' from organization_members where user_id = $1 and organization_id <> $1`,
    client.id,
    other.id,
  )
  const [{ client_charge_cents: cents }] = await rowsOf(
    'select client_charge_cents from sessions where id = $1',
    id,
  )
  expect(cents).toBeGreaterThan(0)
  expect(await codeOf(client, names)).toEqual([409, 'account_has_invoices'])
  expect(await codeOf(operator, operatorName)).toEqual([409, 'account_has_balance'])
  const { key } = await client.key()
  expect((await client.request('DELETE', '/api/auth/account', { confirm: names }, key)).status).toBe(403)
})

test('after the deletion nothing personal is left, and no credential works', async () => {
  const fixture = await drivenSession({ client: 'Mary Somerville', operator: 'Hedy Lamarr' })
  const { client, operator, link, robotId } = fixture
  await settle(fixture)
  link.close()
  await waitFor(async () => expect((await client.delete(`/api/client/robots/${robotId}`)).status).toBe(204))
  const [mail, other] = [await emailOf(client), await emailOf(operator)]
  await rowsOf(
    `insert into contact_messages (id, name, email, category, subject, message)
     values (gen_random_uuid(), 'Mary Somerville', $1, 'Other', 'x', 'x')`,
    mail.toUpperCase(),
  )
  await exportOf(client)
  await client.post('/api/client/robots', { name: '' }) // an invalid request stores nothing
  const money = () =>
    rowsOf(`select md5(string_agg(row::text, ',' order by row::text)) as sum from (
      select ledger_entries::text as row from ledger_entries union all select invoices::text from invoices) rows`)
  const before = await money()
  const sockets = [await client.hub(), await operator.hub()]
  const keys = [(await client.key()).key, (await operator.key()).key]

  expect(await codeOf(client, mail)).toEqual([204, null])
  expect(await codeOf(operator, 'hedy lamarr')).toEqual([204, null])

  for (const socket of sockets) await waitFor(() => expect(socket.socket.connected).toBe(false))
  for (const key of keys)
    expect((await client.request('GET', '/api/auth/profile', undefined, key)).status).toBe(401)
  expect((await client.get('/api/auth/profile')).status).toBe(401)
  await world.drained()
  const personal = [
    'Mary Somerville',
    'mary-somerville@office',
    phoneOf('Mary Somerville'),
    mail,
    'Hedy Lamarr',
    other,
  ]
  // An issued invoice keeps the name that it was issued to.
  expect(await tablesWith(...personal)).toEqual(['public.invoices'])
  expect(await money()).toEqual(before)
  expect(
    await rowsOf('select posting_id from ledger_entries group by posting_id having sum(amount_cents) <> 0'),
  ).toEqual([])
  expect(
    await rowsOf(
      'select recorded_operator_name, recorded_client_name from sessions where id = $1',
      fixture.id,
    ),
  ).toEqual([{ recorded_operator_name: DELETED_NAME, recorded_client_name: DELETED_NAME }])
  expect(
    await rowsOf('select distinct body, sender_name from messages where session_id = $1', fixture.id),
  ).toEqual([{ body: DELETED_TEXT, sender_name: DELETED_NAME }])
  expect(
    await rowsOf(
      `select action from audit_log where actor_id = $1 and action = 'account.deleted'`,
      client.id,
    ),
  ).toHaveLength(1)

  // The same sign-in makes a new, empty account.
  const again = await waitFor(async () => {
    const reply = await client.request('GET', '/api/auth/profile', undefined, await tokenOf(mail))
    expect(reply.status).toBe(200)
    return reply.body
  })
  expect(again).toMatchObject({ email: mail, roles: [], onboarded: false })
  expect(again.id).not.toBe(client.id)
})

test('no one but the deletion changes the names of a session, and no robot goes to a deleted account', async () => {
  const fixture = await drivenSession({ client: 'Emmy', operator: 'Sofia' })
  const change = rowsOf(
    'update sessions set recorded_operator_name = $2 where id = $1',
    fixture.id,
    DELETED_NAME,
  )
  await expect(change).rejects.toMatchObject({ constraint: 'sessions_names_fixed' })
  const gone = await world.newUser()
  expect((await remove(gone, gone.name)).status).toBe(204)
  const transfer = rowsOf('update robots set owner_id = $1 where id = $2', gone.id, fixture.robotId)
  await expect(transfer).rejects.toMatchObject({ constraint: 'robots_owner_not_deleted' })
  const admin = await world.admin()
  expect((await admin.post(`/api/admin/users/${gone.id}/restore`)).status).toBe(409)
})

test('the cookie of the session ends with the account', async () => {
  const user = await world.newUser()
  const reply = await fetch(`${world.baseUrl}/api/auth/account`, {
    method: 'DELETE',
    headers: {
      Cookie: `__session=${user.token}`,
      Origin: world.baseUrl,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ confirm: user.name }),
  })
  expect(reply.status).toBe(204)
  expect(reply.headers.getSetCookie().join('\n')).toMatch(/__session=; Path=\/; Max-Age=0/)
})
