import { randomUUID } from 'node:crypto'
import { NotificationType } from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import { renderNotification } from '../../../src/modules/notifications/mail-texts.ts'
import { notificationMail } from '../../../src/modules/notifications/notification-mail.ts'

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
