import {
  certificationStatusTexts,
  closeCodes,
  closeText,
  closeTexts,
  DropReason,
  deliveryStatusTexts,
  dropTexts,
  EndReason,
  eventTitle,
  extensionStatusTexts,
  invoiceStatusTexts,
  logLevelTexts,
  NotificationType,
  PauseReason,
  payoutStatusTexts,
  RobotLog,
  RobotStatus,
  reasonText,
  reasonTexts,
  robotStatusTexts,
  SessionEventType,
  SessionStatus,
  StopReason,
  sessionStatusTexts,
  unavailableTexts,
  webhookOffTexts,
} from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import { messageOf } from '../../../packages/console/src/base/message-of.ts'
import { textOf } from '../../../packages/console/src/notifications/texts.ts'
import { ApiError, NotConnectedError } from '../../../packages/sdk/errors.ts'
import { InvoiceStatus } from '../../../src/modules/billing/invoice.schema.ts'
import { MailLanguage } from '../../../src/modules/notifications/settings.schema.ts'
import { renderNotification } from '../../../src/modules/notifications/texts/mail-texts.ts'
import { CertificationStatus } from '../../../src/modules/operators/certification.schema.ts'
import { UnavailableReason } from '../../../src/modules/operators/schedule.schema.ts'
import { PayoutStatus } from '../../../src/modules/payments/payment.entity.ts'
import { SessionExtension } from '../../../src/modules/sessions/extensions/extension.entity.ts'
import { DeliveryStatus, DisabledReason } from '../../../src/modules/webhooks/webhook.entity.ts'
import { rawWordsIn } from '../../support/browser/raw-texts.ts'

const catalogue: readonly (readonly [string, readonly string[], Readonly<Record<string, string>>])[] = [
  ['pause reasons', PauseReason.options, reasonTexts],
  ['end reasons', EndReason.options, reasonTexts],
  ['stop reasons', StopReason.options, reasonTexts],
  ['drop reasons', DropReason.options, dropTexts],
  ['close reasons', Object.keys(closeCodes), closeTexts],
  ['robot statuses', RobotStatus.options, robotStatusTexts],
  ['session statuses', SessionStatus.options, sessionStatusTexts],
  ['certification statuses', CertificationStatus.options, certificationStatusTexts],
  ['invoice statuses', InvoiceStatus.options, invoiceStatusTexts],
  ['payout statuses', PayoutStatus.options, payoutStatusTexts],
  ['delivery statuses', DeliveryStatus.options, deliveryStatusTexts],
  ['extension statuses', SessionExtension.meta.properties.status.items as string[], extensionStatusTexts],
  ['reasons of a webhook that is off', DisabledReason.options, webhookOffTexts],
  ['reasons of an operator who is not available', UnavailableReason.options, unavailableTexts],
  ['log levels', RobotLog.shape.level.options, logLevelTexts],
]

test.each(catalogue)('%s: every code has a text without codes', (_what, codes, texts) => {
  expect(codes.length).toBeGreaterThan(0)
  for (const code of codes) {
    expect(texts[code], code).toBeTypeOf('string')
    expect(rawWordsIn(texts[code] ?? ''), code).toEqual([])
  }
})

test('every kind of event has a title, and every notification one sentence in a mail', () => {
  for (const type of [...SessionEventType.options, ...NotificationType.options]) {
    expect(eventTitle(type)).toMatch(/^[A-Z][a-z ]+[a-z]$/)
  }
  for (const type of NotificationType.options) {
    for (const reason of [...Object.keys(reasonTexts), 'gone', 'failing']) {
      for (const language of MailLanguage.options) {
        const data = { robot_name: 'Arm', month: '2026-11', reason }
        const { subject, text } = renderNotification(language, type, data)
        expect([...rawWordsIn(subject), ...rawWordsIn(text)], `${type}, ${reason}, ${language}`).toEqual([])
      }
      const shown = textOf({ type, data: { robot_name: 'Arm', reason } })
      expect([...rawWordsIn(shown.title), ...rawWordsIn(shown.detail)], `${type}, ${reason}`).toEqual([])
    }
  }
})

test('a mail names the reason of the platform, and contains no text of a participant', () => {
  expect(
    renderNotification('en', 'session.paused', { robot_name: 'Arm', reason: 'robot_lost' }).text,
  ).toContain('is paused: the robot lost its connection.')
  expect(
    renderNotification('en', 'session.paused', { robot_name: 'Arm', reason: 'Buy at evil.example' }).text,
  ).toContain('is paused. The robot')
})

test('a reason is a text: the words of a known code or a newer one, or the text of a participant', () => {
  expect(reasonText('emergency_stop')).toBe('remote stop')
  expect(reasonText('gripper_is_stuck')).toBe('gripper is stuck')
  expect(reasonText('Lunch, see robot_7')).toBe('Lunch, see robot_7')
  expect(reasonText('toString')).toBe('toString')
  expect(reasonText(null)).toBe('')
  expect(eventTitle('robot.arm_stuck')).toBe('Robot arm stuck')
  expect(closeText(4401)).toBe('The credential was revoked. Sign in again')
  expect(closeText(1006)).toBeUndefined()
})

test.each([
  [new TypeError('Failed to fetch'), /^Cannot reach the platform\. Check your connection/],
  [
    new TypeError('Failed to fetch dynamically imported module: /dashboard/assets/x.js'),
    /^Cannot reach the platform/,
  ],
  [new TypeError('NetworkError when attempting to fetch resource.'), /^Cannot reach the platform/],
  [new ApiError(0, 'The platform cannot be reached'), /Check your connection/],
  [new NotConnectedError('session:action was not sent'), /^No live connection/],
  [
    new ApiError(400, 'contact_email: must be text; tags.0: must not be empty'),
    /^Contact email: must be text; Tags: must/,
  ],
  [new ApiError(400, 'scheduledFor: must be in the future'), /^Scheduled for: must be in the future$/],
  [new ApiError(409, 'A stop is in force. Clear it first.'), /^A stop is in force\. Clear it first\.$/],
  [undefined, /^Unexpected error/],
])('the console shows %s as a sentence', (error, text) => {
  expect(messageOf(error)).toMatch(text)
})
