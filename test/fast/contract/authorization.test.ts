import { isDeepStrictEqual } from 'node:util'
import { type HubCommandName, hubCommands } from '@wheelhouse/protocol'
import { io } from 'socket.io-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Access } from '../../../src/core/http/endpoint.ts'
import { declaredEndpoints } from '../../../src/roles/api/declared-endpoints.ts'
import {
  type AuthorizationWorld,
  type Caller,
  callers,
  createAuthorizationWorld,
} from '../../support/authorization/authorization-world.ts'
import {
  expectAnswers,
  expectHidden,
  expectNoEntry,
  strangersTo,
} from '../../support/authorization/checks.ts'
import { type Rule, routeRules } from '../../support/authorization/route-rules.ts'
import type { TestUser } from '../../support/world/test-user.ts'

const routes = Object.keys(routeRules)
const ruleOf = (route: string) => routeRules[route] as Rule

/** Whom each access that routes declare admits. */
const admitted: readonly (readonly [Exclude<Access, 'public'>, readonly Caller[]])[] = [
  [{}, callers],
  [{ person: true }, callers],
  [{ role: 'operator', person: true }, ['operator', 'operator key', 'other operator']],
  // Everybody is the owner of a personal organization.
  [{ sessionOnly: true }, callers.filter((caller) => !caller.endsWith('key'))],
  [{ role: 'client' }, ['client', 'client key', 'other client']],
  [{ role: 'operator' }, ['operator', 'operator key', 'other operator']],
  [{ role: 'admin' }, ['admin', 'admin key']],
  [{ role: 'client', sessionOnly: true }, ['client', 'other client']],
  [{ role: 'operator', sessionOnly: true }, ['operator', 'other operator']],
]

let at: AuthorizationWorld
let bad: Awaited<ReturnType<AuthorizationWorld['badCredentials']>>
beforeAll(async () => {
  at = await createAuthorizationWorld()
  bad = await at.badCredentials()
})
afterAll(() => at[Symbol.asyncDispose]())

/** Returns what a declaration says about the credential and the roles of the platform. test/fast/contract/permissions.test.ts checks the rest. */
const kindOf = (access: Access): Access => {
  if (access === 'public') return access
  const { role, sessionOnly, person } = access
  return { ...(role && { role }), ...(sessionOnly && { sessionOnly }), ...(person && { person }) }
}

const admits = (access: Exclude<Access, 'public'>, caller: Caller) =>
  admitted.some(([known, passing]) => isDeepStrictEqual(known, access) && passing.includes(caller))

// test/full/contract/authorization.test.ts asks every route as every caller over HTTP, and with every invalid credential.

describe('a declaration', () => {
  test('exists for every route of the API, with the access of its rule, and for every rule', () => {
    const declared = declaredEndpoints().map(
      ({ method, path, access }) => [`${method.toUpperCase()} ${path}`, kindOf(access)] as const,
    )
    const unlisted = declared.map(([route]) => route).filter((route) => !(route in routeRules))
    expect(unlisted, 'add a line for each to test/support/authorization/route-rules.ts').toEqual([])
    const expected = routes.map((route) => [route, ruleOf(route).access] as const)
    expect(Object.fromEntries(declared)).toEqual(Object.fromEntries(expected))
  })

  test('has one of the known kinds of access', () => {
    const known = admitted.map(([access]) => access)
    for (const route of routes) expect(['public', ...known], route).toContainEqual(ruleOf(route).access)
  })

  test.each(admitted)('with the access %j admits the expected callers only', async (access, expected) => {
    const { authenticateToken, authorize } = at.world.platform.identity.auth
    const passed: Caller[] = []
    for (const caller of callers) {
      const authenticated = await authenticateToken(at.tokens[caller])
      try {
        authorize(authenticated, access, 'GET')
        passed.push(caller)
      } catch (cause) {
        expect(cause, caller).toMatchObject({ status: 403 })
      }
    }
    expect(passed.toSorted()).toEqual(expected.toSorted())
  })
})

describe('over HTTP', () => {
  const isOneOfAKind = (kindOf: (route: string) => string) => (route: string, index: number, all: string[]) =>
    all.findIndex((other) => kindOf(other) === kindOf(route)) === index

  const oneForEachAccess = routes.filter(isOneOfAKind((route) => JSON.stringify(ruleOf(route).access)))
  test.each(oneForEachAccess)('%s admits the expected callers', (route) => expectAnswers(at, route, callers))
  test.each(oneForEachAccess)('%s takes no invalid credential for a valid one', (route) =>
    expectNoEntry(at, route, bad),
  )

  /** Returns the first admitted caller for each status. Those who pass come last, because they use the objects up. */
  function oneForEachStatus(route: string): Caller[] {
    const { access, expected } = ruleOf(route)
    const passing = callers.filter((caller) => access === 'public' || admits(access, caller))
    return passing
      .filter(isOneOfAKind((caller) => String(expected[caller as Caller])))
      .sort((a, b) => expected[b] - expected[a])
  }
  test.each(routes.filter((route) => oneForEachStatus(route).length > 1))(
    '%s decides itself whom of the admitted callers it answers',
    (route) => expectAnswers(at, route, oneForEachStatus(route)),
  )

  const hiding = routes.filter((route) => strangersTo(route).length > 0)
  const kindOfObject = (route: string) => route.replace(/^\w+ (.*?)\/\{.*$/, '$1')
  test.each(hiding.filter(isOneOfAKind(kindOfObject)))(
    '%s answers a foreign id and an unknown one with the same bytes',
    (route) => expectHidden(at, route, strangersTo(route).slice(0, 1)),
  )

  test('a credential in the query string is not accepted', async () => {
    for (const name of ['token', 'access_token', 'api_key', 'key']) {
      const response = await fetch(`${at.world.baseUrl}/api/sessions?${name}=${at.tokens['client key']}`)
      expect(response.status, name).toBe(401)
    }
  })
})

describe('over the hub', () => {
  type Who = 'client' | 'operator' | 'other client' | 'other operator' | 'admin' | 'no role'
  const all = { client: 200, operator: 200, 'other client': 200, 'other operator': 200 } as const
  const allCallers: Record<Who, number> = { ...all, admin: 200, 'no role': 200 }
  const participant: Record<Who, number> = {
    client: 200,
    operator: 200,
    admin: 200,
    'other client': 404,
    'other operator': 404,
    'no role': 404,
  }
  /** The expected status of each command by caller: 200 for ok, else the status of the refusal. */
  const commands: Record<
    HubCommandName,
    { expected: Record<Who, number>; input: () => unknown | Promise<unknown> }
  > = {
    'session:watch': { expected: participant, input: () => ({ session_id: at.sessionId }) },
    'session:unwatch': { expected: allCallers, input: () => ({ session_id: at.sessionId }) },
    'chat:send': {
      expected: participant,
      input: () => ({ session_id: at.sessionId, body: 'hi', client_message_id: `m${at.nextNumber()}` }),
    },
    'chat:typing': { expected: participant, input: () => ({ session_id: at.sessionId }) },
    'session:action': {
      expected: { ...participant, admin: 403 },
      input: async () => ({ session_id: await at.scheduled(), action: 'cancel' }),
    },
    'notifications:since': { expected: allCallers, input: () => ({}) },
    'robots:watch': { expected: allCallers, input: () => ({}) },
    ping: { expected: allCallers, input: () => ({}) },
  }
  const testUsers = (): Record<Who, TestUser> => ({
    client: at.client,
    operator: at.operator,
    admin: at.admin,
    ...at.users,
  })

  test('every command has a rule', () => {
    expect(Object.keys(commands).sort()).toEqual(Object.keys(hubCommands).sort())
  })

  test.each(Object.keys(commands) as HubCommandName[])('%s accepts the expected callers', async (name) => {
    const answers: Record<string, number> = {}
    for (const [who, user] of Object.entries(testUsers())) {
      const socket = await user.hub()
      const ack = await socket.send(name, await commands[name].input())
      answers[who] = ack.ok ? 200 : ack.status
      if (!ack.ok) expect(ack).toEqual({ ok: false, error: expect.any(String), status: ack.status })
      socket.close()
    }
    expect(answers).toEqual(commands[name].expected)
  })

  test('a user who may not watch a session receives nothing of it', async () => {
    const id = await at.scheduled()
    const observer = await at.client.hub()
    await observer.send('session:watch', { session_id: id })
    const curious = await Promise.all(Object.values(at.users).map((user) => user.hub()))
    for (const socket of curious) {
      expect(await socket.send('session:watch', { session_id: id })).toMatchObject({ ok: false, status: 404 })
      await socket.send('robots:watch')
    }
    const typist = await at.operator.hub()
    await typist.send('chat:typing', { session_id: id })
    await typist.send('chat:send', { session_id: id, body: 'secret', client_message_id: 'm' })
    await observer.saw('chat:typing', { session_id: id })
    await observer.saw('session:event', { session_id: id, type: 'chat.message' })
    for (const socket of curious) {
      await socket.send('notifications:since') // earlier events have arrived by now
      expect(socket.events).toEqual([])
      socket.close()
    }
  })

  test('clients watch their own robots, operators watch robots that require no certification or one that they have', async () => {
    const strict = await at.world.robot(at.client, { require_certification: true })
    const followed = async (user: TestUser) => {
      const socket = await user.hub()
      const { robots } = await socket.send('robots:watch')
      socket.close()
      return robots.map((item: { robot_id: string }) => item.robot_id)
    }
    expect(await followed(at.client)).toEqual(expect.arrayContaining([at.robot.id, strict.id]))
    for (const user of [at.operator, at.admin, ...Object.values(at.users)]) {
      const isOperator = user === at.operator || user === at.users['other operator']
      expect((await followed(user)).includes(at.robot.id)).toBe(isOperator)
      expect(await followed(user)).not.toContain(strict.id)
    }
    const certified = await at.world.operator()
    const { id } = (await certified.post('/api/operator/certifications', { robot_type: 'testbot' })).body
    expect(await followed(certified)).not.toContain(strict.id)
    await at.admin.post(`/api/admin/certifications/${id}/approve`)
    expect(await followed(certified)).toContain(strict.id)
  })

  test('a handshake without a valid credential is refused with 401', async () => {
    const handshakes: Record<string, Parameters<typeof io>[1]> = {
      none: {},
      'no string': { auth: { token: 7 } },
      'in the query string': { query: { token: at.client.token } },
    }
    for (const [what, authorization] of Object.entries(bad)) {
      if (authorization === undefined) continue
      handshakes[`header: ${what}`] = { extraHeaders: { Authorization: authorization } }
      const token = authorization.replace(/^Bearer /, '')
      if (token !== at.client.token) handshakes[`auth.token: ${what}`] = { auth: { token } }
    }
    for (const [what, options] of Object.entries(handshakes)) {
      const socket = io(at.world.hubUrl, { ...options, transports: ['websocket'], forceNew: true })
      const refusal = await new Promise((resolve) => {
        socket.once('connect_error', resolve)
        socket.once('connect', () => resolve('connected'))
      })
      socket.close()
      expect(refusal, what).toMatchObject({ data: { error: expect.any(String), status: 401 } })
    }
  })

  test('revoking a key disconnects its sockets permanently, and no others', async () => {
    const [revoked, other] = [await at.client.key(), await at.client.key()]
    const [socket, otherSocket] = [
      await at.client.hub({ token: revoked.key }),
      await at.client.hub({ token: other.key }),
    ]
    expect(await socket.send('robots:watch')).toMatchObject({ ok: true })
    const refused = new Promise<unknown>((resolve) => socket.socket.on('connect_error', resolve))
    await at.client.delete(`/api/auth/api-keys/${revoked.id}`)

    await expect.poll(() => socket.socket.connected).toBe(false)
    socket.socket.connect()
    expect(await refused).toMatchObject({ data: { status: 401 } })
    expect(await otherSocket.send('robots:watch')).toMatchObject({ ok: true })
  })
})
