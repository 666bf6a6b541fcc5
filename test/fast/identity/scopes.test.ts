import { type ApiKeyScope, permissions, ApiKeyScope as Scopes } from '@wheelhouse/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/errors/errors.ts'
import type { Access, Caller } from '../../../src/core/http/endpoint.ts'
import { declaredEndpoints } from '../../../src/roles/api/declared-endpoints.ts'
import type { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const scopes = Scopes.options
const every = [...scopes]

let world: World
let session: SessionFixture
beforeAll(async () => {
  world = await createWorld()
  session = await openSessionFixture(world)
})
afterAll(() => world[Symbol.asyncDispose]())

async function keyOf(user: TestUser, ...limits: ApiKeyScope[]): Promise<{ id: string; key: string }> {
  const reply = await user.post('/api/auth/api-keys', { name: limits.join(), scopes: limits })
  expect(reply.status).toBe(201)
  return reply.body
}

describe('every route', () => {
  /** What a key needs for a route without an action of the table; by default `read` to read and `admin` to write. */
  const exceptions: Readonly<Record<string, ApiKeyScope>> = {
    'POST /api/sessions': 'drive',
    'POST /api/sessions/{id}/episodes': 'sessions',
    'POST /api/sessions/{id}/messages': 'sessions',
    'POST /api/sessions/{id}/control': 'drive',
    'POST /api/sessions/{id}/extend': 'sessions',
    'POST /api/sessions/{id}/rate': 'sessions',
    'POST /api/sessions/{id}/ticket': 'read',
    'POST /api/sessions/{id}/foxglove': 'read',
    'POST /api/sessions/export': 'read',
    'POST /api/session-exports': 'read',
    'POST /api/session-exports/count': 'read',
    'DELETE /api/session-exports/{id}': 'read',
    'DELETE /api/recordings/{id}': 'robots',
    'POST /api/recordings/{id}/shares': 'robots',
    'DELETE /api/recordings/{id}/shares/{share}': 'robots',
    'POST /api/recordings/{id}/bookmarks': 'robots',
    'DELETE /api/recordings/{id}/bookmarks/{bookmark}': 'robots',
  }
  const routes = declaredEndpoints().flatMap(({ method, path, access }) =>
    access === 'public' ? [] : [{ route: `${method.toUpperCase()} ${path}`, access }],
  )

  function expected(
    route: string,
    { sessionOnly, action }: Exclude<Access, 'public'>,
  ): readonly ApiKeyScope[] {
    if (sessionOnly) return []
    if (action === undefined) return [exceptions[route] ?? (route.startsWith('GET ') ? 'read' : 'admin')]
    const needed: readonly ApiKeyScope[] = permissions[action].scopes
    return needed.length === 0 ? every : needed
  }
  const callerWith = (credential: Caller['credential']): Caller => ({
    userId: session.client.id,
    displayName: 'All roles',
    roles: ['client', 'operator', 'admin'],
    organization: { id: session.client.id, role: 'owner', groupIds: null },
    permissionsVersion: 0,
    credential,
  })
  function passes(route: string, access: Exclude<Access, 'public'>, limits: readonly ApiKeyScope[] | null) {
    const credential = { kind: 'api_key', id: session.client.id, expiresAt: null, scopes: limits } as const
    try {
      world.platform.identity.auth.authorize(callerWith(credential), access, route.split(' ')[0] as string)
      return true
    } catch (cause) {
      if (cause instanceof AppError && cause.status === 403) return false
      throw cause
    }
  }

  test('admits the scopes of the table, each alone, and a key without scopes', () => {
    for (const { route, access } of routes) {
      const admitted = scopes.filter((scope) => passes(route, access, [scope]))
      expect({ route, admitted }).toEqual({
        route,
        admitted: scopes.filter((scope) => expected(route, access).includes(scope)),
      })
      expect(passes(route, access, null), route).toBe(!access.sessionOnly)
    }
  })

  test('that is an exception exists', () => {
    const known = routes.map(({ route }) => route)
    expect(Object.keys(exceptions).filter((route) => !known.includes(route))).toEqual([])
  })
})

test.each<[method: string, path: string, body: unknown, admitted: readonly ApiKeyScope[]]>([
  ['GET', '/api/client/robots', undefined, ['read']],
  ['PATCH', '/api/client/robots/{robot}', { notes: 'x' }, ['robots']],
  ['GET', '/api/client/invoices', undefined, ['billing']],
  ['GET', '/api/webhooks', undefined, ['admin']],
  ['GET', '/api/events?after=latest', undefined, ['read']],
  ['GET', '/api/sessions/{session}', undefined, ['read']],
  ['POST', '/api/sessions/{session}/messages', { body: 'hi' }, ['sessions']],
  ['POST', '/api/sessions/{session}/ticket', { part: 'watch' }, ['read']],
  ['POST', '/api/sessions/{session}/foxglove', undefined, ['read']],
  ['PATCH', '/api/sessions/{session}', { action: 'cancel' }, ['sessions']],
  ['GET', '/api/organizations/{client}/service-accounts', undefined, ['admin']],
])('over REST, %s %s with the body %j takes %j', async (method, pattern, body, admitted) => {
  const path = pattern
    .replace('{robot}', session.robot.id)
    .replace('{session}', session.id)
    .replace('{client}', session.client.id)
  for (const scope of scopes) {
    const { key } = await keyOf(session.client, scope)
    const reply = await session.client.request(method, path, body, key)
    const code = reply.headers.get('Wheelhouse-Error')
    const refused = code === 'scope_required' || code === 'permission_required'
    expect({ scope, refused }, JSON.stringify(reply.body)).toEqual({
      scope,
      refused: !admitted.includes(scope),
    })
  }
})

test('control of a robot takes read and drive', async () => {
  const path = `/api/sessions/${session.id}/ticket`
  const statusWith = async (...limits: ApiKeyScope[]) => {
    const { key } = await keyOf(session.operator, ...limits)
    return (await session.operator.request('POST', path, { part: 'control' }, key)).status
  }
  expect([await statusWith('read'), await statusWith('drive')]).toEqual([403, 403])
  expect(await statusWith('read', 'drive')).toBe(201)
})

test('a key does not get the stored response to a key with other scopes', async () => {
  const post = async (key: string) => {
    const response = await fetch(`${world.baseUrl}/api/sessions/${session.id}/ticket`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': 'once',
      },
      body: JSON.stringify({ part: 'control' }),
    })
    await response.body?.cancel()
    return [response.status, response.headers.get('Idempotent-Replayed')]
  }
  const [driver, reader] = [
    await keyOf(session.operator, 'read', 'drive'),
    await keyOf(session.operator, 'read'),
  ]
  expect(await post(driver.key)).toEqual([201, null])
  expect(await post(driver.key)).toEqual([201, 'true'])
  expect(await post(reader.key)).toEqual([403, null])
})

test('a ticket has at most the scopes of its key', async () => {
  const { id } = await keyOf(session.client, 'read')
  const { callerOfTicket } = world.platform.identity.auth
  const ticket = { userId: session.client.id, organizationId: session.client.id, endsAt: undefined }
  expect((await callerOfTicket({ ...ticket, apiKeyId: id })).credential).toMatchObject({ scopes: ['read'] })
  const plain = await session.client.key()
  expect((await callerOfTicket({ ...ticket, apiKeyId: plain.id })).credential).toMatchObject({ scopes: null })
  const unknown = await callerOfTicket({ ...ticket, apiKeyId: crypto.randomUUID() })
  expect(unknown.credential).toMatchObject({ scopes: [] })
})

test('over the hub, each command takes its scope, any key stops, and only read gets notifications', async () => {
  const sockets = {} as Record<ApiKeyScope, TestHubSocket>
  for (const scope of scopes)
    sockets[scope] = await session.client.hub({ token: (await keyOf(session.client, scope)).key })
  const of = { session_id: session.id }
  const commands: [name: string, input: object, admitted: readonly ApiKeyScope[]][] = [
    ['ping', {}, every],
    ['session:unwatch', of, every],
    ['session:watch', of, ['read']],
    ['robots:watch', {}, ['read']],
    ['notifications:since', {}, ['read']],
    ['chat:send', { ...of, body: 'hi' }, ['sessions']],
    ['chat:typing', of, ['sessions']],
    ['session:action', { ...of, action: 'cancel' }, ['sessions']],
    ['session:action', { ...of, action: 'emergency_stop' }, every],
  ]
  for (const [name, input, admitted] of commands)
    for (const scope of scopes) {
      const unique = name === 'chat:send' ? { client_message_id: `${name} ${scope}` } : {}
      const { ok, status } = await sockets[scope].send(name, { ...input, ...unique })
      // 409 is past the check: an active session cannot be cancelled.
      const outcome = ok || status === 409 ? 'admitted' : status
      expect(outcome, `${name} ${scope}`).toBe(admitted.includes(scope) ? 'admitted' : 403)
    }
  await sockets.read.saw('notification', { type: 'session.stopped' })
  for (const scope of scopes) {
    await sockets[scope].send('ping')
    expect(sockets[scope].of('notification').length > 0, scope).toBe(scope === 'read')
    sockets[scope].close()
  }
})
