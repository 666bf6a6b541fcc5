import { expect } from 'vitest'
import type { TestRobot } from '../gateway/frame-socket.ts'
import type { TestUser } from './test-user.ts'
import type { World } from './world.ts'

const SESSIONS = '/api/sessions'

/** Starts a session; returns its id. */
export async function start(operator: TestUser, robotId: string): Promise<string> {
  const reply = await operator.post(SESSIONS, { robotId })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.sessionId
}

/** Performs an action on a session, which must succeed; returns the session. */
export async function performAction(user: TestUser, sessionId: string, action: string, reason?: string) {
  const reply = await user.patch(`${SESSIONS}/${sessionId}`, { action, ...(reason && { reason }) })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body
}

/** Sets a latency limit of a robot that a busy machine does not exceed. */
export const tolerateLatency = ({ platform }: World, robotId: string) =>
  platform.core.db.updateTable('robots').set({ latency_limit_ms: 10_000 }).where('id', '=', robotId).execute()

export type SessionFixture = Awaited<ReturnType<typeof openSessionFixture>>

interface Participants {
  readonly client: TestUser
  readonly operator: TestUser
  readonly robot: Awaited<ReturnType<World['robot']>>
  readonly link: TestRobot
}

async function createParticipants(world: World, readEvents: boolean): Promise<Participants> {
  const [client, operator] = [await world.client(), await world.operator()]
  if (readEvents) for (const user of [client, operator]) await user.get('/api/events')
  const robot = await world.robot(client)
  await tolerateLatency(world, robot.id)
  return { client, operator, robot, link: (await world.connect(robot)).beat() }
}

/**
 * Creates a session that has just begun, with its client, its operator, and its connected robot, or with those of an earlier
 * session, which its client ended. With `readEvents` both users have read their event streams before, so that the streams contain
 * everything.
 */
export async function openSessionFixture(
  world: World,
  { readEvents = false, of }: { readEvents?: boolean; of?: Participants | undefined } = {},
) {
  const { client, operator, robot, link } = of ?? (await createParticipants(world, readEvents))
  const id = await start(operator, robot.id)
  const path = `${SESSIONS}/${id}`
  return {
    client,
    owner: client,
    operator,
    robot,
    robotId: robot.id,
    link,
    id,
    path,
    performAction: (user: TestUser, action: string, reason?: string) =>
      user.patch(path, { action, ...(reason !== undefined && { reason }) }),
    read: async (user: TestUser = client) => (await user.get(path)).body,
    log: async (): Promise<Entry[]> => (await client.get(`${path}/events?limit=200`)).body.events,
    /** Returns notifications about this session, oldest first; without the one of its start. */
    async notificationsOf(user: TestUser): Promise<{ type: string; data: Record<string, unknown> }[]> {
      const { notifications } = (await user.get('/api/notifications?limit=100')).body
      return notifications
        .filter((item: { data: { session_id: string } }) => item.data.session_id === id)
        .filter((item: { type: string }) => item.type !== 'session.started')
        .map(({ type, data }: { type: string; data: Record<string, unknown> }) => ({ type, data }))
        .reverse()
    },
  }
}

export interface Entry {
  readonly seq: number
  readonly type: string
  readonly data: Record<string, unknown>
  readonly at: string
}
