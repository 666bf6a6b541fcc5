import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type MailServer, startMailServer } from '../../support/network/smtp.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const categories = [
  'General Inquiry',
  'Bug Report',
  'Feature Request',
  'Sales & Pricing',
  'Partnership',
  'Career/Jobs',
  'Technical Support',
  'Billing & Payments',
  'Press & Media',
  'Other',
]
const valid = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  category: 'Bug Report',
  subject: 'The gripper does not let go',
  message: 'It holds on.\nSince Monday.',
}

let mail: MailServer
let world: World
let admin: TestUser
/** Advances with every reading, so that "newest first" is unambiguous. */
let clockMs = Date.now()
beforeAll(async () => {
  mail = await startMailServer()
  world = await createWorld({ env: mail.env, now: () => new Date(clockMs++) })
  admin = await world.admin()
})
beforeEach(() => {
  mail.taken.length = 0
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mail.stop()
})

/** Sends a contact message without a credential. */
async function send(body: unknown, url = world.baseUrl) {
  const response = await fetch(`${url}/api/contact`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}
const listed = async (query = '') =>
  (await admin.get(`/api/admin/contact-messages${query}`)).body.contact_messages as { id: string }[]

describe('POST /api/contact', () => {
  test('POST /api/contact: stores the message, delivers it immediately and reports the delivery', async () => {
    const reply = await send(valid)

    expect(reply).toEqual({
      status: 201,
      body: {
        success: true,
        stored: true,
        delivered: true,
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        message: expect.any(String),
      },
    })
    // The reply says that the mail server has the message; the row is updated right after that.
    await waitFor(async () =>
      expect((await listed())[0]).toEqual({
        id: reply.body.id,
        ...valid,
        created_at: expect.stringMatching(/Z$/),
        delivered: true,
        delivered_at: expect.stringMatching(/Z$/),
        attempts: 1,
        next_attempt_at: null,
        last_error: null,
      }),
    )
    expect(mail.taken).toHaveLength(1)
    expect(mail.taken[0]).toMatchObject({
      from: 'hub@wheelhouse.test',
      to: ['support@wheelhouse.test'],
      messageId: `<contact-${reply.body.id}@wheelhouse.test>`,
    })
  })

  test('the mail is plain text from the platform, with the visitor as Reply-To', async () => {
    await send(valid)
    const { headers, body } = mail.taken[0]!
    expect(headers).toContain('From: Wheelhouse <hub@wheelhouse.test>')
    expect(headers).toContain('To: support@wheelhouse.test')
    expect(headers).toContain('Reply-To: Ada Lovelace <ada@example.com>')
    expect(headers).toContain('Subject: [Bug Report] The gripper does not let go')
    expect(headers).toMatch(/^Content-Type: text\/plain/m)
    expect(body).toContain('From: Ada Lovelace <ada@example.com>')
    expect(body).toContain('It holds on.\r\nSince Monday.')
  })

  test.each(categories)('accepts the category %s', async (category) => {
    expect(await send({ ...valid, category })).toMatchObject({ status: 201, body: { delivered: true } })
    expect(mail.taken[0]?.headers).toContain(`Subject: [${category}] `)
  })

  test('accepts fields of maximum length in any script', async () => {
    const long = {
      name: 'ß'.repeat(100),
      subject: '機'.repeat(200),
      message: '🦾'.repeat(5_000),
      category: 'Other',
      email: `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(59)}.example.com`,
    }
    const reply = await send(long)
    expect(reply).toMatchObject({ status: 201, body: { delivered: true } })
    expect((await listed())[0]).toMatchObject({ id: reply.body.id, ...long })
  })

  test.each([
    ...Object.keys(valid).map((field) => [field, { [field]: undefined }, 'absent'] as const),
    ...Object.keys(valid).map((field) => [field, { [field]: null }, 'null'] as const),
    ...Object.keys(valid).map((field) => [field, { [field]: ' ' }, 'blank'] as const),
    ...Object.keys(valid).map((field) => [field, { [field]: 7 }, 'a number'] as const),
    ...Object.keys(valid).map((field) => [field, { [field]: ['x'] }, 'a list'] as const),
    ...Object.keys(valid).map((field) => [field, { [field]: 'a\0b' }, 'with NUL'] as const),
    ['name', { name: 'a'.repeat(101) }, 'too long'],
    ['name', { name: '\u200b\u2060' }, 'invisible'],
    ['name', { name: 'Ada\u202eecalevoL' }, 'with a direction override'],
    ['subject', { subject: 'one\u2028two' }, 'on two lines'],
    ['email', { email: `${'a'.repeat(245)}@example.com` }, 'too long'],
    ['subject', { subject: 'a'.repeat(201) }, 'too long'],
    ['message', { message: 'a'.repeat(10_001) }, 'too long'],
    ['message', { message: 'a\ud800' }, 'half a character'],
    ['email', { email: 'ada' }, 'no address'],
    ['email', { email: 'ada@example' }, 'no domain'],
    ['email', { email: 'a@example.com,b@example.com' }, 'two addresses'],
    ['email', { email: 'Ada <ada@example.com>' }, 'with a name'],
    ['category', { category: 'bug report' }, 'in small letters'],
    ['category', { category: 'Complaint' }, 'unknown'],
    ['phone', { phone: '1' }, 'no field'],
    ['delivered', { delivered: true }, 'no field'],
  ] as const)('answers 400 naming %s for %j (%s)', async (field, change, _why) => {
    const before = (await listed('?limit=1'))[0]?.id
    const reply = await send({ ...valid, ...change })
    expect(reply).toEqual({ status: 400, body: { error: expect.stringContaining(field) } })
    expect((await listed('?limit=1'))[0]?.id).toBe(before)
    expect(mail.taken).toEqual([])
  })

  const injections = ['\r\nBcc: victim@example.com', '\nBcc: victim@example.com', '\rBcc: victim@example.com']
  test.each(
    ['name', 'subject', 'email', 'category'].flatMap((field) =>
      [...injections, '\u0085Bcc: x@example.com'].map((tail) => [field, tail] as const),
    ),
  )('rejects header injection through %s (%j)', async (field, tail) => {
    const value = valid[field as keyof typeof valid]
    for (const text of [value + tail, `${value}${tail}\r\n\r\n<script>`]) {
      expect(await send({ ...valid, [field]: text })).toMatchObject({ status: 400 })
    }
    expect(mail.taken).toEqual([])
  })

  test('a name and a subject that look like headers or addresses stay plain text', async () => {
    const name = 'Eve" <eve@evil.example>, "x'
    const subject = 'Bcc: victim@example.com =?utf-8?q?=0D=0ABcc:_victim@example.com?='
    expect(
      await send({ ...valid, name, subject, message: 'x\r\nBcc: v@example.com\r\n.\r\nMAIL FROM:<x>' }),
    ).toMatchObject({ status: 201, body: { delivered: true } })
    const [received] = mail.taken
    expect(received?.to).toEqual(['support@wheelhouse.test'])
    expect(received?.headers).not.toMatch(/^b?cc:/im)
    expect(received?.headers.match(/^reply-to:.*$/gim)).toHaveLength(1)
    expect(received?.headers).toMatch(/^Reply-To: .*<ada@example\.com>$/m)
    expect(received?.body).toContain('MAIL FROM:<x>')
  })

  test('an invalid credential does not affect the answer', async () => {
    const response = await fetch(`${world.baseUrl}/api/contact`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: 'Bearer nonsense' },
      body: JSON.stringify(valid),
    })
    expect(response.status).toBe(201)
  })
})

describe('GET /api/admin/contact-messages', () => {
  test('lists each message once, newest first, in pages', async () => {
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.unshift((await send({ ...valid, subject: `page ${n}` })).body.id)

    expect((await listed()).slice(0, 5).map((item) => item.id)).toEqual(ids)
    const first = await listed('?limit=2')
    const second = await listed(`?limit=2&before=${first[1]?.id}`)
    const third = await listed(`?limit=1&before=${second[1]?.id}`)
    expect([...first, ...second, ...third].map((item) => item.id)).toEqual(ids)
    expect(await listed(`?before=${randomUUID()}`)).toEqual([])
  })

  test('pages through messages of the same millisecond', async () => {
    const at = new Date(clockMs++)
    const { id: last } = (await listed('?limit=1'))[0]!
    const made = await world.platform.core.db
      .insertInto('contact_messages')
      .values(
        Array.from(
          { length: 4 },
          () => ({ id: randomUUID(), ...valid, created_at: at, delivered_at: at }) as const,
        ).map((row) => ({ ...row, category: 'Other' as const })),
      )
      .returning('id')
      .execute()
    const paged: string[] = []
    for (let before = ''; paged.at(-1) !== last; before = `&before=${paged.at(-1)}`) {
      paged.push(...(await listed(`?limit=1${before}`)).map((item) => item.id))
    }
    expect(paged.slice(0, -1).sort()).toEqual(made.map((row) => row.id).sort())
  })

  test('filters delivered and pending messages', async () => {
    mail.is({ refuses: 'message', code: 554 })
    const waiting = (await send(valid)).body.id
    mail.is('takes')
    const delivered = (await send(valid)).body.id

    expect((await listed('?delivered=false')).map((item) => item.id)).toEqual([waiting])
    const others = (await listed('?delivered=true')).map((item) => item.id)
    expect(others[0]).toBe(delivered)
    expect(others).not.toContain(waiting)
    expect((await listed('?delivered=false'))[0]).toMatchObject({
      delivered: false,
      delivered_at: null,
      attempts: 1,
      last_error: expect.stringContaining('554'),
      next_attempt_at: expect.stringMatching(/Z$/),
    })
    clockMs += 3_600_000
    await waitFor(async () => expect(await listed('?delivered=false')).toEqual([]))
  })

  test.each(['limit=0', 'limit=201', 'limit=x', 'before=7', 'delivered=yes', 'delivered=', 'status=x'])(
    'answers 400 to ?%s',
    async (query) => {
      const reply = await admin.get(`/api/admin/contact-messages?${query}`)
      const field = query.split('=')[0] as string
      expect(reply).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) } })
    },
  )

  test('is for admins only', async () => {
    for (const user of [await world.client(), await world.operator(), await world.newUser()]) {
      expect((await user.get('/api/admin/contact-messages')).status).toBe(403)
    }
    expect((await fetch(`${world.baseUrl}/api/admin/contact-messages`)).status).toBe(401)
  })
})
