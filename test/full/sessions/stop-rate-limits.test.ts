import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask } from '../../support/network/http-request.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const PER_MINUTE = 20
/** More commands than the hub accepts from a socket in one burst. */
const FLOOD = 200
/** The same, of stops that the database handles one after another. */
const FLOOD_OF_PARTICIPANT = 100

let world: World
beforeAll(async () => {
  world = await createWorld({ env: { RATE_LIMIT_PER_MINUTE: String(PER_MINUTE) } })
})
afterAll(() => world[Symbol.asyncDispose]())

const stopOverRest = (sessionId: string) => (token: string) =>
  ask(`${world.baseUrl}/api/sessions/${sessionId}`, {
    method: 'PATCH',
    token,
    body: { action: 'emergency_stop' },
  })
const stopOverMcp = (target: { sessionId: string } | { robot: string }) => (token: string) =>
  ask(`${world.baseUrl}/api/mcp`, {
    method: 'POST',
    token,
    headers: { Accept: 'application/json, text/event-stream' },
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'stop_robot', arguments: target },
    },
  })

/** Returns how often each status occurs in `count` responses. */
async function statusCounts(
  count: number,
  request: () => ReturnType<typeof ask>,
): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  for (let n = 0; n < count; n++) {
    const { status } = await request()
    counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

describe.each([
  ['REST', stopOverRest],
  ['MCP', (sessionId: string) => stopOverMcp({ sessionId })],
])('remote stops over %s', (way, stop) => {
  test('by the operator, the owner and an admin are never limited', async () => {
    const { id, client, operator } = await openSessionFixture(world)
    for (const user of [operator, client, await world.admin()]) {
      expect(await statusCounts(PER_MINUTE + 5, () => stop(id)(user.token))).toEqual({ 200: PER_MINUTE + 5 })
    }
  })

  test('by other callers are limited, with any session id', async () => {
    const { id } = await openSessionFixture(world)
    const newUser = async () => (await world.operator()).token
    for (const sessionId of [id, randomUUID(), 'none']) {
      const token = await newUser()
      const counts = await statusCounts(PER_MINUTE + 5, () => stop(sessionId)(token))
      expect(counts[429], JSON.stringify(counts)).toBe(5)
    }
    const unrelatedUser = await openSessionFixture(world)
    await statusCounts(PER_MINUTE + 5, () => stop(id)(unrelatedUser.operator.token))
    expect(
      (await stop(unrelatedUser.id)(unrelatedUser.operator.token)).status,
      `their own, over ${way}`,
    ).toBe(200)
  })
})

describe('remote stops over MCP that name the robot', () => {
  test('by a participant are never limited; those of others are', async () => {
    const { robot, client } = await openSessionFixture(world)
    expect(await statusCounts(PER_MINUTE + 5, () => stopOverMcp({ robot: robot.id })(client.token))).toEqual({
      200: PER_MINUTE + 5,
    })
    const { token } = await world.operator()
    const counts = await statusCounts(PER_MINUTE + 5, () => stopOverMcp({ robot: robot.id })(token))
    expect(counts[429], JSON.stringify(counts)).toBe(5)
  })
})

describe('remote stops over the hub', () => {
  async function flood(user: TestUser, sessionId: string, count = FLOOD) {
    const hub = await user.hub()
    const stops = Array.from({ length: count }, () =>
      hub.send('session:action', { session_id: sessionId, action: 'emergency_stop' }),
    )
    return Object.groupBy(await Promise.all(stops), (answer) => String(answer.status ?? 'ok'))
  }

  test('by a participant are never limited', async () => {
    const { id, client } = await openSessionFixture(world)
    expect(Object.keys(await flood(client, id, FLOOD_OF_PARTICIPANT))).toEqual(['ok'])
  })

  test('by other callers are limited', async () => {
    const { id } = await openSessionFixture(world)
    const counts = await flood(await world.operator(), id)
    expect(Object.keys(counts).toSorted()).toEqual(['404', '429'])
    expect(counts['429']?.length).toBeGreaterThan(FLOOD / 4)
  })
})
