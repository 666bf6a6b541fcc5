import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openScene } from './support/cast.ts'
import { connectMcp, type Era } from './support/mcp.ts'
import type { Person } from './support/person.ts'
import { createWorld, type World } from './support/world.ts'

let world: World

/** An operator is certified for a type of robot. */
async function certify(operator: Person, robot_type: string) {
  const request = await operator.post('/api/operator/certifications', { robot_type })
  const reply = await (await world.admin()).post(`/api/admin/certifications/${request.body.id}/approve`)
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
}

beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

describe.each<Era>(['2025', '2026'])('a client of %s', (era) => {
  test.each(['session token', 'API key'])(
    'lists, starts, watches and ends a session with a %s',
    async (kind) => {
      const [owner, operator] = [await world.client(), await world.operator()]
      const robot = await world.robot(owner)
      await certify(operator, 'testbot')
      const link = (await world.connect(robot)).beat()
      const credential = kind === 'API key' ? (await operator.key()).key : operator.token
      await using mcp = await connectMcp(world.baseUrl, credential, era)

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
        ...{ id: sessionId, status: 'COMPLETED' },
      })
      expect((await operator.get(`/api/sessions/${sessionId}`)).body.status).toBe('COMPLETED')
      link.close()
    },
  )
})

test('every tool is described by its route', async () => {
  const { operator } = await openScene(world)
  await using mcp = await connectMcp(world.baseUrl, operator.token)
  const { tools } = await mcp.client.listTools()
  console.log(
    JSON.stringify(tools).length,
    JSON.stringify(tools.map(({ outputSchema, ...rest }) => rest)).length,
    JSON.stringify(
      tools.find((t) => t.name === 'schedule_session'),
      null,
      1,
    ),
    JSON.stringify(
      tools.find((t) => t.name === 'end_session'),
      null,
      1,
    ),
  )
})
