import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openScene, start } from './support/cast.ts'
import { createWorld } from './support/world.ts'

test('a migration that adds columns under a running process breaks no query that its connections have prepared', async () => {
  await using world = await createWorld()
  const { client, operator, robot, id, act, path } = await openScene(world)
  const use = async () => {
    expect((await client.get('/api/sessions')).status).toBe(200)
    expect((await operator.get('/api/sessions?status=ACTIVE')).status).toBe(200)
    expect((await client.get('/api/client/robots')).status).toBe(200)
    expect((await client.post(`${path}/messages`, { body: 'hello' })).status).toBe(201)
  }
  // Over and over, so that every connection of the pool has prepared them all.
  for (let turn = 0; turn < 10; turn++) await Promise.all(Array.from({ length: 10 }, use))

  for (const table of ['sessions', 'robots', 'robot_presence', 'messages', 'users', 'api_keys']) {
    await sql`alter table ${sql.table(table)} add column from_the_future int`.execute(world.platform.db)
  }

  for (let turn = 0; turn < 3; turn++) await Promise.all(Array.from({ length: 10 }, use))
  expect((await act(operator, 'end')).status).toBe(200)
  await start(operator, robot.id)
  expect((await client.get(path)).body.id).toBe(id)
})

test('the queries of hot requests are prepared, once per connection', async () => {
  await using world = await createWorld()
  const { client } = await openScene(world)
  for (let turn = 0; turn < 5; turn++) await client.get('/api/sessions')
  const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(
    world.platform.db,
  )
  const lists = rows.filter(({ statement }) => statement.includes('order by "sessions"."created_at" desc'))
  expect(lists).toHaveLength(1)
})
