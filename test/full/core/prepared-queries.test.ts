import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openSessionFixture, performAction, start } from '../../support/world/session-fixtures.ts'
import { createWorld } from '../../support/world/world.ts'

test('a migration that adds columns breaks no query that the connections of a running process have prepared', async () => {
  await using world = await createWorld()
  const { client, operator, path } = await openSessionFixture(world)
  // One query per connection of the pool, so that concurrent queries use every connection.
  const fixtures = await Promise.all(Array.from({ length: 10 }, () => openSessionFixture(world)))
  let open = fixtures.map(({ id }) => id)
  const endAndStart = async () => {
    await Promise.all(
      fixtures.map((fixture, index) => performAction(fixture.operator, open[index] as string, 'end')),
    )
    open = await Promise.all(fixtures.map((fixture) => start(fixture.operator, fixture.robot.id)))
  }
  const use = async () => {
    expect((await client.get('/api/sessions')).status).toBe(200)
    expect((await operator.get('/api/sessions?status=ACTIVE')).status).toBe(200)
    expect((await client.get('/api/client/robots')).status).toBe(200)
    expect((await client.post(`${path}/messages`, { body: 'hello' })).status).toBe(201)
  }
  // Repeatedly, so that every connection of the pool has prepared them all.
  for (let turn = 0; turn < 10; turn++) await Promise.all(Array.from({ length: 10 }, use))
  for (let turn = 0; turn < 5; turn++) await endAndStart()

  for (const table of ['sessions', 'robots', 'robot_presence', 'messages', 'users', 'api_keys']) {
    await sql`alter table ${sql.table(table)} add column from_the_future int`.execute(world.platform.core.db)
  }

  for (let turn = 0; turn < 3; turn++) await Promise.all(Array.from({ length: 10 }, use))
  for (let turn = 0; turn < 3; turn++) await endAndStart()
})

test('the queries of frequent requests are prepared once per connection', async () => {
  await using world = await createWorld()
  const { client } = await openSessionFixture(world)
  for (let turn = 0; turn < 5; turn++) await client.get('/api/sessions')
  // At the same time, so that every connection of the pool answers for itself.
  const answers = await Promise.all(
    Array.from({ length: 12 }, () =>
      sql<{ pid: number; statements: string[] }>`
        select pg_backend_pid() as pid, array(select statement from pg_prepared_statements) as statements
        from pg_sleep(0.1)`.execute(world.platform.core.db),
    ),
  )
  const connections = new Map(answers.flatMap(({ rows }) => rows.map((row) => [row.pid, row.statements])))
  const lists = [...connections.values()].map(
    (statements) =>
      statements.filter((text) => text.includes('order by "sessions"."created_at" desc')).length,
  )
  expect(Math.max(...lists)).toBe(1)
})
