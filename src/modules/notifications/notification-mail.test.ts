import { randomUUID } from 'node:crypto'
import { NotificationType } from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import { notificationMail } from './notification-mail.ts'
import { MailLanguage } from './settings.schema.ts'
import { renderNotification } from './texts/mail-texts.ts'

test.each(MailLanguage.options)(
  'every notification type has its own subject and text for any data: %s',
  (language) => {
    const notified = NotificationType.options.map((type) => renderNotification(language, type, {}))
    expect(new Set(notified.map((item) => item.subject)).size).toBe(NotificationType.options.length)
    for (const { subject, text } of [
      ...notified,
      renderNotification(language, 'something.new', {}),
      renderNotification(language, 'toString', {}),
    ]) {
      expect(subject.length).toBeGreaterThan(5)
      expect(subject.length).toBeLessThan(80)
      expect(`${subject} ${text}`).not.toMatch(/undefined|null|NaN|object|[\r\n]/)
    }
  },
)

test('a mail about an export links to it, and only to a valid id', () => {
  const platform = { baseUrl: 'https://hub.test', domain: 'hub.test', unsubscribeUrl: 'https://hub.test/u' }
  const linkTo = (export_id: string) => {
    const data = { export_id, format: 'csv', rows: 12, bytes: 3 }
    const notification = { seq: 1, type: 'export.ready', data, created_at: new Date(0) }
    const mail = { id: 'm', to: 'a@b.test', language: null, notifications: [notification], more: 0 }
    return /^https:.*dashboard.*$/m.exec(notificationMail(mail, platform).text)?.[0]
  }
  const id = randomUUID()
  expect(linkTo(id)).toBe(`https://hub.test/dashboard/exports?export=${id}`)
  expect(linkTo('evil.example')).toBe('https://hub.test/dashboard')
})

const platform = {
  baseUrl: 'https://hub.test',
  domain: 'hub.test',
  unsubscribeUrl: 'https://hub.test/unsubscribe?token=a&b',
}
const mailOf = (data: Record<string, unknown>[], more = 0, language: MailLanguage | null = null) =>
  notificationMail(
    {
      id: 'm',
      to: 'a@b.test',
      language,
      notifications: data.map((item, index) => ({
        seq: index,
        type: 'session.started',
        data: item,
        created_at: new Date(0),
      })),
      more,
    },
    platform,
  )

test('the HTML part escapes names, contains the same texts, one button, and loads nothing', () => {
  const session_id = randomUUID()
  const mail = mailOf([{ robot_name: '<img src=x onerror=alert(1)>&"', session_id }])
  const html = mail.html as string
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;&amp;&quot;')
  expect(html).not.toMatch(/<(img|script|link|iframe|form|object)|@import|url\(|\bsrc=(?!x)/)
  expect(html).toContain('1970-01-01 00:00 UTC')
  expect(html).toContain('An operator has taken over robot')
  const links = [...html.matchAll(/<a\b[^>]*href="([^"]*)"[^>]*>([^<]*)/g)].map(([, href, text]) => [
    text,
    href,
  ])
  expect(links).toEqual([
    ['Open session', `https://hub.test/dashboard?session=${session_id}`],
    ['Unsubscribe from mails about notifications', 'https://hub.test/unsubscribe?token=a&amp;b'],
  ])
  expect(html).toMatch(/prefers-color-scheme:dark/)
  expect(mail.text).toContain('An operator has taken over robot')
})

test('the button leads to the page that all notifications share, otherwise to the console', () => {
  const [one, two] = [{ session_id: randomUUID() }, { session_id: randomUUID() }]
  const button = (html: string | undefined) => /href="([^"]*)"[^>]*>(Open [^<]*)/.exec(html ?? '')?.slice(1)
  const home = ['https://hub.test/dashboard', 'Open console']
  expect(button(mailOf([one, one]).html)).toEqual([
    `https://hub.test/dashboard?session=${one.session_id}`,
    'Open session',
  ])
  expect(button(mailOf([one, two]).html)).toEqual(home)
  expect(button(mailOf([one], 3).html)).toEqual(home)
  expect(mailOf([one], 3).html).toContain('And 3 older notifications.')
  expect(button(mailOf([{}]).html)).toEqual(home)
  const exported = { export_id: randomUUID() }
  expect(button(mailOf([exported]).html)?.[1]).toBe('Open export')
})

test('a German mail is German as a whole, in both parts', () => {
  const session_id = randomUUID()
  const { subject, text, html } = mailOf([{ robot_name: 'Greifer', session_id }], 2, 'de')
  expect(subject).toBe('Sitzung mit „Greifer“ begonnen (und 2 weitere)')
  expect(text).toContain('Ein Operator hat den Roboter „Greifer“ übernommen.')
  expect(text).toContain('Und 2 ältere Benachrichtigungen: https://hub.test/dashboard')
  expect(text).toContain('E-Mails über Benachrichtigungen abbestellen: https://hub.test/unsubscribe')
  expect(html).toContain('<html lang="de">')
  expect(html).toContain('Konsole öffnen')
  expect(`${text} ${html}`).not.toMatch(/\b(You|Open|And|the|older|Unsubscribe)\b/)
})

test('a name that looks like headers or markup, or that is long, stays one short line', () => {
  const names: [string, string][] = [
    ['Arm\r\nBcc: victim@example.com\r\n\r\nHello', '"Arm Bcc: victim@example.com Hello"'],
    ['Arm\u2028Bcc: victim@example.com\u0085X: y\u202eekaf\u200b', '"Arm Bcc: victim@example.com X: y ekaf"'],
    ['Ärm 🤖 <script>alert(1)</script>', '"Ärm 🤖 <script>alert(1)</script>"'],
    ['x'.repeat(5_000), `"${'x'.repeat(60)}..."`],
  ]
  for (const [robot_name, shown] of names) {
    const { subject, text, html } = mailOf([{ robot_name }])
    expect(subject).toContain(shown)
    expect(text).toContain(shown)
    expect(`${subject} ${text}`).not.toMatch(/[\r\u2028\u0085\u202e\u200b]/)
    expect(subject).not.toContain('\n')
    expect(text).not.toMatch(/^(bcc|x):/im)
    expect(html).not.toContain('<script')
  }
})
