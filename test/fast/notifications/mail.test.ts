import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createDigests, NOTIFICATION_DIGESTS } from '../../../src/modules/notifications/digest.service.ts'
import { NOTIFICATION_MAILS } from '../../../src/modules/notifications/mail.service.ts'
import type { ReceivedMail } from '../../support/network/smtp.ts'
import { attemptOf } from '../../support/world/jobs.ts'
import {
  createMailFixture,
  HOUR_MS,
  header,
  htmlOf,
  type MailFixture,
  MINUTE_MS,
  textOf,
} from '../../support/world/notification-mails.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'

let fixture: MailFixture
beforeAll(async () => {
  fixture = await createMailFixture()
})
afterEach(() => fixture.mail.reset())
afterAll(() => fixture?.[Symbol.asyncDispose]())

const linkIn = (mail: ReceivedMail) => header(mail, 'List-Unsubscribe')?.slice(1, -1) as string

describe('a mail', () => {
  test('contains notifications that stay unread for a minute, with links to the session and to unsubscribe', async () => {
    const { owner, operator, path, id } = await fixture.session()
    await fixture.run()
    expect(fixture.to(owner)).toEqual([])
    fixture.later(MINUTE_MS)
    await waitFor(() => expect(fixture.to(owner)).toHaveLength(1)) // by the polls of the worker
    const [received] = fixture.to(owner) as [ReceivedMail]
    expect(header(received, 'Subject')).toBe('Session started with robot "Warehouse arm"')
    expect(header(received, 'From')).toBe('Wheelhouse <hub@wheelhouse.test>')
    expect(header(received, 'To')).toBe(`${owner.name}@test.local`)
    expect(header(received, 'Auto-Submitted')).toBe('auto-generated')
    expect(header(received, 'Content-Type')).toMatch(/^multipart\/alternative/)
    expect(textOf(received)).toContain('An operator has taken over robot "Warehouse arm".')
    expect(textOf(received)).toContain(`${fixture.world.baseUrl}/dashboard?session=${id}\r\n`)
    expect(textOf(received)).toContain(linkIn(received))
    expect(htmlOf(received)).toContain('An operator has taken over robot &quot;Warehouse arm&quot;.')
    expect(htmlOf(received)).toContain(`href="${fixture.world.baseUrl}/dashboard?session=${id}"`)
    expect(linkIn(received).startsWith(`${fixture.world.baseUrl}/unsubscribe?token=`)).toBe(true)
    expect(header(received, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click')

    // A notification is mailed once, and users get no mails about their own actions.
    fixture.later(HOUR_MS)
    await fixture.run()
    await operator.patch(path, { action: 'end' })
    fixture.later(MINUTE_MS)
    await fixture.arrived(owner, 2)
    expect(fixture.to(operator)).toEqual([])
  })

  test('combines notifications that are due together, oldest first, and lists only the newest of many', async () => {
    const [few, many] = [await fixture.world.operator(), await fixture.world.operator()]
    await fixture.decide(few, 3)
    await fixture.decide(many, 25)
    fixture.later(MINUTE_MS)
    await Promise.all([fixture.arrived(few, 1), fixture.arrived(many, 1)])
    const [first, second] = [fixture.to(few)[0]!, fixture.to(many)[0]!]
    expect(header(first, 'Subject')).toBe('You are certified for "type-3" (and 2 more)')
    const types = (mail: ReceivedMail) =>
      [...textOf(mail).matchAll(/type "(type-\d+)"/g)].map(([, type]) => type)
    expect(types(first)).toEqual(['type-1', 'type-2', 'type-3'])
    expect(types(second)).toHaveLength(20)
    expect(types(second).at(-1)).toBe('type-25')
    expect(header(second, 'Subject')).toContain('(and 24 more)')
    expect(textOf(second)).toContain('And 5 older')
  })

  test('to a suspended user is about the suspension and money only, also if it was written before', async () => {
    const { world, db } = fixture
    const [admin, user] = [await world.admin(), await world.operator()]
    const path = `/api/admin/users/${user.id}`
    await fixture.decide(user, 2)
    expect((await admin.post(`${path}/suspend`, { reason: 'Unsafe <b>driving' })).status).toBe(204)
    await fixture.notify(user, 'payout.paid', {
      payout_id: randomUUID(),
      amount_cents: 1_250,
      currency: 'EUR',
    })
    fixture.later(MINUTE_MS)
    await fixture.arrived(user, 1)
    const text = textOf(fixture.to(user)[0]!)
    expect(text).toMatch(/An administrator has suspended your account[\s\S]*12\.50 EUR/)
    expect(text).not.toMatch(/type-1|type-2|Unsafe/)

    // A mail that was written before the suspension, with a certification only.
    const other = await world.operator()
    await fixture.decide(other, 1)
    await db.deleteFrom('notification_digests').where('user_id', '=', other.id).execute()
    const id = randomUUID()
    const at = fixture.now()
    await admin.post(`/api/admin/users/${other.id}/suspend`, { reason: 'Why' })
    await db.deleteFrom('notification_digests').where('user_id', '=', other.id).execute()
    await world.platform.core.transact(async (tx) => {
      await tx.db
        .insertInto('notification_mails')
        .values({
          id,
          user_id: other.id,
          seqs: [1],
          more: 3,
          urgent: false,
          created_at: at,
          next_attempt_at: at,
        })
        .execute()
      tx.enqueue({ queue: NOTIFICATION_MAILS, data: { id } })
    })
    await fixture.settled(other)
    expect(fixture.to(other)).toEqual([])

    expect((await admin.post(`${path}/restore`)).status).toBe(204)
    fixture.later(MINUTE_MS)
    await fixture.arrived(user, 2)
    expect(textOf(fixture.to(user)[1]!)).toContain('ended the suspension')
  })

  test('is sent with the next notification if an admin has discarded its job', async () => {
    const user = await fixture.world.operator()
    await fixture.decide(user, 1)
    await sql`
      delete from pgboss.job
      where name = ${NOTIFICATION_DIGESTS.name} and data ->> 'userId' = ${user.id}`.execute(fixture.db)
    fixture.later(HOUR_MS)
    await fixture.decide(user, 1)
    fixture.later(MINUTE_MS)
    await fixture.arrived(user, 1)
    expect(header(fixture.to(user)[0]!, 'Subject')).toContain('(and 1 more)')
  })

  test('omits notifications that the user has read', async () => {
    const [all, some] = [await fixture.world.operator(), await fixture.world.operator()]
    await fixture.decide(all, 2)
    await fixture.decide(some, 3)
    await all.post('/api/notifications/read', { up_to: '2' })
    await some.post('/api/notifications/2/read')
    fixture.later(MINUTE_MS)
    await fixture.arrived(some, 1)
    expect(textOf(fixture.to(some)[0]!)).toMatch(/type-1[\s\S]*type-3/)
    expect(textOf(fixture.to(some)[0]!)).not.toContain('type-2')
    await fixture.settled(all)
    expect(fixture.to(all)).toEqual([])
  })

  test('is not sent while the user is connected to the hub, unless push is off, but after the user has left', async () => {
    const { world, db } = fixture
    const [present, silent] = [await world.operator(), await world.operator()]
    await fixture.prefer(silent, { push: false })
    const [socket] = [await present.hub(), await silent.hub()]
    for (const user of [present, silent]) {
      await waitFor(async () => {
        const seen = await db.selectFrom('user_presence').selectAll().where('user_id', '=', user.id).execute()
        expect(seen).toHaveLength(1)
      })
      await fixture.decide(user)
    }
    fixture.later(MINUTE_MS)
    await fixture.arrived(silent, 1)
    for (let minute = 0; minute < 5; minute++) {
      fixture.later(15 * MINUTE_MS)
      await fixture.run()
    }
    expect(fixture.to(present)).toEqual([])
    socket.close()
    await waitFor(async () => {
      await db
        .updateTable('user_presence')
        .set({ seen_at: new Date(Date.now() - 20_000) })
        .where('user_id', '=', present.id)
        .execute()
      fixture.later(15 * MINUTE_MS)
      await fixture.run()
      expect(fixture.to(present)).toHaveLength(1)
    })
  })

  test('is sent at once for a remote stop and a lost robot, also to connected users, with pending notifications', async () => {
    const { owner, operator, path, link } = await fixture.session()
    await owner.hub()
    await operator.patch(path, { action: 'emergency_stop', reason: 'smoke\r\nBcc: victim@example.com' })
    await fixture.arrived(owner, 1)
    const [stop] = fixture.to(owner) as [ReceivedMail]
    expect(header(stop, 'Subject')).toBe('REMOTE STOP of robot "Warehouse arm" (and 1 more)')
    expect(textOf(stop)).toMatch(
      /An operator has taken over[\s\S]*remote stop of robot "Warehouse arm" was requested/,
    )
    expect(textOf(stop)).not.toContain('smoke')
    expect(stop.headers).not.toMatch(/^bcc:/im)
    expect(fixture.to(operator)).toEqual([])

    await owner.patch(path, { action: 'clear_stop' })
    await operator.patch(path, { action: 'resume' })
    link.close()
    await fixture.arrived(owner, 2)
    await fixture.arrived(operator, 1)
    expect(header(fixture.to(operator)[0]!, 'Subject')).toContain('Connection lost to robot "Warehouse arm"')
    await operator.patch(path, { action: 'end' })
  })

  test('is sent at most four times an hour; later notifications are combined after the hour', async () => {
    const operator = await fixture.world.operator()
    for (let count = 1; count <= 4; count++) {
      await fixture.decide(operator)
      fixture.later(MINUTE_MS)
      await fixture.arrived(operator, count)
    }
    for (let count = 0; count < 3; count++) {
      await fixture.decide(operator)
      fixture.later(10 * MINUTE_MS)
      await fixture.run()
    }
    expect(fixture.to(operator)).toHaveLength(4)
    fixture.later(30 * MINUTE_MS)
    await fixture.arrived(operator, 5)
    expect(header(fixture.to(operator)[4]!, 'Subject')).toContain('(and 2 more)')
    await fixture.settled(operator)
  })
})

describe('no mail is sent', () => {
  test('to a user who turned mails off before, during the delay or while the mail server was down', async () => {
    const users = await Promise.all([1, 2, 3].map(() => fixture.world.operator()))
    const [before, whileLocked, late] = users as [TestUser, TestUser, TestUser]
    await fixture.prefer(before, { email: false })
    for (const user of users) await fixture.decide(user)
    // Notifications from the time when mails were off are not mailed later.
    await fixture.prefer(before, { email: true })
    await fixture.prefer(whileLocked, { email: false })
    await fixture.mail.stop()
    fixture.later(MINUTE_MS)
    await waitFor(async () => expect(await fixture.left(late)).toEqual({ digests: 0, mails: 1 }))
    await fixture.prefer(late, { email: false })
    await fixture.mail.start()
    fixture.later(HOUR_MS)
    for (const user of users) await fixture.settled(user)
    for (const user of users) expect(fixture.seen(user)).toEqual([])
  })

  test.each([
    ['without an address', { email: null }],
    ['with an address that is not verified', { email_verified: false }],
    ['with two addresses in one', { email: 'a@test.local, b@test.local' }],
    ['with more than an address', { email: 'a@test.local\r\nBcc: b@test.local' }],
  ])('to a user %s', async (_what, change) => {
    const [operator, otherOperator] = [await fixture.world.operator(), await fixture.world.operator()]
    const before = fixture.mail.seen.length
    await fixture.db.updateTable('users').set(change).where('id', '=', operator.id).execute()
    await fixture.decide(operator)
    await fixture.decide(otherOperator)
    fixture.later(MINUTE_MS)
    await fixture.arrived(otherOperator, 1)
    await fixture.settled(operator)
    expect(fixture.mail.seen.slice(before)).toEqual(fixture.to(otherOperator))
  })

  test('to a user whose address is no longer verified', async () => {
    const operator = await fixture.world.operator()
    await fixture.decide(operator)
    const change = { email_verified: false }
    await fixture.db.updateTable('users').set(change).where('id', '=', operator.id).execute()
    fixture.later(MINUTE_MS)
    await fixture.settled(operator)
    expect(fixture.seen(operator)).toEqual([])
  })
})

describe('the unsubscribe link', () => {
  test('ends the mails with one POST; GET and HEAD do not', async () => {
    const operator = await fixture.world.operator()
    await fixture.decide(operator)
    fixture.later(MINUTE_MS)
    await fixture.arrived(operator, 1)
    const { body: before } = await operator.get('/api/auth/profile')
    const link = linkIn(fixture.to(operator)[0]!)
    for (const method of ['GET', 'HEAD']) expect((await fetch(link, { method })).status).toBe(200)
    const looked = await fetch(link)
    expect(await looked.text()).toContain('<form method="post">')
    expect((await operator.get('/api/auth/profile')).body).toEqual(before)

    // RFC 8058: no cookie, this body, no redirect.
    const form = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }
    for (let click = 0; click < 2; click++) {
      const done = await fetch(link, { ...form, redirect: 'manual' })
      expect(done.status).toBe(200)
    }
    const after = { ...before, notification_preferences: { email: false, push: true } }
    expect((await operator.get('/api/auth/profile')).body).toEqual(after)
    await fixture.decide(operator)
    fixture.later(HOUR_MS)
    await fixture.run()
    expect(fixture.seen(operator)).toHaveLength(1)
  })

  test('requires a valid signature for the user', async () => {
    const [operator, otherOperator] = [await fixture.world.operator(), await fixture.world.operator()]
    await fixture.decide(operator)
    fixture.later(MINUTE_MS)
    await fixture.arrived(operator, 1)
    const link = linkIn(fixture.to(operator)[0]!)
    const at = link.split('?')[0]
    const signature = link.split('.').at(-1) as string
    const bad = [
      at,
      `${at}?token=`,
      `${at}?token=${operator.id}`,
      `${at}?token=${operator.id}.`,
      `${link}x`,
      link.slice(0, -1),
      `${at}?token=${otherOperator.id}.${signature}`,
      `${link}&token=x`,
      `${at}?token=%00`,
    ]
    for (const url of bad) {
      for (const method of ['GET', 'POST']) expect((await fetch(url!, { method })).status, url).toBe(400)
    }
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      expect((await fetch(link, { method })).status, method).toBe(405)
    }
    for (const user of [operator, otherOperator]) {
      const { body } = await user.get('/api/auth/profile')
      expect(body.notification_preferences.email).toBe(true)
    }
  })
})

test('concurrent decisions about the same notifications write one mail', async () => {
  const operator = await fixture.world.operator()
  await fixture.decide(operator, 3)
  fixture.later(MINUTE_MS)
  const digests = createDigests({ ...fixture.world.platform.core, now: fixture.now })
  const decide = () => digests.decide(attemptOf({ userId: operator.id }))
  await Promise.all([fixture.run(), ...Array.from({ length: 3 }, decide)])
  await fixture.settled(operator)
  expect(fixture.seen(operator)).toHaveLength(1)
})

test('a mail about names that look like headers, addresses or markup has one recipient and one subject', async () => {
  const operator = await fixture.world.operator()
  const names = [
    'Arm" <eve@evil.example>, "x =?utf-8?q?=0D=0ABcc:_victim@example.com?=',
    'Arm\r\nBcc: victim@example.com\r\n\r\nHello',
    'Ärm 🤖 <script>alert(1)</script>',
  ]
  for (const robot_name of names) {
    await fixture.notify(operator, 'session.paused', { robot_name, session_id: randomUUID() })
    fixture.later(HOUR_MS) // the newest one is the subject
    await fixture.arrived(operator, names.indexOf(robot_name) + 1)
  }
  for (const received of fixture.to(operator)) {
    expect(received.to).toEqual([`${operator.name}@test.local`])
    expect(received.headers).not.toMatch(/^(b?cc|x):/im)
    expect(received.headers.match(/^subject:/gim)).toHaveLength(1)
    expect(textOf(received)).not.toMatch(/^bcc:/im)
  }
  const last = fixture.to(operator)[2]!
  expect(header(last, 'Subject')).toContain('"Ärm 🤖 <script>alert(1)</script>"')
  expect(textOf(last)).toContain('"Ärm 🤖 <script>alert(1)</script>"')
  expect(htmlOf(last)).toContain('&quot;Ärm 🤖 &lt;script&gt;alert(1)&lt;/script&gt;&quot;')
})
