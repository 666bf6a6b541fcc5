import { NotificationType } from '@wheelhouse/protocol'
import { describe, expect, test, vi } from 'vitest'
import { tellByMail } from '../src/modules/notifications/mail-texts.ts'
import { createTestDatabase } from './support/database.ts'
import type { Person } from './support/person.ts'
import { type ReceivedMail, startMailServer } from './support/smtp.ts'
import { createTcpProxy } from './support/tcp-proxy.ts'
import { createWorld, type WorldOptions } from './support/world.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Time for a busy machine; none of the promises is about it. */
const BUSY_MS = 15_000

/** A platform with a mail server, and a clock that can be moved on. */
async function createStage(options: WorldOptions = {}) {
  const mail = await startMailServer()
  let aheadMs = 0
  const now = () => new Date(Date.now() + aheadMs)
  // Robots beat once and are lost when a test says so: what is told of a lost robot is mailed at once.
  const env = { ...mail.env, HEARTBEAT_TIMEOUT_MS: String(10 * MINUTE_MS), ...options.env }
  const world = await createWorld({ ...options, env, now })
  const admin = await world.admin()
  let serial = 0
  const { db } = world.platform

  const to = (person: Person, mails: readonly ReceivedMail[] = mail.taken) =>
    mails.filter((one) => one.to.includes(`${person.name}@test.local`))
  const stage = {
    ...{ mail, world, now, db, to },
    later: (ms: number) => {
      aheadMs += ms
    },
    /** Notifies an operator of so many decisions. */
    async decide(operator: Person, count = 1) {
      for (let index = 0; index < count; index++) {
        const type = `type-${++serial}`
        const { body } = await operator.post('/api/operator/certifications', { robot_type: type })
        expect((await admin.post(`/api/admin/certifications/${body.id}/approve`)).status).toBe(200)
      }
    },
    /** A session that goes on. */
    async session() {
      const [owner, operator] = [await world.client(), await world.operator()]
      const robot = await world.robot(owner, { name: 'Warehouse arm' })
      const link = await world.connect(robot)
      link.beat()
      const id = await vi.waitFor(async () => {
        const started = await operator.post('/api/sessions', { robotId: robot.id })
        expect(started.status).toBe(201)
        return started.body.sessionId as string
      }, BUSY_MS)
      return { owner, operator, robot, link, id, path: `/api/sessions/${id}` }
    },
    /** One run of the worker, over when this settles; its own runs go on beside it. */
    async run() {
      await world.platform.digests!.run()
      await world.platform.notificationMails!.runDue()
    },
    prefer: (person: Person, preferences: object) =>
      person.post('/api/auth/profile', { notification_preferences: preferences }),
    arrived: (person: Person, count: number) =>
      vi.waitFor(() => expect(to(person)).toHaveLength(count), { timeout: BUSY_MS, interval: 20 }),
    /** Waits until so many attempts to mail a person have come to their end, without success. */
    attempted: (person: Person, count: number) =>
      vi.waitFor(async () => {
        const mail = await db
          .selectFrom('notification_mails')
          .select(['attempts', 'claim', 'delivered_at'])
          .where('user_id', '=', person.id)
          .executeTakeFirst()
        expect(mail).toEqual({ attempts: count, claim: null, delivered_at: null })
      }, BUSY_MS),
    /** What is noted of a person as still to be mailed. */
    async left(person: Person) {
      const [digests, mails] = await Promise.all([
        db.selectFrom('notification_digests').selectAll().where('user_id', '=', person.id).execute(),
        db
          .selectFrom('notification_mails')
          .selectAll()
          .where('user_id', '=', person.id)
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
  return stage
}
type Stage = Awaited<ReturnType<typeof createStage>>

/** The bytes behind `=3D` and the like, as text. */
function unquoted(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/g, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
/** The text as people see it. */
function textOf({ headers, body }: ReceivedMail): string {
  const isQuoted = /^Content-Transfer-Encoding: quoted-printable/im.test(headers)
  return isQuoted ? unquoted(body.replace(/=\r\n/g, '')) : body
}
/** A header as people see it. */
const header = ({ headers }: ReceivedMail, name: string) =>
  new RegExp(`^${name}: (.*)$`, 'im')
    .exec(headers)?.[1]
    ?.replace(/\?= =\?UTF-8\?Q\?/g, '')
    .replace(/=\?UTF-8\?Q\?(.*?)\?=/g, (_all, word: string) => unquoted(word.replace(/_/g, ' ')))
const linkIn = (mail: ReceivedMail) => header(mail, 'List-Unsubscribe')?.slice(1, -1) as string
const nothingLeft = { digests: 0, mails: 0 }
const settled = (stage: Stage, person: Person) =>
  vi.waitFor(async () => expect(await stage.left(person)).toEqual(nothingLeft), BUSY_MS)

describe.concurrent('what is mailed, and when', () => {
  test('what nobody has read for a minute; in plain words, with a link and a way out', async () => {
    await using stage = await createStage()
    const { owner, operator, path, id } = await stage.session()
    await stage.run()
    expect(stage.to(owner)).toEqual([])
    stage.later(MINUTE_MS)
    await stage.arrived(owner, 1)
    const [received] = stage.to(owner) as [ReceivedMail]
    expect(header(received, 'Subject')).toBe('Session started with robot "Warehouse arm"')
    expect(header(received, 'From')).toBe('Wheelhouse <hub@wheelhouse.test>')
    expect(header(received, 'To')).toBe(`${owner.name}@test.local`)
    expect(header(received, 'Auto-Submitted')).toBe('auto-generated')
    expect(header(received, 'Content-Type')).toMatch(/^text\/plain/)
    expect(textOf(received)).toContain('An operator has taken over robot "Warehouse arm".')
    expect(textOf(received)).toContain(`${stage.world.baseUrl}/dashboard?session=${id}\r\n`)
    expect(textOf(received)).toContain(linkIn(received))
    expect(linkIn(received).startsWith(`${stage.world.baseUrl}/unsubscribe?token=`)).toBe(true)
    expect(header(received, 'List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click')

    // Told once; and nobody is told of what they did themselves.
    stage.later(HOUR_MS)
    await stage.run()
    await operator.patch(path, { action: 'end' })
    stage.later(MINUTE_MS)
    await stage.arrived(owner, 2)
    expect(stage.to(operator)).toEqual([])
  })

  test('several that are due together are one mail, oldest first; of very many only the newest', async () => {
    await using stage = await createStage()
    const [few, many] = [await stage.world.operator(), await stage.world.operator()]
    await stage.decide(few, 3)
    await stage.decide(many, 25)
    stage.later(MINUTE_MS)
    await Promise.all([stage.arrived(few, 1), stage.arrived(many, 1)])
    const [first, second] = [stage.to(few)[0]!, stage.to(many)[0]!]
    expect(header(first, 'Subject')).toBe('You are certified for "type-3" (and 2 more)')
    const types = (mail: ReceivedMail) =>
      [...textOf(mail).matchAll(/type "(type-\d+)"/g)].map(([, type]) => type)
    expect(types(first)).toEqual(['type-1', 'type-2', 'type-3'])
    expect(types(second)).toHaveLength(20)
    expect(types(second).at(-1)).toBe('type-28')
    expect(header(second, 'Subject')).toContain('(and 24 more)')
    expect(textOf(second)).toContain('And 5 older')
  })

  test('not what was read meanwhile', async () => {
    await using stage = await createStage()
    const [all, some] = [await stage.world.operator(), await stage.world.operator()]
    await stage.decide(all, 2)
    await stage.decide(some, 3)
    await all.post('/api/notifications/read', { up_to: '2' })
    await some.post('/api/notifications/2/read')
    stage.later(MINUTE_MS)
    await stage.arrived(some, 1)
    expect(textOf(stage.to(some)[0]!)).toMatch(/type-3[\s\S]*type-5/)
    expect(textOf(stage.to(some)[0]!)).not.toContain('type-4')
    await settled(stage, all)
    expect(stage.to(all)).toEqual([])
  })

  test('not to somebody at the hub, unless they have turned pushing off; after they have left it is', async () => {
    await using stage = await createStage()
    const { world, db } = stage
    const [present, silent] = [await world.operator(), await world.operator()]
    await stage.prefer(silent, { push: false })
    const [socket] = [await present.hub(), await silent.hub()]
    for (const person of [present, silent]) {
      await vi.waitFor(async () => {
        const seen = await db
          .selectFrom('user_presence')
          .selectAll()
          .where('user_id', '=', person.id)
          .execute()
        expect(seen).toHaveLength(1)
      }, 10_000)
      await stage.decide(person)
    }
    stage.later(MINUTE_MS)
    await stage.arrived(silent, 1)
    for (let minute = 0; minute < 5; minute++) {
      stage.later(15 * MINUTE_MS)
      await stage.run()
    }
    expect(stage.to(present)).toEqual([])
    socket.close()
    await vi.waitFor(async () => {
      await db
        .updateTable('user_presence')
        .set({ seen_at: new Date(Date.now() - 20_000) })
        .where('user_id', '=', present.id)
        .execute()
      stage.later(15 * MINUTE_MS)
      await stage.run()
      expect(stage.to(present)).toHaveLength(1)
    }, BUSY_MS)
  })

  test('an emergency stop and a lost robot at once, also to somebody at the hub, with what waits', async () => {
    await using stage = await createStage()
    const { owner, operator, path, link } = await stage.session()
    await owner.hub()
    await operator.patch(path, { action: 'emergency_stop', reason: 'smoke\r\nBcc: victim@example.com' })
    await stage.arrived(owner, 1)
    const [stop] = stage.to(owner) as [ReceivedMail]
    expect(header(stop, 'Subject')).toBe('EMERGENCY STOP of robot "Warehouse arm" (and 1 more)')
    expect(textOf(stop)).toMatch(
      /An operator has taken over[\s\S]*emergency stop of robot "Warehouse arm" was pressed/,
    )
    expect(textOf(stop)).not.toContain('smoke')
    expect(stop.headers).not.toMatch(/^bcc:/im)
    expect(stage.to(operator)).toEqual([])

    await owner.patch(path, { action: 'clear_stop' })
    await operator.patch(path, { action: 'resume' })
    link.close()
    await stage.arrived(owner, 2)
    await stage.arrived(operator, 1)
    expect(header(stage.to(operator)[0]!, 'Subject')).toContain('Connection lost to robot "Warehouse arm"')
    await operator.patch(path, { action: 'end' })
  })

  test('four an hour at most; what comes after that is one mail when the hour is over', async () => {
    await using stage = await createStage()
    const operator = await stage.world.operator()
    for (let count = 1; count <= 4; count++) {
      await stage.decide(operator)
      stage.later(MINUTE_MS)
      await stage.arrived(operator, count)
    }
    for (let count = 0; count < 3; count++) {
      await stage.decide(operator)
      stage.later(10 * MINUTE_MS)
      await stage.run()
    }
    expect(stage.to(operator)).toHaveLength(4)
    stage.later(30 * MINUTE_MS)
    await stage.arrived(operator, 5)
    expect(header(stage.to(operator)[4]!, 'Subject')).toContain('(and 2 more)')
    await settled(stage, operator)
  })
})

describe.concurrent('who gets none', () => {
  test('whoever has turned mails off: before, meanwhile, or while the mail server was away', async () => {
    await using stage = await createStage()
    const people = await Promise.all([1, 2, 3].map(() => stage.world.operator()))
    const [before, meanwhile, late] = people as [Person, Person, Person]
    await stage.prefer(before, { email: false })
    for (const person of people) await stage.decide(person)
    // What was written while mails were off stays untold after they were turned on.
    await stage.prefer(before, { email: true })
    await stage.prefer(meanwhile, { email: false })
    await stage.mail.stop()
    stage.later(MINUTE_MS)
    await vi.waitFor(async () => expect(await stage.left(late)).toEqual({ digests: 0, mails: 1 }), BUSY_MS)
    await stage.prefer(late, { email: false })
    await stage.mail.start()
    stage.later(HOUR_MS)
    for (const person of people) await settled(stage, person)
    expect(stage.mail.seen).toEqual([])
  })

  test.each([
    ['without an address', { email: null }],
    ['with an address that is not verified', { email_verified: false }],
    ['with two addresses in one', { email: 'a@test.local, b@test.local' }],
    ['with more than an address', { email: 'a@test.local\r\nBcc: b@test.local' }],
  ])('somebody %s', async (_what, change) => {
    await using stage = await createStage()
    const [operator, other] = [await stage.world.operator(), await stage.world.operator()]
    await stage.db.updateTable('users').set(change).where('id', '=', operator.id).execute()
    await stage.decide(operator)
    await stage.decide(other)
    stage.later(MINUTE_MS)
    await stage.arrived(other, 1)
    await settled(stage, operator)
    expect(stage.mail.seen).toHaveLength(1)
  })

  test('somebody whose address ceased to be verified meanwhile', async () => {
    await using stage = await createStage()
    const operator = await stage.world.operator()
    await stage.decide(operator)
    const change = { email_verified: false }
    await stage.db.updateTable('users').set(change).where('id', '=', operator.id).execute()
    stage.later(MINUTE_MS)
    await settled(stage, operator)
    expect(stage.mail.seen).toEqual([])
  })
})

describe.concurrent('one click', () => {
  test('on the link in the header ends the mails; looking at the link does not', async () => {
    await using stage = await createStage()
    const operator = await stage.world.operator()
    await stage.decide(operator)
    stage.later(MINUTE_MS)
    await stage.arrived(operator, 1)
    const { body: before } = await operator.get('/api/auth/profile')
    const link = linkIn(stage.to(operator)[0]!)
    for (const method of ['GET', 'HEAD']) expect((await fetch(link, { method })).status).toBe(200)
    const looked = await fetch(link)
    expect(await looked.text()).toContain('<form method="post">')
    expect((await operator.get('/api/auth/profile')).body).toEqual(before)

    // As RFC 8058 has it: no cookie, this body, no redirect.
    const form = { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }
    for (let click = 0; click < 2; click++) {
      const done = await fetch(link, { ...form, redirect: 'manual' })
      expect(done.status).toBe(200)
    }
    const after = { ...before, notification_preferences: { email: false, push: true } }
    expect((await operator.get('/api/auth/profile')).body).toEqual(after)
    await stage.decide(operator)
    stage.later(HOUR_MS)
    await stage.run()
    expect(stage.mail.seen).toHaveLength(1)
  })

  test('works with a link of one’s own only', async () => {
    await using stage = await createStage()
    const [operator, other] = [await stage.world.operator(), await stage.world.operator()]
    await stage.decide(operator)
    stage.later(MINUTE_MS)
    await stage.arrived(operator, 1)
    const link = linkIn(stage.to(operator)[0]!)
    const at = link.split('?')[0]
    const signature = link.split('.').at(-1) as string
    const bad = [
      ...[at, `${at}?token=`, `${at}?token=${operator.id}`, `${at}?token=${operator.id}.`, `${link}x`],
      ...[link.slice(0, -1), `${at}?token=${other.id}.${signature}`, `${link}&token=x`, `${at}?token=%00`],
    ]
    for (const url of bad) {
      for (const method of ['GET', 'POST']) expect((await fetch(url!, { method })).status, url).toBe(400)
    }
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      expect((await fetch(link, { method })).status, method).toBe(405)
    }
    for (const person of [operator, other]) {
      const { body } = await person.get('/api/auth/profile')
      expect(body.notification_preferences.email).toBe(true)
    }
  })
})

describe.concurrent('when something is away', () => {
  test('the mail server: the mail arrives once when it is back; what came meanwhile is one more', async () => {
    await using stage = await createStage()
    const operator = await stage.world.operator()
    await stage.mail.stop()
    await stage.decide(operator)
    stage.later(MINUTE_MS)
    await vi.waitFor(
      async () => expect(await stage.left(operator)).toEqual({ digests: 0, mails: 1 }),
      BUSY_MS,
    )
    for (let hour = 0; hour < 12; hour++) {
      await stage.decide(operator)
      stage.later(HOUR_MS)
      await stage.run()
    }
    expect(await stage.left(operator)).toEqual({ digests: 1, mails: 1 })
    await stage.mail.start()
    stage.later(HOUR_MS)
    await stage.arrived(operator, 1)
    stage.later(15 * MINUTE_MS)
    await stage.arrived(operator, 2)
    expect(header(stage.to(operator)[1]!, 'Subject')).toContain('(and 11 more)')
    await settled(stage, operator)
    expect(stage.mail.seen).toHaveLength(2)
  })

  test('the mail server: what is read before it is back is not mailed', async () => {
    await using stage = await createStage()
    const operator = await stage.world.operator()
    await stage.mail.stop()
    await stage.decide(operator, 2)
    stage.later(MINUTE_MS)
    await vi.waitFor(
      async () => expect(await stage.left(operator)).toEqual({ digests: 0, mails: 1 }),
      BUSY_MS,
    )
    await operator.post('/api/notifications/read', { up_to: '2' })
    await stage.mail.start()
    stage.later(HOUR_MS)
    await settled(stage, operator)
    expect(stage.mail.seen).toEqual([])
  })

  test('for three days: given up, and of what is older than that no mail is written', async () => {
    await using stage = await createStage()
    const [waiting, silent] = [await stage.world.operator(), await stage.world.operator()]
    stage.mail.is({ refuses: 'recipient', code: 550 })
    await stage.decide(waiting)
    stage.later(MINUTE_MS)
    await stage.attempted(waiting, 1)
    stage.later(72 * HOUR_MS - 2 * MINUTE_MS)
    await stage.run()
    await stage.attempted(waiting, 2) // or one that began before the time was up would still be under way
    expect((await stage.left(waiting)).mails).toBe(1)

    const old = await stage.session()
    await stage.db
      .updateTable('notifications')
      .set({ created_at: new Date(stage.now().getTime() - 73 * HOUR_MS) })
      .where('user_id', '=', old.owner.id)
      .execute()
    stage.mail.is('takes')
    stage.later(2 * HOUR_MS)
    await Promise.all([settled(stage, waiting), settled(stage, old.owner), settled(stage, silent)])
    expect(stage.mail.taken).toEqual([])
    await old.operator.patch(old.path, { action: 'end' })
  })

  test('the server’s word after the whole mail: sent again as the same mail', async () => {
    await using stage = await createStage()
    const operator = await stage.world.operator()
    stage.mail.is('dies after')
    await stage.decide(operator, 3)
    stage.later(MINUTE_MS)
    await vi.waitFor(() => expect(stage.mail.seen).toHaveLength(1), BUSY_MS)
    await vi.waitFor(async () => {
      const [row] = await stage.db.selectFrom('notification_mails').select('last_error').execute()
      expect(row?.last_error).toContain('may have arrived')
    }, BUSY_MS)
    stage.mail.is('takes')
    await operator.post('/api/notifications/2/read')
    stage.later(MINUTE_MS)
    await stage.arrived(operator, 1)
    const [first, second] = stage.mail.seen as [ReceivedMail, ReceivedMail]
    expect(second.messageId).toMatch(/^<notifications-[0-9a-f-]{36}@wheelhouse\.test>$/)
    expect(second.messageId).toBe(first.messageId)
    expect(second.body).toBe(first.body)
  })

  test('the database: what was to be mailed is mailed when it is back', async () => {
    const database = await createTestDatabase()
    const proxy = await createTcpProxy(database.url)
    try {
      await using stage = await createStage({ env: { DATABASE_URL: proxy.url } })
      const operator = await stage.world.operator()
      await stage.decide(operator)
      proxy.cut()
      stage.later(MINUTE_MS)
      await expect(stage.run()).rejects.toThrow()
      proxy.heal()
      await stage.arrived(operator, 1)
      await settled(stage, operator)
      stage.world.errors.length = 0 // whatever found the database away
    } finally {
      await proxy[Symbol.asyncDispose]()
      await database.drop()
    }
  })
})

test('three workers at once, and notifications that go on: each is told once', {
  timeout: 90_000,
}, async () => {
  await using stage = await createStage({ bus: 'redis' })
  const { world, mail } = stage
  const workers = await Promise.all([world.addNode('worker', mail.env), world.addNode('worker', mail.env)])
  const people = await Promise.all(Array.from({ length: 20 }, () => world.operator()))
  for (let round = 0; round < 3; round++) {
    await Promise.all(people.map((person) => stage.decide(person)))
    stage.later(MINUTE_MS) // the last round is due while the next one is written
  }
  await Promise.all([
    stage.run(),
    ...workers.map(async ({ platform }) => {
      await platform.digests!.run()
      await platform.notificationMails!.runDue()
    }),
  ])
  const told = (person: Person) =>
    stage
      .to(person)
      .flatMap((one) => [...textOf(one).matchAll(/type "(type-\d+)"/g)].map(([, type]) => type))
      .toSorted()
  await vi.waitFor(
    () => {
      stage.later(MINUTE_MS) // who has a mail under way is looked at again in a minute
      for (const person of people) expect(told(person)).toHaveLength(3)
    },
    { timeout: BUSY_MS, interval: 500 },
  )
  for (const person of people) {
    await settled(stage, person)
    expect(new Set(told(person)).size, 'told twice').toBe(3)
  }
  expect(mail.seen).toHaveLength(mail.taken.length)
  const ids = mail.taken.map((one) => one.messageId)
  expect(new Set(ids).size).toBe(ids.length)
})

test('names that look like headers, addresses or markup stay names', async () => {
  await using stage = await createStage()
  const { owner, operator, robot, path } = await stage.session()
  const names = [
    'Arm" <eve@evil.example>, "x =?utf-8?q?=0D=0ABcc:_victim@example.com?=',
    'Arm\r\nBcc: victim@example.com\r\n\r\nHello',
    'Arm\u2028Bcc: victim@example.com\u0085X: y\u202eekaf\u200b',
    'Ärm 🤖 <script>alert(1)</script>',
    'x'.repeat(5_000),
  ]
  for (const [index, name] of names.entries()) {
    await stage.db.updateTable('robots').set({ name }).where('id', '=', robot.id).execute()
    await operator.patch(path, { action: index % 2 ? 'resume' : 'pause' })
  }
  stage.later(MINUTE_MS)
  await stage.arrived(owner, 1)
  const [received] = stage.to(owner) as [ReceivedMail]
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

test('every kind of notification has a subject and a text of its own, whatever its data', () => {
  const told = NotificationType.options.map((type) => tellByMail(type, {}))
  expect(new Set(told.map((one) => one.subject)).size).toBe(NotificationType.options.length)
  for (const { subject, text } of [...told, tellByMail('something.new', {}), tellByMail('toString', {})]) {
    expect(subject.length).toBeGreaterThan(5)
    expect(subject.length).toBeLessThan(80)
    expect(`${subject} ${text}`).not.toMatch(/undefined|null|NaN|object|[\r\n]/)
  }
})
