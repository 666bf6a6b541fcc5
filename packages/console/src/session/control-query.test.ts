import type { ControlHolder, ControlRequest } from '@wheelhouse/protocol'
import { expect, test } from 'vitest'
import { outranks, requestsFor } from './control-query.ts'

const holder: ControlHolder = {
  participant_id: 'p',
  kind: 'operator',
  user_id: 'olga',
  name: 'Olga',
  since: '2026-11-20T09:00:00.000Z',
}
const ask = (id: string, change: Partial<ControlRequest>): ControlRequest => ({
  id,
  kind: 'request',
  from: 'sam',
  from_name: 'Sam',
  to: null,
  reason: null,
  expires_at: '2026-11-20T09:01:00.000Z',
  ...change,
})
const nowMs = Date.parse('2026-11-20T09:00:30.000Z')

test('a higher authority takes control; people take what nobody controls, policies do not', () => {
  expect(outranks('supervisor', holder)).toBe(true)
  expect(outranks('operator', holder)).toBe(false)
  expect(outranks('operator', { kind: 'policy' })).toBe(true)
  expect(outranks('operator', null)).toBe(true)
  expect(outranks('policy', null)).toBe(false)
})

test('offers go to their receiver or to those above the holder, requests to the holder, and none after its end', () => {
  const requests = [
    ask('request', {}),
    ask('help', { kind: 'offer', from: 'olga' }),
    ask('mine', { kind: 'offer', from: 'olga', to: 'guest' }),
    ask('old', { expires_at: '2026-11-20T09:00:30.000Z' }),
  ]
  const shown = (id: string, kind: 'operator' | 'supervisor') =>
    requestsFor({ holder, requests }, { id, kind }, nowMs).map((request) => request.id)
  expect(shown('olga', 'operator')).toEqual(['request'])
  expect(shown('guest', 'operator')).toEqual(['mine'])
  expect(shown('vera', 'supervisor')).toEqual(['help'])
  expect(shown('sam', 'operator')).toEqual([])
})
