import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { connectOrm } from '../src/db/orm.ts'
import { createEmptyDatabase } from './support/empty-database.ts'
import { connectTo } from './support/sql.ts'

test('sessions that are open when prices arrive get the default plan and keep their pauses; others stay free', async () => {
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
      ...{ id: active, ...terms, active_since: new Date('2026-01-01T12:01:30Z'), active_ms: 0 },
    })
    expect(rows).toContainEqual({ id: paused, ...terms, active_since: null, active_ms: 9 * 60_000 })
    expect(rows).toContainEqual({
      ...{ id: done, plan_id: null, rate: null, share: null, charge: null },
      ...{ active_since: null, active_ms: 0 },
    })
  } finally {
    await orm.close(true)
    await database.drop()
  }
})
