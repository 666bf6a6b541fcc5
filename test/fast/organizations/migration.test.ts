import { Client } from 'pg'
import { expect, test } from 'vitest'
import { migrations } from '../../../src/app/database/migrations/index.ts'
import { connectOrm } from '../../../src/app/database/orm.ts'
import { createEmptyDatabase } from '../../support/database/empty-database.ts'

const CLIENTS = 1_000

/** Clients with robots, sessions, invoices and what else belongs to them, as the schema before organizations had it. */
const fill = `
  insert into users (id, issuer, subject, display_name, email, is_client, is_operator, plan_id, created_at)
    select md5('user' || n)::uuid, 'test', n::text, 'Client ' || n, n || '@test.local', n % 10 <> 0, n % 3 = 0,
      case when n % 7 = 0 then 'fleet' end, now() - n * interval '1 hour' from generate_series(1, ${CLIENTS}) n;
  insert into client_profiles (user_id, company_name, contact_email)
    select id, 'Company ' || subject, email from users where is_client;
  insert into api_keys (id, user_id, name, hash, prefix, last4) select gen_random_uuid(), id, 'key', subject, 'p', '1234' from users;
  insert into robots (id, owner_id, name, robot_type, hardware_id)
    select md5('robot' || subject)::uuid, id, 'Robot ' || subject, 'arm', subject from users where is_client;
  insert into robot_presence (robot_id) select id from robots;
  insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, created_at, event_seq, plan_id,
      client_rate_cents_per_minute, operator_share_percent, billable_minutes, client_charge_cents, operator_earnings_cents, end_reason)
    select md5('session' || n)::uuid, robots.id, md5('user' || (n % ${CLIENTS} + 1))::uuid, robots.owner_id, 'COMPLETED',
      now() - n * interval '1 hour', now() - n * interval '1 hour' + interval '10 minutes', now() - n * interval '1 hour', 2, 'standard',
      50, 70, 10, 500, 0, 'ended'
    from robots join generate_series(1, ${CLIENTS}) n on robots.hardware_id = n::text;
  insert into invoices (id, client_id, month, status, currency, total_cents, session_count, minutes, issued_at)
    select md5('invoice' || subject)::uuid, id, '2026-10', 'OPEN', 'EUR', 500, 1, 10, now() from users where is_client;
  insert into webhooks (id, user_id, url, types, secret)
    select gen_random_uuid(), id, 'https://example.com', '{*}', 's' from users where is_client;
  insert into event_streams (user_id, head) select id, 3 from users where is_client;
  insert into datasets (id, robot_id, client_id) select gen_random_uuid(), id, owner_id from robots;
  insert into ledger_entries (posting_id, account, user_id, amount_cents, kind)
    select id, account, case when account = 'client_receivable' then id end, cents, 'adjustment' from users
    cross join (values ('client_receivable', 500), ('platform_revenue', -500)) lines (account, cents);
`

test(`a database with ${CLIENTS} clients keeps every value of every row`, async () => {
  const database = await createEmptyDatabase()
  const orm = await connectOrm({ url: database.url, poolSize: 2, applicationName: 'migration-test' })
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const textOf = async (query: string) =>
    (await client.query<{ text: string }>(query)).rows.map(({ text }) => text)
  /** The columns from before, by table. A column that has another name has its old one here. */
  const renamed: Readonly<Record<string, string>> = { 'client_profiles.user_id': 'organization_id' }
  const rowsOf = async (columns: readonly (readonly [string, readonly string[]])[], isAfter: boolean) => {
    const rows: Record<string, string[]> = {}
    for (const [table, names] of columns) {
      const parts = names.map((name) => `'${name}', ${(isAfter && renamed[`${table}.${name}`]) || name}`)
      // A function takes at most 100 arguments.
      const objects = Array.from(
        { length: Math.ceil(parts.length / 40) },
        (_, index) => `jsonb_build_object(${parts.slice(index * 40, index * 40 + 40).join(', ')})`,
      )
      rows[table] = await textOf(`select (${objects.join(' || ')})::text as text from ${table} order by 1`)
    }
    return rows
  }
  try {
    await orm.migrator.up({ to: migrations[1]!.name })
    await client.query(fill)
    const { rows } = await client.query<{ table_name: string; names: string[] }>(`
      select c.table_name, array_agg(c.column_name::text order by c.ordinal_position) as names
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name <> 'migrations'
        -- The plan of a client is in the organization now.
        and (c.table_name, c.column_name) <> ('users', 'plan_id')
      group by c.table_name`)
    const columns = rows.map(({ table_name, names }) => [table_name, names] as const)
    const before = await rowsOf(columns, false)
    const plans = await textOf(`select id || coalesce(plan_id, '-') as text from users order by 1`)
    expect(before.users).toHaveLength(CLIENTS)
    expect(before.sessions?.length).toBeGreaterThan(CLIENTS / 2)

    await orm.migrator.up()
    expect(await rowsOf(columns, true)).toEqual(before)
    expect(await textOf(`select id || coalesce(plan_id, '-') as text from organizations order by 1`)).toEqual(
      plans,
    )
    const personal = await textOf(`
      select u.id::text as text from users u
        join organizations o on o.id = u.id and o.kind = 'personal' and o.name = u.display_name
        join organization_members m on m.organization_id = u.id and m.user_id = u.id and m.role = 'owner' and m.group_ids is null
        join api_keys k on k.user_id = u.id and k.organization_id = u.id and k.scopes is null`)
    expect(personal).toHaveLength(CLIENTS)
    expect(await textOf(`select id::text as text from sessions where own_operator`)).toEqual([])
    expect(
      await textOf(`select id::text as text from robots where group_id is not null or operators <> 'both'`),
    ).toEqual([])
  } finally {
    await client.end()
    await orm.close(true)
    await database.drop()
  }
})
