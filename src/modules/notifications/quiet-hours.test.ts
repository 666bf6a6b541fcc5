import { expect, test } from 'vitest'
import { heldUntil, quietUntil } from './quiet-hours.ts'
import type { QuietHours } from './settings.schema.ts'

const nights: QuietHours = {
  start: '22:00',
  end: '07:00',
  time_zone: 'Europe/Berlin',
  days: [1, 2, 3, 4, 5, 6, 7],
  safety_passes: true,
}
const until = (hours: QuietHours, at: string) => quietUntil(hours, new Date(at))?.toISOString()

test('quiet hours over midnight end on the next morning, in local time', () => {
  expect(until(nights, '2026-11-23T20:59:59Z')).toBeUndefined()
  expect(until(nights, '2026-11-23T21:00:00Z')).toBe('2026-11-24T06:00:00.000Z')
  expect(until(nights, '2026-11-24T05:59:59Z')).toBe('2026-11-24T06:00:00.000Z')
  expect(until(nights, '2026-11-24T06:00:00Z')).toBeUndefined()
})

test('a night in which the clocks change ends at the local time', () => {
  expect(until(nights, '2026-10-24T21:00:00Z')).toBe('2026-10-25T06:00:00.000Z')
  expect(until(nights, '2026-03-28T22:00:00Z')).toBe('2026-03-29T05:00:00.000Z')
})

test('a day is the day on which quiet hours begin', () => {
  const friday = { ...nights, days: [5] }
  expect(until(friday, '2026-11-28T05:00:00Z')).toBe('2026-11-28T06:00:00.000Z')
  expect(until(friday, '2026-11-28T21:30:00Z')).toBeUndefined()
  const lunch = { ...nights, start: '12:00', end: '13:00', days: [1] }
  expect(until(lunch, '2026-11-23T11:30:00Z')).toBe('2026-11-23T12:00:00.000Z')
  expect(until(lunch, '2026-11-24T11:30:00Z')).toBeUndefined()
})

test('remote stops and lost robots pass unless the user holds them back', () => {
  const at = new Date('2026-11-23T23:00:00Z')
  expect(heldUntil(nights, 'session.started', at)).toBeDefined()
  expect(heldUntil(nights, 'session.stopped', at)).toBeUndefined()
  expect(heldUntil(nights, 'robot.lost', at)).toBeUndefined()
  expect(heldUntil({ ...nights, safety_passes: false }, 'robot.lost', at)).toBeDefined()
  expect(heldUntil(null, 'session.started', at)).toBeUndefined()
})
