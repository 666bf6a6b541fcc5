import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createPresenceStore } from '../../../src/modules/presence/presence.store.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { connectTo } from '../../support/database/sql.ts'

const ROBOTS = 18_000
const BATCH = 1_800

// A bad plan compares every robot with every item and exceeds the store's limit of five seconds.
test('statistics collected while no robot was connected do not slow down the presence statements', async () => {
  const database = await createTestDatabase()
  const store = createPresenceStore({ databaseUrl: database.url, poolSize: 1 })
  const nodeId = randomUUID()
  const ids = Array.from({ length: ROBOTS }, () => randomUUID())
  try {
    await using sql = await connectTo(database.url)
    await sql.query(
      `insert into users (id, issuer, subject, display_name) values ($1, 'test', 'owner', 'Owner')`,
      [nodeId],
    )
    await sql.query(
      `insert into robots (id, owner_id, name, robot_type, hardware_id)
       select id, $2, 'robot', 'testbot', id::text from unnest($1::uuid[]) id`,
      [ids, nodeId],
    )
    await sql.query('insert into robot_presence (robot_id) select id from robots')
    await sql.query('analyze')

    const atMs = Date.now()
    const epochs: { robotId: string; epoch: number }[] = []
    for (let start = 0; start < ROBOTS; start += BATCH) {
      const batch = ids.slice(start, start + BATCH)
      epochs.push(
        ...(await store.connect(
          nodeId,
          batch.map((robotId) => ({ robotId, tokenVersion: 1, atMs })),
        )),
      )
    }
    expect(epochs).toHaveLength(ROBOTS)

    // PostgreSQL plans the first runs of a prepared statement separately; later runs may share a generic plan.
    for (let run = 0; run < 8; run++) {
      const heartbeats = epochs
        .slice(run * BATCH, (run + 1) * BATCH)
        .map((item) => ({ ...item, lastHeartbeatMs: atMs }))
      expect(await store.saveHeartbeats(heartbeats)).toBe(BATCH)
    }
    const ends = epochs.slice(0, BATCH).map((item) => ({ ...item, lastSignMs: atMs, lastHeartbeatMs: atMs }))
    expect(await store.disconnect(ends)).toEqual({ lostInSession: [] })
    expect(await store.connectedTo(nodeId)).toHaveLength(ROBOTS - BATCH)
  } finally {
    await store.close()
    await database.drop()
  }
})
