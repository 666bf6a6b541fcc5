import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { queries } from '../../../src/app/database/orm.ts'
import { createMailStore } from '../../../src/core/mail/mail-store.ts'
import { createDigests } from '../../../src/modules/notifications/digest.service.ts'
import { createNotifications } from '../../../src/modules/notifications/notification.service.ts'
import { createPlansDatabase, type PlansDatabase } from '../../support/database/plans-database.ts'
import { testTransactor } from '../../support/database/test-transactor.ts'
import { attemptOf } from '../../support/world/jobs.ts'

const NOTIFICATIONS = 200_000
/** The number of unread notifications of one user. */
const PER_USER = 40_000
const USERS = 800
/** Maximum number of rows that a statement may read: a page, a batch, and index lookups. */
const FEW_ROWS = 5_000

let plans: PlansDatabase
const busy = randomUUID()

/** Inserts notifications, most of them read, and 2,400 mails, 400 of them pending. */
beforeAll(async () => {
  plans = await createPlansDatabase(['users', 'notifications', 'notification_mails', 'notification_digests'])
  const { sql } = plans
  await sql.query(
    `insert into users (id, issuer, subject, display_name, email, email_verified, notification_seq, notification_unread)
     select case when n = 0 then $1::uuid else gen_random_uuid() end, 'test', n::text, 'User', n || '@test.local', true,
       case when n = 0 then ${PER_USER} else ${(NOTIFICATIONS - PER_USER) / USERS} end, case when n = 0 then ${PER_USER} else 10 end
     from generate_series(0, ${USERS}) n`,
    [busy],
  )
  await sql.query(
    `insert into notifications (user_id, seq, type, data, created_at, read_at, by_mail)
     select u.id, seq, 'session.ended', '{}', now() - interval '1 hour',
       case when u.id = $1 or seq > u.notification_seq - 10 then null else now() end, true
     from users u, generate_series(1, u.notification_seq) seq`,
    [busy],
  )
  await sql.query(
    `insert into notification_mails (id, user_id, seqs, more, urgent, created_at, delivered_at, next_attempt_at)
     select gen_random_uuid(), u.id, '{1}', 0, n = 1, now() - n * interval '3 hours',
       case when n > 1 or u.subject::int % 2 = 0 then now() - n * interval '3 hours' end, now() + interval '1 minute'
     from users u, generate_series(1, 3) n where u.id <> $1`,
    [busy],
  )
  await sql.query(
    `insert into notification_digests (user_id, from_seq, due_at)
     select id, greatest(1, notification_seq - 20), now() + interval '1 hour' from users`,
  )
  await plans.vacuum()
})
afterAll(() => plans?.[Symbol.asyncDispose]())

describe('with two hundred thousand notifications', () => {
  const now = () => new Date()
  const parts = () => {
    const db = queries(plans.orm.em.fork())
    const transact = testTransactor(plans.orm)
    return { db, transact, now }
  }

  test.each([
    ['the newest', {}],
    ['an old page', { before: 1_000 }],
    ['the unread', { unreadOnly: true }],
    ['an old page of the unread', { unreadOnly: true, before: 1_000 }],
  ])('a page reads few rows: %s', async (_what, page) => {
    const notifications = createNotifications(parts())
    const work = () => notifications.list(busy, { ...page, limit: 100 })
    expect(await plans.rowsRead(work)).toBeLessThan(300)
  })

  test('a page of unread notifications reads few rows if the user has read almost all', async () => {
    const notifications = createNotifications(parts())
    const { rows } = await plans.sql.query(`select id from users where id <> $1 limit 1`, [busy])
    const page = { unreadOnly: true, limit: 100 }
    const reading = plans.rowsRead(async () => {
      expect((await notifications.list(rows[0].id, page)).notifications).toHaveLength(10)
    })
    expect(await reading).toBeLessThan(50)
  })

  test('catching up and marking as read touch only the returned and changed rows', async () => {
    const notifications = createNotifications(parts())
    expect(await plans.rowsRead(() => notifications.since(busy, 20_000))).toBeLessThan(300)
    expect(await plans.rowsRead(() => notifications.markRead(busy, 30_000))).toBeLessThan(20)
    expect(await plans.rowsRead(() => notifications.markReadUpTo(busy, 900))).toBeLessThan(FEW_ROWS)
  })

  test('a digest that is not due reads almost no rows; a user costs a few hundred at most', async () => {
    const { db, transact } = parts()
    const digests = createDigests({ transact, now })
    const decide = () => digests.decide(attemptOf({ userId: busy }))
    expect(await plans.rowsRead(decide)).toBeLessThan(20)
    expect(await plans.rowsRead(digests.removeDelivered)).toBeLessThan(20)
    await plans.sql.query(`update notification_digests set due_at = now(), from_seq = 1 where user_id = $1`, [
      busy,
    ])
    expect(await plans.rowsRead(decide)).toBeLessThan(1_000)
    const written = await plans.sql.query(`select id, more from notification_mails where user_id = $1`, [
      busy,
    ])
    expect(written.rows).toMatchObject([{ more: 500 }])
    const mails = createMailStore({ db, now, table: 'notification_mails' })
    expect(await plans.rowsRead(() => mails.begin(written.rows[0].id, false))).toBeLessThan(20)
  })
})
