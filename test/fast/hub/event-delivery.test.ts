import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { buses } from '../../support/world/buses.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

describe.each(buses)('delivery over the %s bus', (bus) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld({ bus })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  async function openSession() {
    const fixture = await openSessionFixture(world)
    await world.drained() // hubs have published all events of the fixture
    return fixture
  }

  const sendMessage = (
    hub: TestHubSocket,
    session_id: string,
    body: string,
    client_message_id: string = randomUUID(),
  ) => hub.send('chat:send', { session_id, body, client_message_id })

  const ofRobot = (hub: TestHubSocket, robotId: string) =>
    hub.of('robot:status').filter(({ robot_id }) => robot_id === robotId)

  const numbers = (items: { seq: number }[]) => items.map(({ seq }) => seq)
  const upTo = (count: number, from = 1) => Array.from({ length: count }, (_, index) => index + from)

  describe('of a session', () => {
    test('an acknowledged message is stored: participants read it over REST at once', async () => {
      const { id, owner, operator } = await openSession()
      const hub = await operator.hub()
      for (let count = 1; count <= 10; count++) {
        const sent = await sendMessage(hub, id, `message ${count}`)
        expect(sent).toMatchObject({ ok: true, message: { seq: count + 1 } })
        const { body } = await owner.get(`/api/sessions/${id}/messages?after=${count}`)
        expect(body.messages).toEqual([sent.message])
      }
    })

    test('concurrent messages over REST and the hub reach all clients in one order without gaps', async () => {
      const { id, owner, operator } = await openSession()
      const observers = [await owner.hub(), await operator.hub(), await owner.hub()]
      for (const observer of observers) {
        expect(await observer.send('session:watch', { session_id: id })).toMatchObject({ ok: true, head: 1 })
      }
      const [first, second] = [observers[0] as TestHubSocket, observers[1] as TestHubSocket]
      const answers = await Promise.all(
        upTo(10).flatMap((count) => [
          sendMessage(first, id, `owner ${count}`).then((answer) => answer.message.seq),
          sendMessage(second, id, `operator ${count}`).then((answer) => answer.message.seq),
          owner.post(`/api/sessions/${id}/messages`, { body: `rest ${count}` }).then(({ body }) => body.seq),
        ]),
      )
      expect(
        answers.toSorted((a, b) => a - b),
        'every message has a unique number',
      ).toEqual(upTo(30, 2))
      for (const observer of observers) {
        await observer.saw('session:event', { seq: 31 })
        expect(numbers(observer.of('session:event'))).toEqual(upTo(30, 2))
      }
      const log = (await owner.get(`/api/sessions/${id}/events?after=1`)).body.events
      for (const observer of observers) expect(observer.of('session:event')).toEqual(log)
    })

    test('status changes and chat are in one log, in order', async () => {
      const { id, owner, operator } = await openSession()
      const observer = await owner.hub()
      await observer.send('session:watch', { session_id: id })
      const hub = await operator.hub()
      await sendMessage(hub, id, 'one')
      await hub.send('session:action', { session_id: id, action: 'pause', reason: 'lunch' })
      await owner.post(`/api/sessions/${id}/messages`, { body: 'two' })
      await operator.patch(`/api/sessions/${id}`, { action: 'resume' })
      await hub.send('session:action', { session_id: id, action: 'end' })
      await observer.saw('session:event', { seq: 6 })
      const ofOperator = { actor_id: operator.id }
      expect(observer.of('session:event')).toMatchObject([
        { session_id: id, seq: 2, type: 'chat.message', data: { body: 'one', seq: 2 } },
        { seq: 3, type: 'session.paused', data: { status: 'PAUSED', reason: 'lunch', ...ofOperator } },
        { seq: 4, type: 'chat.message', data: { body: 'two', sender_role: 'client' } },
        { seq: 5, type: 'session.resumed', data: { status: 'ACTIVE', ...ofOperator } },
        { seq: 6, type: 'session.ended', data: { status: 'COMPLETED', ...ofOperator } },
      ])
    })

    test('a repeated client_message_id returns the first message, and causes no second event', async () => {
      const { id, owner, operator } = await openSession()
      const observer = await owner.hub()
      await observer.send('session:watch', { session_id: id })
      const hubs = [await operator.hub(), await operator.hub()]
      const answers = await Promise.all(
        hubs.flatMap((hub) => upTo(5).map(() => sendMessage(hub, id, 'once', 'same'))),
      )
      for (const answer of answers) expect(answer).toEqual(answers[0])
      expect(answers[0]).toMatchObject({ ok: true, message: { seq: 2, body: 'once' } })
      const rest = { body: 'once', clientMessageId: 'same' }
      expect((await operator.post(`/api/sessions/${id}/messages`, rest)).body).toEqual(answers[0].message)
      expect(await sendMessage(hubs[0] as TestHubSocket, id, 'other', 'same')).toMatchObject({
        ok: false,
        status: 422,
      })
      // Each sender has separate ids.
      expect(await sendMessage(observer, id, 'mine', 'same')).toMatchObject({ ok: true, message: { seq: 3 } })
      await observer.saw('session:event', { seq: 3 })
      expect(numbers(observer.of('session:event'))).toEqual([2, 3])
    })

    test('after unwatching, no event of the session arrives', async () => {
      const { id, owner, operator } = await openSession()
      const [leaver, remainingSocket] = [await owner.hub(), await owner.hub()]
      for (const hub of [leaver, remainingSocket]) await hub.send('session:watch', { session_id: id })
      expect(await leaver.send('session:unwatch', { session_id: id })).toEqual({ ok: true })
      await operator.post(`/api/sessions/${id}/messages`, { body: 'for the remaining client' })
      await remainingSocket.saw('session:event', { seq: 2 })
      await leaver.send('robots:watch') // earlier events would arrive before this answer
      expect(leaver.of('session:event')).toEqual([])
    })
  })

  describe('of notifications', () => {
    test('all sockets of a user, and no others, receive each notification once, without gaps', async () => {
      const { id, owner, operator } = await openSession()
      const [here, there, other] = [await owner.hub(), await owner.hub(), await operator.hub()]
      for (const action of ['pause', 'resume', 'pause', 'resume', 'end']) {
        expect((await operator.patch(`/api/sessions/${id}`, { action })).status).toBe(200)
      }
      for (const hub of [here, there]) {
        await hub.saw('notification', { id: '6', type: 'session.ended' })
        // The first one is about the start, which precedes these sockets.
        const seen = hub.of('notification').filter((item) => item.id !== '1')
        expect(seen.map((item) => item.id)).toEqual(['2', '3', '4', '5', '6'])
        const listed = (await owner.get('/api/notifications')).body.notifications.toReversed()
        expect(listed.map((item: { id: string }) => item.id)).toEqual(['1', '2', '3', '4', '5', '6'])
        expect(listed.slice(1)).toMatchObject(seen)
        expect(seen[0]).toMatchObject({ type: 'session.paused', data: { session_id: id } })
      }
      await other.saw('notification', { type: 'session.ended' })
      expect(other.of('notification').map((item) => item.id)).toEqual(['1'])
    })

    test('numbers have no gaps when many sessions notify one owner at once', async () => {
      const owner = await world.client()
      const hub = await owner.hub()
      const sessions = await Promise.all(
        upTo(6).map(async () => {
          const [operator, robot] = [await world.operator(), await world.robot(owner)]
          ;(await world.connect(robot)).beat()
          const started = await operator.post('/api/sessions', { robotId: robot.id })
          return { operator, id: started.body.sessionId as string }
        }),
      )
      await Promise.all(
        sessions.map(async ({ operator, id }) => {
          for (const action of ['pause', 'resume', 'end'])
            await operator.patch(`/api/sessions/${id}`, { action })
        }),
      )
      await hub.saw('notification', { id: '24' })
      const ids = hub.of('notification').map((item) => Number(item.id))
      expect(ids).toEqual(upTo(24))
    })

    test('notifications:since returns pages of newer notifications, oldest first, and the newest number', async () => {
      const owner = await world.client()
      const {
        core: { db },
      } = world.platform
      await db.updateTable('users').set({ notification_seq: 250 }).where('id', '=', owner.id).execute()
      const rows = upTo(250).map((seq) => ({ user_id: owner.id, seq, type: 'test', data: { seq } }))
      await db.insertInto('notifications').values(rows).execute()
      const hub = await owner.hub()
      const collected: string[] = []
      for (let pages = 1, after: string | undefined; ; pages++) {
        const page = await hub.send('notifications:since', after === undefined ? {} : { after })
        expect(page).toMatchObject({ ok: true, head: '250' })
        expect(page.notifications.length).toBeLessThanOrEqual(100)
        collected.push(...page.notifications.map((item: { id: string }) => item.id))
        after = page.notifications.at(-1).id
        if (after === page.head) break
        expect(pages, 'pages without an end').toBeLessThan(10)
      }
      expect(collected).toEqual(upTo(250).map(String))
      const none = await hub.send('notifications:since', { after: '250' })
      expect(none).toEqual({ ok: true, notifications: [], head: '250', unread: 0 })
      expect(await hub.send('notifications:since', { after: '249' })).toMatchObject({
        notifications: [{ id: '250', type: 'test', data: { seq: 250 } }],
      })
    })
  })

  describe("of a robot's status", () => {
    async function certify(operator: TestUser, robot_type: string, verdict?: 'approve' | 'reject') {
      const requested = await operator.post('/api/operator/certifications', { robot_type })
      expect(requested.status).toBe(201)
      if (!verdict) return
      const decided = await (await world.admin()).post(
        `/api/admin/certifications/${requested.body.id}/${verdict}`,
        verdict === 'reject' ? { reason: 'Not yet' } : {},
      )
      expect(decided.status).toBe(200)
    }

    test('every change reaches the owner and the operators certified for its type only', async () => {
      const robot_type = `arm-${randomUUID()}`
      const [owner, otherOwner] = [await world.client(), await world.client()]
      const robot = await world.robot(owner, { robot_type, require_certification: true })
      const certified = await world.operator()
      await certify(certified, robot_type, 'approve')
      const [pending, rejected, elsewhere] = [
        await world.operator(),
        await world.operator(),
        await world.operator(),
      ]
      await certify(pending, robot_type)
      await certify(rejected, robot_type, 'reject')
      await certify(elsewhere, `${robot_type}-2`, 'approve')

      const entitled = [await owner.hub(), await certified.hub()]
      for (const hub of entitled) {
        const answer = await hub.send('robots:watch')
        expect(answer.robots).toContainEqual({ robot_id: robot.id, status: 'OFFLINE', last_heartbeat: null })
      }
      const users = [otherOwner, pending, rejected, elsewhere, await world.newUser(), await world.admin()]
      const others = await Promise.all(users.map((user) => user.hub()))
      for (const hub of others) {
        const { robots } = await hub.send('robots:watch')
        expect(robots).not.toContainEqual(expect.objectContaining({ robot_id: robot.id }))
      }
      const notWatching = await owner.hub()

      const link = (await world.connect(robot)).beat()
      for (const hub of entitled) await hub.saw('robot:status', { robot_id: robot.id, status: 'AVAILABLE' })
      const started = await certified.post('/api/sessions', { robotId: robot.id })
      expect(started.status).toBe(201)
      await certified.patch(`/api/sessions/${started.body.sessionId}`, { action: 'end' })
      for (const hub of entitled) {
        await waitFor(() => expect(ofRobot(hub, robot.id)).toHaveLength(3))
      }
      link.destroy()
      for (const hub of entitled) {
        await hub.saw('robot:status', { robot_id: robot.id, status: 'OFFLINE' })
        const statuses = ofRobot(hub, robot.id).map(({ status }) => status)
        expect(statuses).toEqual(['AVAILABLE', 'IN_SESSION', 'AVAILABLE', 'OFFLINE'])
        for (const event of ofRobot(hub, robot.id)) {
          expect(Object.keys(event).sort()).toEqual(['last_heartbeat', 'robot_id', 'status'])
        }
      }
      for (const hub of [...others, notWatching]) {
        await hub.send('notifications:since') // earlier events would arrive before this answer
        expect(ofRobot(hub, robot.id)).toEqual([])
      }
    })

    test('an owner who is also certified for the type receives each change once', async () => {
      const robot_type = `arm-${randomUUID()}`
      const both = await world.client()
      expect((await both.post('/api/auth/profile', { role: 'operator' })).status).toBe(200)
      await certify(both, robot_type, 'approve')
      const robot = await world.robot(both, { robot_type, require_certification: true })
      const hub = await both.hub()
      const { robots } = await hub.send('robots:watch')
      expect(robots).toContainEqual(expect.objectContaining({ robot_id: robot.id }))
      await hub.send('robots:watch') // watching twice does not duplicate events
      const link = (await world.connect(robot)).beat()
      await hub.saw('robot:status', { robot_id: robot.id, status: 'AVAILABLE' })
      link.destroy()
      await hub.saw('robot:status', { robot_id: robot.id, status: 'OFFLINE' })
      expect(ofRobot(hub, robot.id).map(({ status }) => status)).toEqual(['AVAILABLE', 'OFFLINE'])
    })
  })
})
