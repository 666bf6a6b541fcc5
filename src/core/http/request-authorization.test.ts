import type { Context } from 'koa'
import { expect, test } from 'vitest'
import type { Caller } from './endpoint.ts'
import type { RateLimits } from './rate-limits.ts'
import { createRequestLimits } from './request-authorization.ts'

const SESSION = '/api/sessions/one'
const caller = { userId: 'user', credential: { kind: 'session' } } as Caller

/** Returns the limit that a request of the user, who participates in session `one`, counts towards. */
async function limitOf(
  method: string,
  path: string,
  body?: unknown,
  who = caller,
  waitMs = 0,
): Promise<string | null> {
  let counted: string | null = null
  const limits = {
    consume: async (_http: Context, policy: string, key: string) => {
      counted = `${policy} of ${key}`
    },
  } as unknown as RateLimits
  const isParticipant = async (_caller: Caller, sessionId: string) => sessionId === 'one'
  const requestLimits = createRequestLimits({ limits, isParticipant, threadTime: { waitMs: () => waitMs } })
  await requestLimits({} as Context, who, { method, path, body })
  return counted
}

test('a stop of a participant counts towards no limit', async () => {
  expect(await limitOf('PATCH', SESSION, { action: 'emergency_stop' })).toBeNull()
})

test.each([
  ['a stop of another user', 'PATCH', '/api/sessions/two', { action: 'emergency_stop' }, 'sessions'],
  ['another action', 'PATCH', SESSION, { action: 'end' }, 'sessions'],
  ['an action without a body', 'PATCH', SESSION, undefined, 'sessions'],
  ['a stop in another request', 'POST', SESSION, { action: 'emergency_stop' }, 'default'],
  ['a stop on another path', 'PATCH', `${SESSION}/rate`, { action: 'emergency_stop' }, 'default'],
])('%s counts', async (_name, method, path, body, policy) => {
  expect(await limitOf(method, path, body)).toBe(`${policy} of user:user`)
})

test('an API key has its own limit', async () => {
  const credential = { kind: 'api_key', id: 'key', expiresAt: null, scopes: null } as const
  expect(await limitOf('GET', SESSION, undefined, { ...caller, credential })).toBe('default of key:key')
})

test('an account that has used too much processor time is refused, but not its stop', async () => {
  const refusal = await limitOf('GET', SESSION, undefined, caller, 1_500).catch((cause) => cause)
  expect(refusal).toMatchObject({ status: 429, code: 'rate_limited', headers: { 'Retry-After': '2' } })
  expect(await limitOf('PATCH', SESSION, { action: 'emergency_stop' }, caller, 1_500)).toBeNull()
})
