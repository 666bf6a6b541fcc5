import { expect } from 'vitest'
import type { Person } from './person.ts'
import type { World } from './world.ts'

const SESSIONS = '/api/sessions'

/** Starts a session at once; answers with its id. */
export async function start(operator: Person, robotId: string): Promise<string> {
  const reply = await operator.post(SESSIONS, { robotId })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.sessionId
}

/** Does something to a session that must work; answers with the session. */
export async function act(person: Person, sessionId: string, action: string, reason?: string) {
  const reply = await person.patch(`${SESSIONS}/${sessionId}`, { action, ...(reason && { reason }) })
  expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  return reply.body
}

export type Scene = Awaited<ReturnType<typeof openScene>>

/** A session that has just begun: its client, its operator, and its robot, connected. */
export async function openScene(world: World) {
  const [client, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(client)
  const link = (await world.connect(robot)).beat()
  const id = await start(operator, robot.id)
  const path = `${SESSIONS}/${id}`
  return {
    ...{ client, owner: client, operator, robot, robotId: robot.id, link, id, path },
    act: (person: Person, action: string, reason?: string) =>
      person.patch(path, { action, ...(reason !== undefined && { reason }) }),
    read: async (person: Person = client) => (await person.get(path)).body,
    log: async (): Promise<Entry[]> => (await client.get(`${path}/events?limit=200`)).body.events,
    /** Notifications about this session, oldest first; without the one of its start. */
    async told(person: Person): Promise<{ type: string; data: Record<string, unknown> }[]> {
      const { notifications } = (await person.get('/api/notifications?limit=100')).body
      return notifications
        .filter((one: { data: { session_id: string } }) => one.data.session_id === id)
        .filter((one: { type: string }) => one.type !== 'session.started')
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
