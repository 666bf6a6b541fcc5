import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CONTACT_MAILS } from '../../../src/modules/support/contact-delivery.ts'
import { type MailServer, startMailServer } from '../../support/network/smtp.ts'
import { query } from '../../support/processes/processes.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const valid = {
  name: 'Jörg',
  email: 'joerg@example.de',
  category: 'Other',
  subject: 'Grüße',
  message: 'Hallo',
}

let mail: MailServer
let world: World
beforeAll(async () => {
  mail = await startMailServer()
  world = await createWorld({ env: mail.env })
})
beforeEach(() => {
  mail.taken.length = 0
  mail.seen.length = 0
  mail.is('takes')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mail.stop()
})

async function send(change: Partial<Record<keyof typeof valid, string>>) {
  const response = await fetch(`${world.baseUrl}/api/contact`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...valid, ...change }),
  })
  return { status: response.status, body: await response.json() }
}
const replyTo = () => /^Reply-To: (.*)$/im.exec(mail.taken.at(-1)?.headers ?? '')?.[1]

describe('the address of a contact message accepts any script', () => {
  test.each([
    ['jörg@exämple.de', 'jörg@exämple.de'],
    ['用户@例え.jp', '用户@例え.jp'],
    ['joerg@exämple.de', 'joerg@xn--exmple-cua.de'],
    ['joerg@xn--exmple-cua.de', 'joerg@xn--exmple-cua.de'],
    ["o'neil+robots@sub.example.co.uk", "o'neil+robots@sub.example.co.uk"],
    ['अजय@डाटा.भारत', 'अजय@डाटा.भारत'],
  ])('%s is stored, delivered, and set as Reply-To', async (email, header) => {
    expect(await send({ email })).toMatchObject({ status: 201, body: { delivered: true } })
    expect(replyTo()).toMatch(/^=\?UTF-8\?Q\?J=C3=B6rg\?= </i)
    expect(replyTo()).toContain(`<${header}>`)
    expect(mail.taken[0]?.headers.match(/^reply-to:/gim)).toHaveLength(1)
    const text = Buffer.from(mail.taken[0]?.body ?? '', 'base64').toString()
    expect(`${mail.taken[0]?.body}${text}`).toContain('Hallo')
    const admin = await world.admin()
    const { contact_messages } = (await admin.get('/api/admin/contact-messages?limit=1')).body
    expect(contact_messages[0].email).toBe(email)
  })

  test('accented letters are stored in one normalized form', async () => {
    const decomposed = 'jo\u0308rg@example.de'
    expect(await send({ email: decomposed })).toMatchObject({ status: 201 })
    expect(replyTo()).toContain('<j\u00f6rg@example.de>')
  })

  test.each([
    'jörg@exämple.de\r\nBcc: victim@example.com',
    'jörg\r\nBcc: victim@example.com@exämple.de',
    'jörg\u2028Bcc: v@exämple.de',
    'jörg\u0085@exämple.de',
    'jörg@exämple.de,victim@example.com',
    'jörg@exämple.de victim@example.com',
    '<jörg@exämple.de>',
    'Jörg <jörg@exämple.de>',
    '"jörg"@exämple.de',
    'jörg@exämple',
    'jörg@@exämple.de',
    '.jörg@exämple.de',
    'jö..rg@exämple.de',
    'jörg\u200b@exämple.de',
    'jö\u202erg@exämple.de',
    'jörg@exämple.de.',
    'jörg@-exämple.de',
    'jörg@127.0.0.1',
    `${'ö'.repeat(33)}@example.de`,
    `jörg@${'ä'.repeat(64)}.de`,
    'j\ud800rg@example.de',
  ])('%j is rejected, and the error names the field', async (email) => {
    expect(await send({ email })).toEqual({
      status: 400,
      body: { error: expect.stringMatching(/^email: must be one e-mail address/) },
    })
    expect(mail.seen).toEqual([])
  })

  test('a mail server that rejects such a header receives the message without it, with the address in the body', async () => {
    mail.is({ refuses: 'message', code: 554 })
    const { body } = await send({ email: 'jörg@exämple.de' })
    expect(body).toMatchObject({ stored: true, delivered: false })
    mail.is('takes')
    await query(world.database.url, 'update pgboss.job set start_after = now()')
    await waitFor(async () => {
      await world.runJobs(CONTACT_MAILS)
      expect(mail.taken).toHaveLength(1)
    })
    expect(mail.taken[0]?.headers).not.toMatch(/^reply-to:/im)
    const raw = mail.taken[0]?.body ?? ''
    expect(`${Buffer.from(raw, 'base64')}${raw.replace(/=C3=B6/g, 'ö').replace(/=C3=A4/g, 'ä')}`).toContain(
      'jörg@exämple.de',
    )
  })
})

describe('leading and trailing whitespace', () => {
  test('is removed', async () => {
    const blank = ' \t\u00a0\n'
    const email = `${blank}joerg@example.de${blank}`
    const written = { email, name: '  Jörg ', subject: ' Grüße\u3000', message: '\n\n  Hallo\n there \n' }
    expect(await send(written)).toMatchObject({ status: 201, body: { delivered: true } })
    const admin = await world.admin()
    const { contact_messages } = (await admin.get('/api/admin/contact-messages?limit=1')).body
    expect(contact_messages[0]).toMatchObject({
      email: 'joerg@example.de',
      name: 'Jörg',
      subject: 'Grüße',
      message: 'Hallo\n there',
    })
  })

  test.each(['name', 'email', 'subject', 'message'])(
    'without other characters is rejected, and the error names %s',
    async (field) => {
      for (const blank of ['', '   ', '\n\t', '\u00a0\u3000']) {
        expect(await send({ [field]: blank })).toEqual({
          status: 400,
          body: { error: `${field}: must not be empty` },
        })
      }
    },
  )
})

test('the other address fields accept any script, too', async () => {
  const client = await world.client()
  for (const contact_email of ['jörg@exämple.de', '用户@例え.jp']) {
    expect(await client.patch('/api/client/profile', { contact_email: ` ${contact_email} ` })).toMatchObject({
      status: 200,
      body: { contact_email },
    })
  }
  const wanted = { email: '用户@例え.jp', robot_type: 'so-101' }
  expect(await client.post('/api/robot-request', wanted)).toMatchObject({ status: 201 })
})
