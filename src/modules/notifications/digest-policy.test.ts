import { describe, expect, test } from 'vitest'
import { type DigestInput, decide, isUrgent, mailDueAt } from './digest-policy.ts'

const NOW = new Date('2026-05-10T12:00:00Z')
const MINUTE_MS = 60_000
const ago = (minutes: number) => new Date(NOW.getTime() - minutes * MINUTE_MS)
const inMinutes = (minutes: number) => ago(-minutes)

/** Notifications of these ages in minutes, newest first. */
const pending = (type: string, ...ages: number[]) =>
  ages.map((age, index) => ({ seq: ages.length - index, type, created_at: ago(age) }))
const mails = (...ages: number[]) => ages.map((age) => ({ created_at: ago(age), delivered_at: ago(age) }))
const undelivered = (...ages: number[]) => ages.map((age) => ({ created_at: ago(age), delivered_at: null }))
const decided = (change: Partial<DigestInput>) =>
  decide(NOW, { pending: pending('session.ended', 5), canMail: true, isAtHub: false, mails: [], ...change })

const MAIL = { kind: 'mail', urgent: false }
const URGENT_MAIL = { kind: 'mail', urgent: true }
const later = (minutes: number) => ({ kind: 'later', at: inMinutes(minutes) })

describe('a digest', () => {
  test.each<[string, Partial<DigestInput>, object]>([
    ['of nothing is no mail', { pending: [] }, { kind: 'nothing' }],
    ['without an address, or with mails off, is no mail', { canMail: false }, { kind: 'nothing' }],
    ['is mailed after a minute', { pending: pending('session.ended', 1) }, MAIL],
    ['is not mailed before', { pending: pending('session.ended', 0.5) }, later(0.5)],
    ['is due with its oldest notification', { pending: pending('session.ended', 0, 1) }, MAIL],
    ['of a remote stop is mailed at once', { pending: pending('session.stopped', 0) }, URGENT_MAIL],
    ['of a lost robot is mailed at once', { pending: pending('robot.lost', 0) }, URGENT_MAIL],
    [
      'with one urgent notification is urgent',
      { pending: [...pending('robot.lost', 0), ...pending('session.ended', 3)] },
      URGENT_MAIL,
    ],
    ['waits for the end of quiet hours', { heldUntil: inMinutes(200) }, later(200)],
    ['is checked again while the user is at the hub', { isAtHub: true }, later(5)],
    [
      'is checked after a minute at the earliest',
      { isAtHub: true, pending: pending('session.ended', 0, 1) },
      later(1),
    ],
    [
      'is checked after fifteen minutes at the latest',
      { isAtHub: true, pending: pending('session.ended', 300) },
      later(15),
    ],
    [
      'of a stop is mailed to a user at the hub, too',
      { isAtHub: true, pending: pending('session.stopped', 0) },
      URGENT_MAIL,
    ],
    ['waits for the mail before', { mails: undelivered(3) }, later(5)],
    [
      'of a stop waits for three mails only',
      { pending: pending('session.stopped', 0), mails: undelivered(3, 4) },
      URGENT_MAIL,
    ],
    [
      'of a stop waits for three mails',
      { pending: pending('session.stopped', 0), mails: undelivered(3, 4, 5) },
      later(1),
    ],
    ['is the fourth of an hour', { mails: mails(10, 20, 30) }, MAIL],
    ['is not the fifth of an hour', { mails: mails(10, 20, 30, 45) }, later(15)],
    [
      'of a stop is the twelfth of an hour',
      { pending: pending('robot.lost', 0), mails: mails(...Array(11).fill(20)) },
      URGENT_MAIL,
    ],
    [
      'of a stop is not the thirteenth',
      { pending: pending('robot.lost', 0), mails: mails(...Array(12).fill(20)) },
      later(40),
    ],
  ])('%s', (_what, change, expected) => {
    expect(decided(change)).toEqual(expected)
  })

  test('is urgent for stops, requests to clear a stop, and lost robots', () => {
    const types = ['session.stopped', 'session.stop_clear_requested', 'robot.lost']
    for (const type of types) {
      expect(isUrgent(type), type).toBe(true)
      expect(mailDueAt(type, NOW), type).toEqual(NOW)
    }
    expect(isUrgent('session.ended')).toBe(false)
    expect(mailDueAt('session.ended', NOW)).toEqual(inMinutes(1))
  })
})
