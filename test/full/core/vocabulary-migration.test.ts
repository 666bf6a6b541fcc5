import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { connectOrm } from '../../../src/app/database/orm.ts'
import { createEmptyDatabase } from '../../support/database/empty-database.ts'
import { connectTo } from '../../support/database/sql.ts'

test('a database of the previous version keeps its rows under the new names, and its triggers work', async () => {
  const database = await createEmptyDatabase()
  const orm = await connectOrm({ url: database.url, poolSize: 1, applicationName: 'migration-test' })
  try {
    await orm.migrator.up({ to: '0026_robot_hold' })
    await using client = await connectTo(database.url)
    const userId = randomUUID()
    await client.query(
      `insert into users (id, issuer, subject, display_name, rights_version) values ($1, 'test', 'a', 'Test', 6)`,
      [userId],
    )
    await client.query(
      `insert into provider_accounts (user_id, kind, provider_id, request, request_key) values ($1, 'customer', 'cus_1', '{}', $2)`,
      [userId, randomUUID()],
    )
    const { rows: events } = await client.query(
      `insert into outbound_facts (name, payload, created_at) values ('robot.status', '{}', now()) returning *`,
    )

    await orm.migrator.up()

    const read = async (sql: string) => (await client.query(sql)).rows
    expect(await read('select permissions_version from users')).toEqual([{ permissions_version: 6 }])
    expect(await read('select stripe_id from stripe_accounts')).toEqual([{ stripe_id: 'cus_1' }])
    expect(await read('select * from outbound_events')).toEqual(events)

    await client.query('update users set is_operator = true')
    expect(
      await read('select permissions_version, permissions_changed_at is not null as at from users'),
    ).toEqual([{ permissions_version: 7, at: true }])
    await client.query(
      `insert into certifications (id, operator_id, robot_type, status) values ($1, $2, 'rover', 'APPROVED')`,
      [randomUUID(), userId],
    )
    expect(await read('select permissions_version from users')).toEqual([{ permissions_version: 8 }])
    // The sequence of a renamed table continues.
    await client.query(
      `insert into outbound_events (name, payload, created_at) values ('robot.status', '{}', now())`,
    )
    const leftovers = await read(
      `select relname from pg_class where relnamespace = 'public'::regnamespace
         and relname ~ '(outbound_facts|provider_(accounts|events|objects|id)|rights|stop_presses)'
       union select proname from pg_proc where proname ~ 'rights'
       union select tgname from pg_trigger where tgname ~ 'rights'
       union select conname from pg_constraint where conname ~ '(outbound_facts|provider_(accounts|events|objects))'`,
    )
    expect(leftovers).toEqual([])
  } finally {
    await orm.close(true)
    await database.drop()
  }
})
