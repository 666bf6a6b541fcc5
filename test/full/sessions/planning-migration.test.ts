import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { connectOrm } from '../../../src/app/database/orm.ts'
import { catalog } from '../../../src/core/events/catalog.ts'
import { createEmptyDatabase } from '../../support/database/empty-database.ts'
import { connectTo } from '../../support/database/sql.ts'

const at = (hour: number) => new Date(Date.UTC(2026, 5, 1, hour)).toISOString()

test('the migration to planned windows keeps the first of overlapping bookings, cancels the others and notifies both sides', async () => {
  const database = await createEmptyDatabase()
  const orm = await connectOrm({ url: database.url, poolSize: 1, applicationName: 'migration-test' })
  try {
    await orm.migrator.up({ to: '0018_outbound_events' })
    await using client = await connectTo(database.url)
    const user = async () => {
      const id = randomUUID()
      await client.query(
        `insert into users (id, issuer, subject, display_name) values ($1, 'test', $1::uuid::text, 'Test')`,
        [id],
      )
      return id
    }
    const owner = await user()
    const robot = async (status = 'AVAILABLE') => {
      const id = randomUUID()
      await client.query(
        `insert into robots (id, owner_id, name, robot_type, hardware_id, status)
         values ($1, $2, 'Robot', 'testbot', $1::uuid::text, $3)`,
        [id, owner, status],
      )
      return id
    }
    let made = 0
    const book = async (robotId: string, operatorId: string, hour: number) => {
      const id = randomUUID()
      await client.query(
        `insert into sessions (id, robot_id, operator_id, client_id, status, scheduled_for, event_seq, created_at)
         values ($1, $2, $3, $4, 'PENDING', $5, 1, $6)`,
        [id, robotId, operatorId, owner, at(hour), new Date(Date.UTC(2026, 4, 1, 0, ++made)).toISOString()],
      )
      return id
    }
    const [alice, bob] = [await user(), await user()]
    const [arm, rover] = [await robot(), await robot()]
    const first = await book(arm, alice, 9)
    const duplicate = await book(arm, alice, 9)
    const sameRobot = await book(arm, bob, 9.5)
    const sameOperator = await book(rover, alice, 9.5)
    // It overlaps only with a cancelled session, so it remains.
    const free = await book(rover, bob, 10)
    // An extended open session has a window, too.
    await client.query('begin')
    const busy = await robot('IN_SESSION')
    const otherOperator = await user()
    await client.query(
      `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, active_since, planned_minutes,
         plan_id, client_rate_cents_per_minute, operator_share_percent)
       values ($1, $2, $3, $4, 'ACTIVE', $5, $5, 120, 'standard', 50, 70)`,
      [randomUUID(), busy, otherOperator, owner, at(8)],
    )
    await client.query('commit')
    const underOpen = await book(busy, await user(), 9)
    await orm.migrator.up()

    const { rows } = await client.query(
      `select id, status, end_reason, planned_minutes, event_seq from sessions where status <> 'ACTIVE' order by created_at`,
    )
    const kept = { status: 'PENDING', end_reason: null, planned_minutes: 60, event_seq: 1 }
    const cancelled = { status: 'CANCELLED', end_reason: 'double_booked', planned_minutes: 60, event_seq: 2 }
    expect(rows).toEqual([
      { id: first, ...kept },
      { id: duplicate, ...cancelled },
      { id: sameRobot, ...cancelled },
      { id: sameOperator, ...cancelled },
      { id: free, ...kept },
      { id: underOpen, ...cancelled },
    ])
    const log = await client.query(
      'select session_id, seq, type, data from session_events order by session_id',
    )
    expect(log.rows).toHaveLength(4)
    expect(log.rows).toContainEqual({
      session_id: duplicate,
      seq: 2,
      type: 'session.cancelled',
      data: { status: 'CANCELLED', reason: 'double_booked' },
    })
    const notified = await client.query(
      `select user_id, array_agg(n.seq order by n.seq) as seqs, u.notification_seq, u.notification_unread
       from notifications n join users u on u.id = n.user_id group by user_id, notification_seq, notification_unread`,
    )
    expect(notified.rows).toContainEqual({
      user_id: owner,
      seqs: [1, 2, 3, 4],
      notification_seq: 4,
      notification_unread: 4,
    })
    expect(notified.rows).toContainEqual({
      user_id: alice,
      seqs: [1, 2],
      notification_seq: 2,
      notification_unread: 2,
    })
    const outbox = await client.query('select name, payload from outbox order by id')
    expect(outbox.rows.map(({ name }) => name).sort()).toEqual([
      ...Array(8).fill('notification'),
      ...Array(4).fill('session.event'),
    ])
    for (const { name, payload } of outbox.rows) catalog[name as keyof typeof catalog].parse(payload)
  } finally {
    await orm.close(true)
    await database.drop()
  }
})
