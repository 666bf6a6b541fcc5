import { expect } from 'vitest'
import type { Person } from './person.ts'
import type { World } from './world.ts'

const SESSIONS = '/api/sessions'

export type Scene = Awaited<ReturnType<typeof openScene>>

/** A session that has just begun: its client, its operator, and its robot, connected. */
export async function openScene(world: World) {
  const [client, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(client)
  const link = (await world.connect(robot)).beat()
  const started = await operator.post(SESSIONS, { robotId: robot.id })
  expect(started.status, JSON.stringify(started.body)).toBe(201)
  const id = started.body.sessionId as string
  const path = `${SESSIONS}/${id}`
  return {
    ...{ client, operator, robot, link, id, path },
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
