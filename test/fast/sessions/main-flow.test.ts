import { describe, expect, test } from 'vitest'
import { buses } from '../../support/world/buses.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

describe.each(buses)('the main flow over the %s bus', (bus) => {
  test('a robot connects, an operator starts a session on it, the owner observes it live', async () => {
    await using world = await createWorld({ bus })
    const owner = await world.client()
    const operator = await world.operator()
    const robot = await world.robot(owner)

    const observer = await owner.hub()
    expect(await observer.send('robots:watch')).toEqual({
      ok: true,
      robots: [{ robot_id: robot.id, status: 'OFFLINE', last_heartbeat: null }],
    })

    const link = (await world.connect(robot)).beat()
    await observer.saw('robot:status', { robot_id: robot.id, status: 'AVAILABLE' })

    const started = await operator.post('/api/sessions', { robotId: robot.id })
    expect(started).toMatchObject({ status: 201, body: { status: 'ACTIVE' } })
    const sessionId = started.body.sessionId as string
    expect(await link.next('session')).toMatchObject({ session_id: sessionId, status: 'ACTIVE' })
    await observer.saw('robot:status', { robot_id: robot.id, status: 'IN_SESSION' })
    await observer.saw('notification', { type: 'session.started' })

    const watch = await observer.send('session:watch', { session_id: sessionId })
    expect(watch).toMatchObject({ ok: true, head: 1, session: { id: sessionId, status: 'ACTIVE' } })
    expect(watch.events).toMatchObject([{ seq: 1, type: 'session.started' }])

    await operator.post(`/api/sessions/${sessionId}/messages`, { body: 'Hello' })
    await observer.saw('session:event', { seq: 2, type: 'chat.message' })
    const sent = await observer.send('chat:send', {
      session_id: sessionId,
      body: 'Careful with the vase',
      client_message_id: 'm1',
    })
    expect(sent).toMatchObject({ ok: true, message: { seq: 3, sender_role: 'client' } })

    const ended = await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    expect(ended).toMatchObject({ status: 200, body: { status: 'COMPLETED', end_reason: 'ended' } })
    await observer.saw('session:event', { seq: 4, type: 'session.ended' })
    await observer.saw('notification', { type: 'session.ended' })
    expect(await link.next('session')).toMatchObject({ session_id: sessionId, status: 'COMPLETED' })

    await waitFor(async () => {
      const robots = await owner.get('/api/client/robots')
      expect(robots.body).toMatchObject([
        { id: robot.id, status: 'AVAILABLE', last_heartbeat: expect.any(String) },
      ])
    })
  })
})
