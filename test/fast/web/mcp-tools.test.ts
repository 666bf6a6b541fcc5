import { readFileSync } from 'node:fs'
import type { Tool } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../../../src/roles/api/mcp/tools/index.ts'
import { connectMcp, type ProtocolVersion } from '../../support/mcp/mcp-client.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World

/** Certifies an operator for a type of robot. */
async function certify(operator: TestUser, robot_type: string) {
  const request = await operator.post('/api/operator/certifications', { robot_type })
  const reply = await (await world.admin()).post(`/api/admin/certifications/${request.body.id}/approve`)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
}

beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

describe.each<ProtocolVersion>(['2025', '2026'])('a client of %s', (protocolVersion) => {
  test.each(['session token', 'API key'])(
    'lists, starts, watches and ends a session with a %s',
    async (kind) => {
      const [owner, operator] = [await world.client(), await world.operator()]
      const robot = await world.robot(owner)
      await certify(operator, 'testbot')
      const link = (await world.connect(robot)).beat()
      const credential = kind === 'API key' ? (await operator.key()).key : operator.token
      await using mcp = await connectMcp(world.baseUrl, credential, protocolVersion)

      expect(mcp.client.getServerVersion()).toMatchObject({ name: 'wheelhouse', version: expect.any(String) })
      expect(await mcp.toolNames()).toContain('start_session')
      const listed = await mcp.use('list_available_robots', { limit: 50 })
      expect(listed.body.robots.map(({ id }: { id: string }) => id)).toContain(robot.id)

      const started = await mcp.use('start_session', { robotId: robot.id })
      expect(started.body).toEqual({ sessionId: expect.any(String), status: 'ACTIVE' })
      const { sessionId } = started.body
      expect((await mcp.use('list_sessions', { status: 'ACTIVE' })).body.sessions).toMatchObject([
        { id: sessionId, robot_id: robot.id },
      ])

      const before = (await mcp.use('list_session_events', { sessionId })).body.events
      await owner.post(`/api/sessions/${sessionId}/messages`, { body: 'Mind the vase' })
      const after = (await mcp.use('list_session_events', { sessionId, after: before.at(-1).seq })).body
        .events
      expect(after).toMatchObject([{ type: 'chat.message' }])
      expect((await mcp.use('list_messages', { sessionId })).body.messages).toMatchObject([
        { body: 'Mind the vase' },
      ])

      expect((await mcp.use('end_session', { sessionId, reason: 'done' })).body).toMatchObject({
        id: sessionId,
        status: 'COMPLETED',
      })
      expect((await operator.get(`/api/sessions/${sessionId}`)).body.status).toBe('COMPLETED')
      link.close()
    },
  )
})

describe('suspend_user and restore_user', () => {
  test('end and return the access of a user for admins, and need a confirmation', async () => {
    const [user, admin] = [await world.client(), await world.admin()]
    await using mcp = await connectMcp(world.baseUrl, admin.token)
    const found = await mcp.use('list_users', { search: user.id })
    expect(found.body.users).toMatchObject([{ id: user.id, suspended_at: null }])
    for (const { name, annotations } of (await mcp.client.listTools()).tools)
      if (/^(suspend|restore)_user$/.test(name)) expect(annotations?.destructiveHint ?? true, name).toBe(true)
    expect(await mcp.use('suspend_user', { userId: user.id })).toMatchObject({
      status: 400,
      text: expect.stringContaining('reason'),
    })
    const suspension = { userId: user.id, reason: 'Unsafe driving', idempotencyKey: user.id }
    expect((await mcp.use('suspend_user', suspension)).body).toEqual({ done: true })
    expect((await mcp.use('suspend_user', suspension)).body).toEqual({ done: true })
    expect((await user.get('/api/client/robots')).status).toBe(403)
    const again = { userId: user.id, reason: 'Again' }
    expect((await mcp.use('suspend_user', again)).status).toBe(409)
    expect((await mcp.use('restore_user', { userId: user.id })).body).toEqual({ done: true })
    expect((await user.get('/api/client/robots')).status).toBe(200)
  })

  test('are refused to users without the role, who do not see them', async () => {
    const [user, other] = [await world.client(), await world.operator()]
    await using mcp = await connectMcp(world.baseUrl, other.token)
    expect(await mcp.toolNames()).not.toContain('suspend_user')
    expect((await mcp.use('suspend_user', { userId: user.id, reason: 'x' })).status).toBe(403)
    expect((await user.get('/api/client/robots')).status).toBe(200)
  })
})

describe('the list of tools', () => {
  test('matches docs/mcp.md', async () => {
    const rows = (await listed()).map(({ tool, who }) => {
      // The defaults of the protocol: a tool without annotations is destructive.
      const { readOnlyHint = false, destructiveHint = true } = tool.annotations ?? {}
      const effect = readOnlyHint ? 'reads' : destructiveHint ? '**destructive**' : 'writes'
      return `| \`${tool.name}\` | ${tool.title} | ${who} | ${effect} |`
    })
    const table = ['| Tool | Title | Roles | Effect |', '|---|---|---|---|', ...rows].join('\n')
    expect(readFileSync(new URL('../../../docs/mcp.md', import.meta.url), 'utf8')).toContain(`\n${table}\n\n`)
  })

  test('is made for models: described, small, without references or example ids that look real', async () => {
    for (const { tool } of await listed()) {
      expect(tool.description, tool.name).toMatch(/^[A-Z].{15,}\.$/s)
      const { inputSchema, outputSchema } = tool
      expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object'])
      expect(Object.keys(outputSchema?.properties ?? outputSchema ?? {}).length, tool.name).toBeGreaterThan(0)
      const text = JSON.stringify(tool)
      expect(text).not.toContain('$ref')
      expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/)
      expect(JSON.stringify(inputSchema).length, tool.name).toBeLessThan(2_000)
    }
  })

  test('has at most 36 kB for a caller with every role', async () => {
    const all = (await listed()).map(({ tool }) => tool)
    expect(all).toHaveLength(tools.length)
    expect(Buffer.byteLength(JSON.stringify({ tools: all }))).toBeLessThanOrEqual(36_864)
  })

  test('names the fields of every result', async () => {
    const fieldsOf = async (name: string) => {
      const { outputSchema } = (await listed()).find(({ tool }) => tool.name === name)?.tool ?? {}
      return outputSchema?.properties as Record<string, { items?: { properties: object } }>
    }
    expect(await fieldsOf('get_session')).toMatchObject({ id: {}, control: {}, billable_seconds: {} })
    // In the views of its operator and of its client.
    expect((await fieldsOf('list_sessions')).sessions?.items?.properties).toMatchObject({
      id: {},
      operator_earnings_cents: {},
      episodes_collected: {},
    })
    expect((await fieldsOf('list_robots')).robots?.items?.properties).not.toHaveProperty('control_url')
  })

  test('states required fields, defaults and possible values', async () => {
    const schemaOf = async (name: string) =>
      (await listed()).find(({ tool }) => tool.name === name)?.tool.inputSchema
    expect(await schemaOf('schedule_session')).toMatchObject({
      properties: { robotId: { format: 'uuid' }, scheduledFor: { format: 'date-time' } },
      required: ['robotId', 'scheduledFor'],
      additionalProperties: false,
    })
    expect((await schemaOf('start_session'))?.properties).not.toHaveProperty('scheduledFor')
    expect(await schemaOf('list_sessions')).toMatchObject({
      properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 } },
    })
    expect(await schemaOf('end_session')).toMatchObject({
      properties: { sessionId: {}, reason: {} },
      required: ['sessionId'],
    })
    expect((await schemaOf('end_session'))?.properties).not.toHaveProperty('action')
  })

  /** Returns every tool with the roles that see it. */
  async function listed() {
    const users = {
      client: await world.client(),
      operator: await world.operator(),
      admin: await world.admin(),
      'all users': await world.newUser(),
    }
    const seen = new Map<string, { tool: Tool; by: string[] }>()
    for (const [role, { token }] of Object.entries(users)) {
      await using mcp = await connectMcp(world.baseUrl, token)
      for (const tool of (await mcp.client.listTools()).tools) {
        const { by } = seen.get(tool.name) ?? { by: [] }
        seen.set(tool.name, { tool, by: [...by, role] })
      }
    }
    return tools.map(({ name }) => {
      const { tool, by } = seen.get(name) ?? {}
      if (!tool || !by) throw new Error(`No role sees ${name}`)
      return { tool, who: by.includes('all users') ? 'all users' : by.join(', ') }
    })
  }
})

test('a key sees the tools that its scopes permit, and a call of another one says which scope it needs', async () => {
  const owner = await world.client()
  const created = await owner.post('/api/auth/api-keys', { name: 'reader', scopes: ['read'] })
  await using mcp = await connectMcp(world.baseUrl, created.body.key, '2026')
  const names = await mcp.toolNames()
  expect(names).toEqual(expect.arrayContaining(['list_sessions', 'list_robots', 'stop_robot']))
  for (const hidden of ['end_session', 'send_message', 'register_robot', 'list_invoices'])
    expect(names).not.toContain(hidden)
  expect(mcp.client.getInstructions()).toContain('Your API key has the scopes read.')
  const { tools: listed } = await mcp.client.listTools()
  const descriptionOf = (name: string) => listed.find((tool: Tool) => tool.name === name)?.description
  expect(descriptionOf('list_sessions')).not.toContain('Scope')
  expect(descriptionOf('stop_robot')).not.toContain('Scope')

  const session = await openSessionFixture(world)
  const key = await session.client.post('/api/auth/api-keys', { name: 'reader', scopes: ['read'] })
  await using all = await connectMcp(world.baseUrl, session.client.token, '2026')
  const listedForAll = (await all.client.listTools()).tools
  expect(listedForAll.find(({ name }) => name === 'end_session')?.description).toMatch(
    /Scope: sessions or drive\.$/,
  )
  await using other = await connectMcp(world.baseUrl, key.body.key, '2026')
  for (const [name, given, scope] of [
    ['list_invoices', {}, 'billing'],
    ['end_session', { sessionId: session.id }, 'sessions'],
    ['send_message', { sessionId: session.id, body: 'hi' }, 'sessions'],
  ] as const)
    expect(await other.use(name, given), name).toMatchObject({
      status: 403,
      text: `The API key does not have the scope ${scope}. Use a key that has it.`,
    })
})
