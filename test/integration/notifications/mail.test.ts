import { randomUUID } from 'node:crypto'
import { NotificationType } from '@wheelhouse/protocol'
import { describe, expect, test } from 'vitest'
import { NOTIFICATION_DIGESTS } from '../../../src/modules/notifications/digest.service.ts'
import { NOTIFICATION_MAILS } from '../../../src/modules/notifications/mail.service.ts'
import { renderNotification } from '../../../src/modules/notifications/mail-texts.ts'
import { notificationMail } from '../../../src/modules/notifications/notification-mail.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import { type ReceivedMail, startMailServer } from '../../support/network/smtp.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { runningJobs } from '../../support/world/jobs.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type WorldOptions } from '../../support/world/world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Creates a platform with a mail server and a clock that the test can advance. */
async function createFixture(options: WorldOptions = {}) {
  const mail = await startMailServer()
  let aheadMs = 0
  const now = () => new Date(Date.now() + aheadMs)
  // Robots send one heartbeat and are lost only when a test disconnects them, because a lost robot is mailed at once.
  const env = { ...mail.env, HEARTBEAT_TIMEOUT_MS: String(10 * MINUTE_MS), ...options.env }
  const world = await createWorld({ ...options, env, now })
  const admin = await world.admin()
  let serial = 0
  const {
    core: { db },
  } = world.platform

  const to = (user: TestUser, mails: readonly ReceivedMail[] = mail.taken) =>
    mails.filter((item) => item.to.includes(`${user.name}@test.local`))
  const fixture = {
    mail,
    world,
    now,
    db,
    to,
    later: (ms: number) => {
      aheadMs += ms
    },
    /** Notifies an operator of `count` decisions. */
    async decide(operator: TestUser, count = 1) {
      for (let index = 0; index < count; index++) {
        const type = `type-${++serial}`
        const { body } = await operator.post('/api/operator/certifications', { robot_type: type })
        expect((await admin.post(`/api/admin/certifications/${body.id}/approve`)).status).toBe(200)
      }
    },
    /** Creates a running session. */
    async session() {
      const [owner, operator] = [await world.client(), await world.operator()]
      const robot = await world.robot(owner, { name: 'Warehouse arm' })
      const link = await world.connect(robot)
      link.beat()
      const id = await waitFor(async () => {
        const started = await operator.post('/api/sessions', { robotId: robot.id })
        expect(started.status).toBe(201)
        return started.body.sessionId as string
      })
      return { owner, operator, robot, link, id, path: `/api/sessions/${id}` }
    },
    /** Runs the worker once, in addition to its scheduled runs. */
    async run() {
      await world.runJobs(NOTIFICATION_DIGESTS, NOTIFICATION_MAILS)
    },
    prefer: (user: TestUser, preferences: object) =>
      user.post('/api/auth/profile', { notification_preferences: preferences }),
    arrived: (user: TestUser, count: number) => waitFor(() => expect(to(user)).toHaveLength(count)),
    /** Waits until `count` attempts to mail a user have failed. */
    attempted: (user: TestUser, count: number) =>
      waitFor(async () => {
        const mail = await db
          .selectFrom('notification_mails')
          .select(['attempts', 'delivered_at'])
          .where('user_id', '=', user.id)
          .executeTakeFirst()
        expect(mail).toEqual({ attempts: count, delivered_at: null })
        expect(await runningJobs(world.database.url, NOTIFICATION_MAILS.name)).toBe(0)
      }),
    /** Returns the numbers of a user's pending digests and mails. */
    async left(user: TestUser) {
      const [digests, mails] = await Promise.all([
        db.selectFrom('notification_digests').selectAll().where('user_id', '=', user.id).execute(),
        db
          .selectFrom('notification_mails')
          .selectAll()
          .where('user_id', '=', user.id)
          .where('delivered_at', 'is', null)
          .execute(),
      ])
      return { digests: digests.length, mails: mails.length }
    },
    async [Symbol.asyncDispose]() {
      mail.release()
      await mail.stop()
      await world[Symbol.asyncDispose]()
    },
  }
  return fixture
}
type Fixture = Awaited<ReturnType<typeof createFixture>>

/** Decodes quoted-printable text. */
function unquoted(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
/** Returns the decoded text of a mail. */
function textOf({ headers, body }: ReceivedMail): string {
  const isQuoted = /^Content-Transfer-Encoding: quoted-printable/im.test(headers)
  return isQuoted ? unquoted(body.replace(/=\r\n/g, '')) : body
}
/** Returns the decoded value of a header. */
const header = ({ headers }: ReceivedMail, name: string) =>
  new RegExp(`^${name}: (.*)$`, 'im')
    .exec(headers)?.[1]
    ?.replace(/\?= =\?UTF-8\?Q\?/g, '')
    .replace(/=\?UTF-8\?Q\?(.*?)\?=/g, (_all, word: string) => unquoted(word.replace(/_/g, ' ')))
const linkIn = (mail: ReceivedMail) => header(mail, 'List-Unsubscribe')?.slice(1, -1) as string
const nothingLeft = { digests: 0, mails: 0 }
const settled = (fixture: Fixture, user: TestUser) =>
  waitFor(async () => expect(await fixture.left(user)).toEqual(nothingLeft))

describe.concurrent('a mail', () => {
  test('contains notifications that stay unread for a minute, with links to the session and to unsubscribe', async () => {
    await using fixture = await createFixture()
    const { owner, operator, path, id } = await fixture.session()
    await fixture.run()
    expect(fixture.to(owner)).toEqual([])
    fixture.later(MINUTE_MS)
    await fixture.arrived(owner, 1)
    const [received] = fixture.to(owner) as [ReceivedMail]
    expect(header(received, 'Subject')).toBe('Session started with robot "Warehouse arm"')
    expect(header(received, 'From')).toBe('Wheelhouse <hub@wheelhouse.test>')
    expect(header(received, 'To')).toBe(`${owner.name}@test.local`)
    expect(header(received, 'Auto-Submitted')).toBe('auto-generated')
    expect(header(received, 'Content-Type')).toMatch(/^text\/plain/)
    expect(textOf(received)).toContain('An operator has taken over robot "Warehouse arm".')
    expect(textOf(received)).toContain(`${fixture.world.baseUrl}/dashboard?session=${id}\r\n`)
    expect(textOf(received)).toContain(linkIn(received))
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
    await using fixture = await createFixture()
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
    expect(types(second).at(-1)).toBe('type-28')
    expect(header(second, 'Subject')).toContain('(and 24 more)')
    expect(textOf(second)).toContain('And 5 older')
  })

  test('omits notifications that the user has read', async () => {
    await using fixture = await createFixture()
    const [all, some] = [await fixture.world.operator(), await fixture.world.operator()]
    await fixture.decide(all, 2)
    await fixture.decide(some, 3)
    await all.post('/api/notifications/read', { up_to: '2' })
    await some.post('/api/notifications/2/read')
    fixture.later(MINUTE_MS)
    await fixture.arrived(some, 1)
    expect(textOf(fixture.to(some)[0]!)).toMatch(/type-3[\s\S]*type-5/)
    expect(textOf(fixture.to(some)[0]!)).not.toContain('type-4')
    await settled(fixture, all)
    expect(fixture.to(all)).toEqual([])
  })

  test('is not sent while the user is connected to the hub, unless push is off, but after the user has left', async () => {
    await using fixture = await createFixture()
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

  test('is sent at once for an emergency stop and a lost robot, also to connected users, with pending notifications', async () => {
    await using fixture = await createFixture()
    const { owner, operator, path, link } = await fixture.session()
    await owner.hub()
    await operator.patch(path, { action: 'emergency_stop', reason: 'smoke\r\nBcc: victim@example.com' })
    await fixture.arrived(owner, 1)
    const [stop] = fixture.to(owner) as [ReceivedMail]
    expect(header(stop, 'Subject')).toBe('EMERGENCY STOP of robot "Warehouse arm" (and 1 more)')
    expect(textOf(stop)).toMatch(
      /An operator has taken over[\s\S]*emergency stop of robot "Warehouse arm" was requested/,
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
    await using fixture = await createFixture()
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
    await settled(fixture, operator)
  })
})

describe.concurrent('no mail is sent', () => {
  test('to a user who turned mails off before, during the delay or while the mail server was down', async () => {
    await using fixture = await createFixture()
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
    for (const user of users) await settled(fixture, user)
    expect(fixture.mail.seen).toEqual([])
  })

  test.each([
    ['without an address', { email: null }],
    ['with an address that is not verified', { email_verified: false }],
    ['with two addresses in one', { email: 'a@test.local, b@test.local' }],
    ['with more than an address', { email: 'a@test.local\r\nBcc: b@test.local' }],
  ])('to a user %s', async (_what, change) => {
    await using fixture = await createFixture()
    const [operator, otherOperator] = [await fixture.world.operator(), await fixture.world.operator()]
    await fixture.db.updateTable('users').set(change).where('id', '=', operator.id).execute()
    await fixture.decide(operator)
    await fixture.decide(otherOperator)
    fixture.later(MINUTE_MS)
    await fixture.arrived(otherOperator, 1)
    await settled(fixture, operator)
    expect(fixture.mail.seen).toHaveLength(1)
  })

  test('to a user whose address is no longer verified', async () => {
    await using fixture = await createFixture()
    const operator = await fixture.world.operator()
    await fixture.decide(operator)
    const change = { email_verified: false }
    await fixture.db.updateTable('users').set(change).where('id', '=', operator.id).execute()
    fixture.later(MINUTE_MS)
    await settled(fixture, operator)
    expect(fixture.mail.seen).toEqual([])
  })
})

describe.concurrent('the unsubscribe link', () => {
  test('ends the mails with one POST; GET and HEAD do not', async () => {
    await using fixture = await createFixture()
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
    expect(fixture.mail.seen).toHaveLength(1)
  })

  test('requires a valid signature for the user', async () => {
    await using fixture = await createFixture()
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

describe.concurrent('an outage', () => {
  test('of the mail server delays the mail; later notifications are combined in a second mail', async () => {
    await using fixture = await createFixture()
    const operator = await fixture.world.operator()
    await fixture.mail.stop()
    await fixture.decide(operator)
    fixture.later(MINUTE_MS)
    await waitFor(async () => expect(await fixture.left(operator)).toEqual({ digests: 0, mails: 1 }))
    for (let hour = 0; hour < 12; hour++) {
      await fixture.decide(operator)
      fixture.later(HOUR_MS)
      await fixture.run()
    }
    expect(await fixture.left(operator)).toEqual({ digests: 1, mails: 1 })
    await fixture.mail.start()
    fixture.later(HOUR_MS)
    await fixture.arrived(operator, 1)
    fixture.later(15 * MINUTE_MS)
    await fixture.arrived(operator, 2)
    expect(header(fixture.to(operator)[1]!, 'Subject')).toContain('(and 11 more)')
    await settled(fixture, operator)
    expect(fixture.mail.seen).toHaveLength(2)
  })

  test('of the mail server: notifications that are read before its end are not mailed', async () => {
    await using fixture = await createFixture()
    const operator = await fixture.world.operator()
    await fixture.mail.stop()
    await fixture.decide(operator, 2)
    fixture.later(MINUTE_MS)
    await waitFor(async () => expect(await fixture.left(operator)).toEqual({ digests: 0, mails: 1 }))
    await operator.post('/api/notifications/read', { up_to: '2' })
    await fixture.mail.start()
    fixture.later(HOUR_MS)
    await settled(fixture, operator)
    expect(fixture.mail.seen).toEqual([])
  })

  test('of three days: the mail is abandoned, and older notifications are not mailed', async () => {
    await using fixture = await createFixture()
    const [waiting, silent] = [await fixture.world.operator(), await fixture.world.operator()]
    fixture.mail.is({ refuses: 'recipient', code: 550 })
    await fixture.decide(waiting)
    fixture.later(MINUTE_MS)
    await fixture.attempted(waiting, 1)
    fixture.later(72 * HOUR_MS - 2 * MINUTE_MS)
    await fixture.run()
    await fixture.attempted(waiting, 2) // an attempt that started before the limit must have finished
    expect((await fixture.left(waiting)).mails).toBe(1)

    const old = await fixture.session()
    await fixture.db
      .updateTable('notifications')
      .set({ created_at: new Date(fixture.now().getTime() - 73 * HOUR_MS) })
      .where('user_id', '=', old.owner.id)
      .execute()
    fixture.mail.is('takes')
    fixture.later(2 * HOUR_MS)
    await Promise.all([settled(fixture, waiting), settled(fixture, old.owner), settled(fixture, silent)])
    expect(fixture.mail.taken).toEqual([])
    await old.operator.patch(old.path, { action: 'end' })
  })

  test('of the mail server after the whole mail: the same mail is sent again', async () => {
    await using fixture = await createFixture()
    const operator = await fixture.world.operator()
    fixture.mail.is('dies after')
    await fixture.decide(operator, 3)
    fixture.later(MINUTE_MS)
    await waitFor(() => expect(fixture.mail.seen).toHaveLength(1))
    await waitFor(async () => {
      const [row] = await fixture.db.selectFrom('notification_mails').select('last_error').execute()
      expect(row?.last_error).toContain('may have been delivered')
    })
    fixture.mail.is('takes')
    await operator.post('/api/notifications/2/read')
    fixture.later(MINUTE_MS)
    await fixture.arrived(operator, 1)
    const [first, second] = fixture.mail.seen as [ReceivedMail, ReceivedMail]
    expect(second.messageId).toMatch(/^<notifications-[0-9a-f-]{36}@wheelhouse\.test>$/)
    expect(second.messageId).toBe(first.messageId)
    expect(second.body).toBe(first.body)
  })

  test('of the database: due notifications are mailed after it', async () => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    try {
      await using fixture = await createFixture({ env: { DATABASE_URL: proxy.url }, database })
      const operator = await fixture.world.operator()
      await fixture.decide(operator)
      proxy.cut()
      fixture.later(MINUTE_MS)
      await expect(fixture.run()).rejects.toThrow()
      proxy.restore()
      await fixture.arrived(operator, 1)
      await settled(fixture, operator)
      fixture.world.errors.length = 0 // errors of the database outage
    } finally {
      await proxy[Symbol.asyncDispose]()
      await database.drop()
    }
  })
})

test('three concurrent workers mail each notification once', async () => {
  await using fixture = await createFixture({ bus: 'redis' })
  const { world, mail } = fixture
  const workers = await Promise.all([world.addNode('worker', mail.env), world.addNode('worker', mail.env)])
  const users = await Promise.all(Array.from({ length: 20 }, () => world.operator()))
  for (let round = 0; round < 3; round++) {
    await Promise.all(users.map((user) => fixture.decide(user)))
    fixture.later(MINUTE_MS) // the last round is due while the next one is written
  }
  await Promise.all([
    fixture.run(),
    ...workers.map(async ({ platform }) => {
      await platform.core.jobs.runDue(NOTIFICATION_DIGESTS)
      await platform.core.jobs.runDue(NOTIFICATION_MAILS)
    }),
  ])
  const notified = (user: TestUser) =>
    fixture
      .to(user)
      .flatMap((item) => [...textOf(item).matchAll(/type "(type-\d+)"/g)].map(([, type]) => type))
      .toSorted()
  await waitFor(() => {
    fixture.later(MINUTE_MS) // a user with an undelivered mail is rechecked after a minute
    for (const user of users) expect(notified(user)).toHaveLength(3)
  })
  for (const user of users) {
    await settled(fixture, user)
    expect(new Set(notified(user)).size, 'mailed twice').toBe(3)
  }
  expect(mail.seen).toHaveLength(mail.taken.length)
  const ids = mail.taken.map((item) => item.messageId)
  expect(new Set(ids).size).toBe(ids.length)
})

test('names that look like headers, addresses or markup are quoted', async () => {
  await using fixture = await createFixture()
  const { owner, operator, robot, path } = await fixture.session()
  const names = [
    'Arm" <eve@evil.example>, "x =?utf-8?q?=0D=0ABcc:_victim@example.com?=',
    'Arm\r\nBcc: victim@example.com\r\n\r\nHello',
    'Arm\u2028Bcc: victim@example.com\u0085X: y\u202eekaf\u200b',
    'Ärm 🤖 <script>alert(1)</script>',
    'x'.repeat(5_000),
  ]
  for (const [index, name] of names.entries()) {
    await fixture.db.updateTable('robots').set({ name }).where('id', '=', robot.id).execute()
    await operator.patch(path, { action: index % 2 ? 'resume' : 'pause' })
  }
  fixture.later(MINUTE_MS)
  await fixture.arrived(owner, 1)
  const [received] = fixture.to(owner) as [ReceivedMail]
  expect(received.to).toEqual([`${owner.name}@test.local`])
  expect(received.headers).not.toMatch(/^(b?cc|x):/im)
  expect(received.headers.match(/^subject:/gim)).toHaveLength(1)
  expect(received.headers.length).toBeLessThan(3_000)
  const text = textOf(received)
  expect(text).not.toMatch(/^(bcc|x):/im)
  expect(text).not.toMatch(/[\u2028\u0085\u202e\u200b]/)
  expect(text).toContain('"Ärm 🤖 <script>alert(1)</script>"')
  expect(text).toContain('"Arm Bcc: victim@example.com Hello"')
  await operator.patch(path, { action: 'end' })
})

test('every notification type has its own subject and text for any data', () => {
  const notified = NotificationType.options.map((type) => renderNotification(type, {}))
  expect(new Set(notified.map((item) => item.subject)).size).toBe(NotificationType.options.length)
  for (const { subject, text } of [
    ...notified,
    renderNotification('something.new', {}),
    renderNotification('toString', {}),
  ]) {
    expect(subject.length).toBeGreaterThan(5)
    expect(subject.length).toBeLessThan(80)
    expect(`${subject} ${text}`).not.toMatch(/undefined|null|NaN|object|[\r\n]/)
  }
})

test('a mail about an export links to it, and only to a valid id', () => {
  const platform = { baseUrl: 'https://hub.test', domain: 'hub.test', unsubscribeUrl: 'https://hub.test/u' }
  const linkTo = (export_id: string) => {
    const data = { export_id, format: 'csv', rows: 12, bytes: 3 }
    const notification = { seq: 1, type: 'export.ready', data, created_at: new Date(0) }
    const mail = { id: 'm', to: 'a@b.test', notifications: [notification], more: 0 }
    return /^https:.*dashboard.*$/m.exec(notificationMail(mail, platform).text)?.[0]
  }
  const id = randomUUID()
  expect(linkTo(id)).toBe(`https://hub.test/dashboard/exports?export=${id}`)
  expect(linkTo('evil.example')).toBe('https://hub.test/dashboard')
})
