import { expect, test } from 'vitest'
import { lostUntil } from './notices.tsx'

const entry = (seq: number, type: string, data = {}) => ({
  session_id: '00000000-0000-4000-8000-000000000001',
  seq,
  type,
  at: '2026-11-20T12:00:00.000Z',
  data,
})

test('the end of the wait for a lost robot is that of its last loss, until it is back', () => {
  const lost = entry(2, 'robot.lost', { ends_at: '2026-11-20T12:02:00.000Z' })
  expect(lostUntil([entry(1, 'session.started')])).toBeUndefined()
  expect(lostUntil([lost, entry(3, 'chat.message')])).toBe(Date.parse('2026-11-20T12:02:00Z'))
  expect(lostUntil([lost, entry(3, 'robot.back')])).toBeUndefined()
  expect(lostUntil([entry(2, 'robot.lost')]), 'of an earlier version').toBeUndefined()
})
