import { randomUUID } from 'node:crypto'
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { buses } from '../../support/world/buses.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

describe.each(buses)('the hub over the %s bus', (bus) => {
  let world: World
  const opened: Socket[] = []
  beforeAll(async () => {
    world = await createWorld({ bus })
  })
  afterAll(async () => {
    for (const socket of opened) socket.close()
    await world[Symbol.asyncDispose]()
  })

  /** Connects with socket.io-client; settles with the socket or the refusal. */
  function connect(options: Partial<ManagerOptions & SocketOptions>): Promise<Outcome> {
    const socket = io(world.hubUrl, {
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      ...options,
    })
    opened.push(socket)
    return new Promise((resolve) => {
      socket.once('connect', () => resolve({ socket }))
      socket.once('connect_error', (cause: Error & { data?: unknown }) =>
        resolve({ refused: { message: cause.message, data: cause.data } }),
      )
    })
  }

  const openSession = () => openSessionFixture(world)

  describe('handshake', () => {
    test('accepts a session token in auth.token, the Authorization header or the cookie, and an API key', async () => {
      const owner = await world.client()
      const robot = await world.robot(owner)
      const { key } = await owner.key()
      const ways: Record<string, Partial<ManagerOptions & SocketOptions>> = {
        'token in auth.token': { auth: { token: owner.token } },
        'token in the header': { extraHeaders: { Authorization: `Bearer ${owner.token}` } },
        'token in the cookie': { extraHeaders: { Cookie: `theme=dark; __session=${owner.token}` } },
        'key in auth.token': { auth: { token: key } },
        'key in the header': { extraHeaders: { Authorization: `bearer ${key}` } },
        ...(bus === 'memory' && {
          'token by long polling': { auth: { token: owner.token }, transports: ['polling'] },
        }),
        'the cookie with the own origin': {
          extraHeaders: { Cookie: `__session=${owner.token}`, Origin: world.baseUrl },
        },
      }
      for (const [way, options] of Object.entries(ways)) {
        const { socket, refused } = await connect(options)
        expect(refused, way).toBeUndefined()
        const answer = await socket?.emitWithAck('robots:watch', {})
        expect(answer, way).toMatchObject({ ok: true, robots: [{ robot_id: robot.id }] })
      }
    })

    test('refuses every invalid credential with a reason', async () => {
      const owner = await world.client()
      const robot = await world.robot(owner)
      const { id, key } = await owner.key()
      expect((await owner.delete(`/api/auth/api-keys/${id}`)).status).toBe(204)
      const expired = await world.platform.identity.builtIn!.issueDevToken({
        email: 'late@test.local',
        expiresInSeconds: -60,
      })
      const bad: Record<string, Partial<ManagerOptions & SocketOptions>> = {
        'no credential': {},
        'an empty token': { auth: { token: '' } },
        'a token that is not a string': { auth: { token: { toString: 'x' } } },
        'an arbitrary text': { auth: { token: 'garbage' } },
        'a tampered token': { auth: { token: `${owner.token.slice(0, -8)}AAAAAAAA` } },
        'an expired token': { auth: { token: expired } },
        'a revoked key': { auth: { token: key } },
        'an unknown key': { auth: { token: `svc_live_${'A'.repeat(40)}` } },
        'a robot token': { auth: { token: robot.token } },
        'another scheme': { extraHeaders: { Authorization: `Basic ${owner.token}` } },
        // Only auth.token or the header counts: falling back to the cookie would hide the mistake.
        'an arbitrary text with a valid cookie': {
          auth: { token: 'garbage' },
          extraHeaders: { Cookie: `__session=${owner.token}` },
        },
      }
      for (const [what, options] of Object.entries(bad)) {
        const { refused } = await connect(options)
        expect(refused?.data, what).toEqual({ error: expect.stringMatching(/\w{3}/), status: 401 })
        expect(refused?.data, what).toMatchObject({ error: refused?.message })
      }
    })

    test.each(['websocket', 'polling'] as const)(
      'refuses a page of another origin over %s with any credential',
      async (transport) => {
        const owner = await world.client()
        for (const Origin of ['https://evil.example', 'null', `${world.baseUrl}.evil.example`]) {
          const withCookie = { Origin, Cookie: `__session=${owner.token}` }
          const { refused } = await connect({ transports: [transport], extraHeaders: withCookie })
          expect(refused, Origin).toBeDefined()
          const withToken = { auth: { token: owner.token }, extraHeaders: { Origin } }
          expect((await connect({ transports: [transport], ...withToken })).refused, Origin).toBeDefined()
        }
      },
    )
  })

  describe('commands', () => {
    let session: Awaited<ReturnType<typeof openSession>>
    let hub: TestHubSocket
    beforeAll(async () => {
      session = await openSession()
      hub = await session.operator.hub()
    })

    test('each is answered with ok and its result', async () => {
      const session_id = session.id
      expect(await hub.send('session:watch', { session_id })).toEqual({
        ok: true,
        session: expect.objectContaining({ id: session_id, status: 'ACTIVE', operator_earnings_cents: null }),
        events: [expect.objectContaining({ session_id, seq: 1, type: 'session.started' })],
        head: 1,
      })
      const message = { session_id, body: 'Hello', client_message_id: 'first' }
      expect(await hub.send('chat:send', message)).toEqual({
        ok: true,
        message: {
          id: expect.any(String),
          session_id,
          seq: 2,
          sender_id: session.operator.id,
          sender_name: session.operator.name,
          sender_role: 'operator',
          body: 'Hello',
          created_at: expect.any(String),
        },
      })
      expect(await hub.send('session:watch', { session_id, after: 1 })).toMatchObject({
        ok: true,
        events: [{ seq: 2, type: 'chat.message', data: { body: 'Hello' } }],
        head: 2,
      })
      expect(await hub.send('chat:typing', { session_id })).toEqual({ ok: true })
      expect(
        await hub.send('session:action', { session_id, action: 'pause', reason: 'coffee' }),
      ).toMatchObject({ ok: true, session: { id: session_id, status: 'PAUSED', pause_reason: 'coffee' } })
      expect(await hub.send('session:action', { session_id, action: 'resume' })).toMatchObject({
        ok: true,
        session: { status: 'ACTIVE' },
      })
      expect(await hub.send('notifications:since')).toEqual({
        ok: true,
        notifications: [],
        head: '0',
        unread: 0,
      })
      // Operators watch every robot that requires no certification.
      expect(await hub.send('robots:watch')).toMatchObject({
        ok: true,
        robots: expect.arrayContaining([
          expect.objectContaining({ robot_id: expect.any(String), status: 'IN_SESSION' }),
        ]),
      })
      expect(await hub.send('session:unwatch', { session_id })).toEqual({ ok: true })
    })

    test('concurrent commands get separate answers: other logs, other ranges, other errors', async () => {
      const otherSession = await openSessionFixture(world)
      await otherSession.operator.post(`${otherSession.path}/messages`, { body: 'Elsewhere' })
      const hub = await session.owner.hub()
      const elsewhere = await otherSession.owner.hub()
      const unrelatedUser = await (await world.client()).hub()
      const watch = (by: typeof hub, session_id: string, after?: number) =>
        by.send('session:watch', { session_id, ...(after !== undefined && { after }) })
      const head = (await watch(hub, session.id)).head
      const [whole, none, beyond, owned, refused, unknown] = await Promise.all([
        watch(hub, session.id),
        watch(hub, session.id, head),
        watch(hub, session.id, Number.MAX_SAFE_INTEGER),
        watch(elsewhere, otherSession.id, 1),
        watch(unrelatedUser, session.id),
        watch(hub, crypto.randomUUID()),
      ])
      expect(whole.events.map(({ seq }: { seq: number }) => seq)).toEqual(
        Array.from({ length: head }, (_, index) => index + 1),
      )
      for (const { ok, events } of [none, beyond]) expect({ ok, events }).toEqual({ ok: true, events: [] })
      expect(owned).toMatchObject({
        session: { id: otherSession.id },
        events: [{ session_id: otherSession.id, seq: 2, data: { body: 'Elsewhere' } }],
        head: 2,
      })
      for (const answer of [refused, unknown]) expect(answer).toMatchObject({ ok: false, status: 404 })
    })

    test('a command without a payload is answered like one with an empty payload', async () => {
      const owner = await session.owner.hub()
      const watch = await owner.socket.emitWithAck('robots:watch')
      expect(watch).toMatchObject({ ok: true, robots: [{ robot_id: session.robotId }] })
      const incomplete = await owner.socket.emitWithAck('session:watch')
      expect(incomplete).toMatchObject({
        ok: false,
        status: 400,
        error: expect.stringContaining('session_id'),
      })
    })

    test('invalid payloads are refused with the name of the field', async () => {
      const session_id = session.id
      const action = { session_id, action: 'pause' }
      const message = { session_id, body: 'x', client_message_id: 'm' }
      const invalid: [name: string, payload: unknown, error: RegExp][] = [
        ['session:watch', {}, /session_id/],
        ['session:watch', { session_id: 'no-uuid' }, /session_id/],
        ['session:watch', { session_id, after: -1 }, /after/],
        ['session:watch', { session_id, after: 1.5 }, /after/],
        ['session:watch', { session_id, after: '1' }, /after/],
        ['session:watch', { session_id, since: 1 }, /since/],
        ['session:watch', { session_id: [session_id] }, /session_id/],
        ['session:unwatch', { session_id, all: true }, /all/],
        ['chat:send', { session_id, body: 'x' }, /client_message_id/],
        ['chat:send', { ...message, body: '' }, /body/],
        ['chat:send', { ...message, body: ' \n ' }, /body/],
        ['chat:send', { ...message, body: 'x'.repeat(4_001) }, /body/],
        ['chat:send', { ...message, body: 'nul \0 byte' }, /body/],
        ['chat:send', { ...message, client_message_id: '' }, /client_message_id/],
        ['chat:send', { ...message, client_message_id: 'x'.repeat(101) }, /client_message_id/],
        ['chat:send', { ...message, seq: 1 }, /seq/],
        ['chat:typing', { session_id: null }, /session_id/],
        ['session:action', { ...action, action: 'explode' }, /action/],
        ['session:action', { ...action, reason: 'x'.repeat(501) }, /reason/],
        ['notifications:since', { after: 1 }, /after/],
        ['notifications:since', { after: '-1' }, /after/],
        ['notifications:since', { after: '9999999999999999999' }, /after/],
        ['robots:watch', { owner_id: session.owner.id }, /owner_id/],
        ['robots:watch', [], /./],
        ['robots:watch', 'all', /./],
        ['robots:watch', 7, /./],
        ['robots:watch', Buffer.from('all'), /./],
      ]
      const fresh = await session.operator.hub()
      for (const [name, payload, error] of invalid) {
        const answer = await fresh.send(name, payload)
        const label = `${name} ${JSON.stringify(payload)}`
        expect(answer, label).toEqual({ ok: false, status: 400, error: expect.stringMatching(error) })
      }
      const { body } = await session.owner.get(`/api/sessions/${session_id}`)
      expect(body.status, 'no command took effect').toBe('ACTIVE')
    })

    test('a command without an acknowledgement function is executed', async () => {
      const fresh = await session.operator.hub()
      const id = fresh.socket.id
      const send = { session_id: session.id, body: 'no answer needed', client_message_id: 'quiet' }
      fresh.socket.emit('chat:send', send)
      fresh.socket.emit('chat:send', send, 'not a function')
      fresh.socket.emit('chat:send', { session_id: 'bad' })
      fresh.socket.emit('session:watch')
      fresh.socket.emit('session:watch', null)
      fresh.socket.emit('no:such:command', { session_id: session.id })
      await waitFor(async () => {
        const { body } = await session.owner.get(`/api/sessions/${session.id}/messages`)
        const quiet = body.messages.filter((first: { body: string }) => first.body === send.body)
        expect(quiet).toHaveLength(1)
      })
      expect(await fresh.send('robots:watch')).toMatchObject({ ok: true })
      expect(fresh.socket.id).toBe(id)
    })

    test("every command answers for another user's session as for an unknown one", async () => {
      const { session_id, message } = {
        session_id: session.id,
        message: { client_message_id: 'm', body: 'x' },
      }
      const unrelatedUser = await (await world.operator()).hub()
      const nowhere = { session_id: randomUUID() }
      const commands: [string, object][] = [
        ['session:watch', {}],
        ['chat:send', message],
        ['chat:typing', {}],
        ['session:action', { action: 'end' }],
      ]
      for (const [name, fields] of commands) {
        const foreign = await unrelatedUser.send(name, { session_id, ...fields })
        expect(foreign, name).toEqual({ ok: false, error: 'Session not found', status: 404 })
        expect(await unrelatedUser.send(name, { ...nowhere, ...fields }), name).toEqual(foreign)
      }
      await session.operator.post(`/api/sessions/${session_id}/messages`, { body: 'private' })
      const observer = await session.owner.hub()
      await observer.send('session:watch', { session_id })
      await session.operator.post(`/api/sessions/${session_id}/messages`, { body: 'also private' })
      await observer.saw('session:event', { type: 'chat.message' })
      await unrelatedUser.send('robots:watch') // earlier events would arrive before this answer
      expect(unrelatedUser.of('session:event')).toEqual([])
    })

    test('actions on a session are refused without permission, and in the wrong state', async () => {
      const session_id = session.id
      const owner = await session.owner.hub()
      expect(await owner.send('session:action', { session_id, action: 'resume' })).toMatchObject({
        ok: false,
        status: 403,
      })
      const operator = await session.operator.hub()
      expect(await operator.send('session:action', { session_id, action: 'resume' })).toMatchObject({
        ok: false,
        status: 409,
      })
      const admin = await (await world.admin()).hub()
      expect(await admin.send('session:watch', { session_id })).toMatchObject({ ok: true })
      expect(await admin.send('session:action', { session_id, action: 'resume' })).toMatchObject({
        ok: false,
        status: 403,
      })
    })
  })

  test('a flood of commands is answered with 429, and the socket stays open', async () => {
    const { id: session_id, operator, owner } = await openSession()
    const hub = await operator.hub()
    await hub.send('session:watch', { session_id })
    const socketId = hub.socket.id
    const flood = Promise.all(Array.from({ length: 300 }, () => hub.send('robots:watch')))
    // A socket over its rate limit can still stop a robot.
    const stopped = await hub.send('session:action', { session_id, action: 'emergency_stop' })
    // Behind the flood, a slow database may record it later, and the response says so. Its rate never refuses it.
    if (!stopped.ok)
      expect(stopped).toMatchObject({ status: 503, error: expect.stringContaining('not recorded yet') })
    const others = world.errors.filter((line) => !line.includes('stop_not_recorded'))
    world.errors.splice(0, world.errors.length, ...others)
    await hub.saw('session:event', { seq: 2, type: 'session.stopped' })
    const answers = await flood
    const refused = answers.filter((answer) => !answer.ok)
    expect(refused.length).toBeGreaterThan(100)
    expect(answers.length - refused.length, 'an ordinary burst passes').toBeGreaterThanOrEqual(50)
    for (const answer of refused) {
      expect(answer).toEqual({ ok: false, status: 429, error: expect.any(String) })
    }
    // Other sockets are not delayed, and events still arrive.
    expect(await (await owner.hub()).send('robots:watch')).toMatchObject({ ok: true })
    await owner.post(`/api/sessions/${session_id}/messages`, { body: 'still there?' })
    await hub.saw('session:event', { seq: 3 })
    await waitFor(async () => expect(await hub.send('robots:watch')).toMatchObject({ ok: true }))
    expect(hub.socket.id).toBe(socketId)
  })

  test('a socket watches up to a hundred sessions, and may repeat the command for each of them', async () => {
    const [owner, operator] = [await world.client(), await world.operator()]
    const robot = await world.robot(owner)
    const ids = Array.from({ length: 101 }, () => randomUUID())
    await world.platform.core.db
      .insertInto('sessions')
      .values(
        ids.map((id) => ({
          id,
          robot_id: robot.id,
          client_id: owner.id,
          operator_id: operator.id,
          status: 'CANCELLED' as const,
        })),
      )
      .execute()
    const hub = await owner.hub()
    /** Sends a command, and repeats it while the rate limit refuses it. */
    const send = async (name: string, session_id: string | undefined) =>
      await waitFor(async () => {
        const answer = await hub.send(name, { session_id })
        expect(answer.error ?? '').not.toMatch(/more slowly/)
        return answer
      })
    await Promise.all(ids.slice(0, 100).map((id) => send('session:watch', id))).then((answers) => {
      for (const answer of answers) expect(answer).toMatchObject({ ok: true, head: 0 })
    })
    const tooMany = { ok: false, status: 429, error: expect.stringContaining('100') }
    expect(await send('session:watch', ids[100])).toEqual(tooMany)
    expect(await send('session:watch', ids[99]), 'the next page of one it watches').toMatchObject({
      ok: true,
    })
    expect(await send('session:unwatch', ids[0])).toEqual({ ok: true })
    expect(await send('session:watch', ids[100])).toMatchObject({ ok: true })
  })

  test('typing reaches only the other sockets that watch the session', async () => {
    const [here, elsewhere] = [await openSession(), await openSession()]
    const operator = await here.operator.hub()
    const owner = await here.owner.hub()
    const ownerNotWatching = await here.owner.hub()
    const unrelatedUser = await elsewhere.owner.hub()
    for (const hub of [operator, owner]) await hub.send('session:watch', { session_id: here.id })
    await unrelatedUser.send('session:watch', { session_id: elsewhere.id })
    await ownerNotWatching.send('session:watch', { session_id: here.id })
    await ownerNotWatching.send('session:unwatch', { session_id: here.id })

    expect(await operator.send('chat:typing', { session_id: here.id })).toEqual({ ok: true })
    await owner.saw('chat:typing', {
      session_id: here.id,
      user_id: here.operator.id,
      display_name: here.operator.name,
    })
    for (const hub of [operator, ownerNotWatching, unrelatedUser]) {
      await hub.send('robots:watch') // earlier events would arrive before this answer
      expect(hub.of('chat:typing')).toEqual([])
    }
  })

  test('a session token that expires closes its socket only', async () => {
    const expiresInSeconds = 5
    const email = `brief-${bus}@test.local`
    const brief = await world.platform.identity.builtIn!.issueDevToken({ email, expiresInSeconds })
    const expiresAtMs = JSON.parse(Buffer.from(brief.split('.')[1]!, 'base64url').toString()).exp * 1_000
    const lastingToken = await world.platform.identity.builtIn!.issueDevToken({ email })
    const expiring = await connect({ auth: { token: brief } })
    const ended = new Promise<string>((resolve) => expiring.socket?.once('disconnect', resolve))
    const lasting = await connect({ auth: { token: lastingToken }, forceNew: true })
    expect(await ended).toBe('io server disconnect')
    const lateMs = Date.now() - expiresAtMs
    expect(lateMs).toBeGreaterThan(-50) // timers may fire a little early
    expect(lateMs).toBeLessThan(30_000) // a busy machine runs the timer later
    expect(await lasting.socket?.emitWithAck('robots:watch', {})).toMatchObject({
      ok: true,
    })
  })

  test('an API key that expires closes its socket', async () => {
    const owner = await world.client()
    const expires_at = new Date(Date.now() + 5_000)
    const made = await owner.post('/api/auth/api-keys', {
      name: 'brief',
      expires_at: expires_at.toISOString(),
    })
    expect(made.status).toBe(201)
    const { socket } = await connect({ auth: { token: made.body.key } })
    expect(socket?.connected).toBe(true)
    await waitFor(() => expect(socket?.connected).toBe(false))
    expect(Date.now()).toBeGreaterThanOrEqual(expires_at.getTime() - 50)
  })
})

interface Outcome {
  readonly socket?: Socket
  readonly refused?: { message: string; data: unknown }
}
