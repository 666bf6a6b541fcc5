import { HubClient } from '@wheelhouse/sdk'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createSessionRooms } from '../../../packages/console/src/platform/live.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(async () => await world?.[Symbol.asyncDispose]())

/** Starts a session and creates the session rooms of its operator's console. */
async function fixture() {
  const [owner, operator, admin] = [await world.client(), await world.operator(), await world.admin()]
  const { id } = (await operator.post('/api/operator/certifications', { robot_type: 'testbot' })).body
  await admin.post(`/api/admin/certifications/${id}/approve`)
  const robot = await world.robot(owner)
  ;(await world.connect(robot)).beat()
  const started = await operator.post('/api/sessions', { robotId: robot.id })
  expect(started.status, JSON.stringify(started.body)).toBe(201)
  const hub = new HubClient({ url: world.baseUrl, token: operator.token })
  const invalidateQueries = vi.fn(async () => undefined)
  const rooms = createSessionRooms(hub, { invalidateQueries })
  return { owner, operator, sessionId: started.body.sessionId as string, hub, rooms, invalidateQueries }
}

test('a session room keeps the log in order, tracks outgoing chat, performs actions and follows the status', async () => {
  const { owner, sessionId, hub, rooms, invalidateQueries } = await fixture()
  try {
    const room = rooms.enter(sessionId)
    room.send('Written before there was a connection')
    expect(room.state.get().outgoing).toMatchObject([{ phase: 'sending' }])
    await hub.connect()
    await waitFor(() => {
      expect(room.state.get()).toMatchObject({ caughtUp: true, outgoing: [], session: { status: 'ACTIVE' } })
      expect(room.state.get().events.map(({ type }) => type)).toEqual(['session.started', 'chat.message'])
    })

    invalidateQueries.mockClear()
    expect((await owner.patch(`/api/sessions/${sessionId}`, { action: 'pause' })).status).toBe(200)
    await waitFor(() => expect(room.state.get().session?.status).toBe('PAUSED'))
    expect(invalidateQueries).toHaveBeenCalledWith({ queryKey: ['sessions'] })
    expect((await room.performAction('resume')).status).toBe('ACTIVE')
    await waitFor(() => expect(room.state.get().events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]))

    room.send(' ')
    await waitFor(() => expect(room.state.get().outgoing).toMatchObject([{ phase: 'failed' }]))
    room.discard(room.state.get().outgoing[0]?.clientMessageId ?? '')
    expect(room.state.get().outgoing).toEqual([])
  } finally {
    hub.close()
  }
})

test('two components share one watch of a session until both have unmounted', async () => {
  const { owner, sessionId, hub, rooms } = await fixture()
  try {
    await hub.connect()
    const room = rooms.enter(sessionId)
    expect(rooms.enter(sessionId)).toBe(room)
    rooms.leave(sessionId)
    await waitFor(() => expect(room.state.get().caughtUp).toBe(true))
    await owner.post(`/api/sessions/${sessionId}/messages`, { body: 'Still there?' })
    await waitFor(() => expect(room.state.get().events).toHaveLength(2))
    rooms.leave(sessionId)
    const again = rooms.enter(sessionId)
    expect(again).not.toBe(room)
    await waitFor(() => expect(again.state.get().events).toHaveLength(2))
  } finally {
    hub.close()
  }
})
