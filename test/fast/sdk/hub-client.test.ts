import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import fc from 'fast-check'
import { Server, type Socket } from 'socket.io'
import { afterEach, expect, test, vi } from 'vitest'
import {
  HubClosedError,
  HubError,
  NotConnectedError,
  UnacknowledgedError,
} from '../../../packages/sdk/errors.ts'
import { HubClient, type HubClientOptions } from '../../../packages/sdk/hub-client.ts'
import type { RobotsUpdate } from '../../../packages/sdk/robot-status-feed.ts'
import { waitFor } from '../../support/world/wait.ts'

const userId = '5a0c8f5e-4f0c-4b3f-8d5e-0c1e5b7f9a11'
const quick = { baseMs: 2, maxMs: 10 }
const at = '2026-11-01T12:00:00.000Z'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

type Ack = (answer: unknown) => void
type Outcome = 'now' | 'late' | 'lost' | 'twice'
type Command = { session_id: string; after?: number; client_message_id?: string; body?: string }

/** A fake hub with logs in memory, pages of five, and live events that the test controls. */
class Hub {
  readonly #http = createServer()
  readonly io = new Server(this.#http, { serveClient: false })
  readonly logs = new Map<string, SessionLogEvent[]>()
  readonly notifications: { id: string; type: string; data: object; created_at: string }[] = []
  readonly late: SessionLogEvent[] = []
  readonly tokens: unknown[] = []
  readonly commands: { name: string; payload: Command }[] = []
  accepts: (token: unknown) => number | null = () => null
  /** Set to answer, delay or drop a command instead of the default answer. */
  instead: ((name: string, payload: Command, ack: Ack, socket: Socket) => boolean) | undefined

  async listen(): Promise<this> {
    this.io.use((socket, next) => {
      const token: unknown = socket.handshake.auth.token
      this.tokens.push(token)
      const status = this.accepts(token)
      if (status === null) next()
      else next(Object.assign(new Error('refused'), { data: { status } }))
    })
    this.io.on('connection', (socket) => {
      socket.onAny((name: string, payload: Command, ack: Ack) => {
        this.commands.push({ name, payload })
        if (!this.instead?.(name, payload, ack, socket)) this.#answer(socket, name, payload, ack)
      })
    })
    this.#http.listen(0, '127.0.0.1')
    await once(this.#http, 'listening')
    cleanups.push(() => this.io.close())
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }

  get sockets(): Socket[] {
    return [...this.io.sockets.sockets.values()]
  }

  newSession(): string {
    const id = randomUUID()
    this.logs.set(id, [])
    return id
  }

  #answer(socket: Socket, name: string, payload: Command, ack: Ack): void {
    if (name === 'notifications:since') {
      const after = Number(payload.after ?? 0)
      ack({
        ok: true,
        notifications: this.notifications.slice(after, after + 5),
        head: String(this.notifications.length),
      })
      return
    }
    if (name === 'robots:watch') {
      ack({ ok: true, robots: [{ robot_id: userId, status: 'OFFLINE', last_heartbeat: null }] })
      return
    }
    const log = this.logs.get(payload.session_id)
    if (!log) ack({ ok: false, error: 'Session not found', status: 404 })
    else if (name === 'session:watch') {
      void socket.join(payload.session_id)
      const after = payload.after ?? 0
      ack({
        ok: true,
        session: { id: payload.session_id, status: 'ACTIVE', robot_id: userId },
        events: log.slice(after, after + 5),
        head: log.length,
      })
    } else if (name === 'chat:send') ack({ ok: true, message: this.commitChat(payload) })
    else if (name === 'session:action')
      ack({ ok: true, session: { id: payload.session_id, status: 'PAUSED', robot_id: userId } })
    else {
      if (name === 'session:unwatch') void socket.leave(payload.session_id)
      ack({ ok: true })
    }
  }

  /** Appends a chat message once per client_message_id. */
  commitChat({ session_id, body, client_message_id }: Command): Record<string, unknown> {
    const known = this.logs.get(session_id)?.find(({ data }) => data.client_message_id === client_message_id)
    return known ? known.data : this.append(session_id, 'now', { body: body ?? '', client_message_id }).data
  }

  append(sessionId: string, outcome: Outcome, fields: Record<string, unknown> = {}): SessionLogEvent {
    const log = this.logs.get(sessionId)!
    const seq = log.length + 1
    const data = {
      id: randomUUID(),
      session_id: sessionId,
      seq,
      sender_id: userId,
      sender_name: 'Ada',
      sender_role: 'client',
      body: `message ${seq}`,
      created_at: at,
      ...fields,
    }
    const event = { session_id: sessionId, seq, type: 'chat.message', data, at }
    log.push(event)
    if (outcome === 'now' || outcome === 'twice') this.io.to(sessionId).emit('session:event', event)
    if (outcome === 'late' || outcome === 'twice') this.late.push(event)
    return event
  }

  deliverLate(pick: number): void {
    const [event] = this.late.splice(pick % Math.max(1, this.late.length), 1)
    if (event) this.io.to(event.session_id).emit('session:event', event)
  }

  notify(live: boolean): void {
    const id = String(this.notifications.length + 1)
    const notification = { id, type: 'session.started', data: {}, created_at: at }
    this.notifications.push(notification)
    if (live) this.io.emit('notification', notification)
  }

  /** Breaks all connections like a network failure. */
  cut(): void {
    for (const socket of this.sockets) socket.conn.close()
  }

  count(name: string): number {
    return this.commands.filter((command) => command.name === name).length
  }
}

function client(hub: Hub, options: Partial<HubClientOptions> = {}): HubClient {
  const made = new HubClient({ url: hub.url, token: 'token', reconnect: quick, ...options })
  cleanups.push(() => made.close())
  return made
}

test('a watch reads all pages of the log and continues with live events', async () => {
  const hub = await new Hub().listen()
  const id = hub.newSession()
  for (let seq = 1; seq <= 23; seq += 1) hub.append(id, 'lost')
  const hubClient = client(hub)
  const seqs: number[] = []
  const statuses: string[] = []
  const typed: string[] = []
  // A subscription before connect() starts after the connect.
  const caughtUp = hubClient.watch(
    id,
    {
      onEvent: (event) => seqs.push(event.seq),
      onSession: (session) => statuses.push(session.status),
      onTyping: (typing) => typed.push(typing.display_name),
    },
    { after: 3 },
  )
  await hubClient.connect()
  await caughtUp
  expect(seqs).toEqual(Array.from({ length: 20 }, (_, index) => index + 4))
  expect(statuses[0]).toBe('ACTIVE')
  hub.append(id, 'now')
  hub.io.to(id).emit('chat:typing', { session_id: id, user_id: userId, display_name: 'Ada' })
  await waitFor(() => expect(typed).toEqual(['Ada']))
  expect(seqs.at(-1)).toBe(24)
})

const outcomes: Outcome[] = ['now', 'late', 'lost', 'twice']
const transition = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('append'), pick: fc.nat(7) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('late'), pick: fc.nat(1_000) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass'), pick: fc.nat(7) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('cut', 'drop'), pick: fc.nat(1) }) },
)

test('two logs are delivered exactly once and in order over sockets that lose, repeat, reorder and break', async () => {
  const hub = await new Hub().listen()
  await fc.assert(
    fc.asyncProperty(fc.array(transition, { minLength: 5, maxLength: 60 }), async (steps) => {
      const ids = [hub.newSession(), hub.newSession()] as const
      const seen = new Map<string, number[]>(ids.map((id) => [id, []]))
      const hubClient = client(hub, { token: async () => 'token' })
      for (const id of ids) void hubClient.watch(id, { onEvent: ({ seq }) => seen.get(id)?.push(seq) })
      await hubClient.connect()
      for (const step of steps) {
        if (step.do === 'append') hub.append(ids[step.pick % 2]!, outcomes[step.pick % 4]!)
        else if (step.do === 'late') hub.deliverLate(step.pick)
        else if (step.do === 'cut') hub.cut()
        else if (step.do === 'drop') hub.io.disconnectSockets()
        else await new Promise<void>((resolve) => setImmediate(resolve))
      }
      // A last live event on a connected client reveals missing entries.
      for (const id of ids) {
        await waitFor(() => expect(hubClient.connected).toBe(true))
        await waitFor(() => expect(hub.io.sockets.adapter.rooms.has(id)).toBe(true))
        hub.append(id, 'now')
        const whole = hub.logs.get(id)!.map(({ seq }) => seq)
        await waitFor(() => expect(seen.get(id)?.length).toBe(whole.length))
        expect(seen.get(id)).toEqual(whole)
      }
      hubClient.close()
      hub.late.length = 0
    }),
    { seed: 20_261_106, numRuns: 25 },
  )
})

test('a refused watch rejects and can be repeated; unwatch notifies the hub', async () => {
  const hub = await new Hub().listen()
  const errors: unknown[] = []
  const hubClient = client(hub, { onError: (cause) => errors.push(cause) })
  await hubClient.connect()
  const unknown = randomUUID()
  const refusal = hubClient.watch(unknown, { onEvent: () => {} })
  await expect(refusal).rejects.toBeInstanceOf(HubError)
  await expect(refusal).rejects.toMatchObject({ status: 404, message: 'Session not found' })
  expect(errors).toHaveLength(1)
  hub.logs.set(unknown, [])
  const seqs: number[] = []
  const handlers = { onEvent: (event: SessionLogEvent) => seqs.push(event.seq) }
  await hubClient.watch(unknown, handlers)
  expect(() => hubClient.watch(unknown, handlers)).toThrow('already')
  // After unwatch and an immediate watch, the socket must still be in the room.
  const left = hubClient.unwatch(unknown)
  const back = hubClient.watch(unknown, handlers)
  await Promise.all([left, back])
  hub.append(unknown, 'now')
  await waitFor(() => expect(seqs).toEqual([1]))
  await hubClient.unwatch(unknown)
  expect(hub.io.sockets.adapter.rooms.has(unknown)).toBe(false)
})

test('a chat message whose acknowledgement is lost is repeated with the same id and appears once', async () => {
  const hub = await new Hub().listen()
  const id = hub.newSession()
  const hubClient = client(hub)
  await hubClient.connect()
  let breaks = 2
  hub.instead = (name, payload, _ack, socket) => {
    if (name !== 'chat:send' || breaks === 0) return false
    breaks -= 1
    hub.commitChat(payload)
    socket.conn.close()
    return true
  }
  const [first, second] = await Promise.all([hubClient.sendChat(id, 'one'), hubClient.sendChat(id, 'two')])
  expect([first.body, second.body]).toEqual(['one', 'two'])
  expect(hub.logs.get(id)?.map(({ data }) => data.body)).toEqual(['one', 'two'])
  const sent = hub.commands.filter(({ name }) => name === 'chat:send')
  expect(sent).toHaveLength(4)
  expect(new Set(sent.map(({ payload }) => payload.client_message_id)).size).toBe(2)
})

test('a chat message from offline is sent after the reconnect; a refused or expired one rejects', async () => {
  const hub = await new Hub().listen()
  const id = hub.newSession()
  const hubClient = client(hub)
  const early = hubClient.sendChat(id, 'early', 'my-id')
  await hubClient.connect()
  await expect(early).resolves.toMatchObject({ body: 'early' })
  expect(hub.commands[0]?.payload.client_message_id).toBe('my-id')
  await expect(hubClient.sendChat(randomUUID(), 'nowhere')).rejects.toMatchObject({ status: 404 })
  hub.instead = (name) => name === 'chat:send'
  await expect(hubClient.sendChat(id, 'lost', undefined, { timeoutMs: 30 })).rejects.toBeInstanceOf(
    UnacknowledgedError,
  )
})

test('an action is sent once and rejects differently when refused, not sent, or of unknown outcome', async () => {
  const hub = await new Hub().listen()
  const id = hub.newSession()
  const hubClient = client(hub)
  await expect(hubClient.action(id, 'pause')).rejects.toBeInstanceOf(NotConnectedError)
  await hubClient.connect()
  await expect(hubClient.action(id, 'pause', 'lunch')).resolves.toMatchObject({ status: 'PAUSED' })
  expect(hub.commands.at(-1)?.payload).toEqual({ session_id: id, action: 'pause', reason: 'lunch' })
  hub.instead = (name, _payload, ack) => {
    if (name !== 'session:action') return false
    ack({ ok: false, error: 'Session is not active', status: 409 })
    return true
  }
  const refused = hubClient.action(id, 'resume')
  await expect(refused).rejects.toEqual(new HubError(409, 'Session is not active'))
  hub.instead = (_name, _payload, _ack, socket) => {
    socket.conn.close()
    return true
  }
  await expect(hubClient.action(id, 'end')).rejects.toBeInstanceOf(UnacknowledgedError)
  hub.instead = undefined
  await waitFor(() => expect(hubClient.connected).toBe(true))
  await hubClient.sendChat(id, 'after the reconnect')
  expect(hub.count('session:action')).toBe(3)
})

test('a refused fixed token ends the client', async () => {
  const hub = await new Hub().listen()
  hub.accepts = () => 401
  const onAuthError = vi.fn<(error: HubError) => void>()
  const onClosed = vi.fn()
  const hubClient = client(hub, { onAuthError, onClosed })
  const waiting = hubClient.watch(randomUUID(), { onEvent: () => {} })
  await expect(hubClient.connect()).rejects.toBeInstanceOf(HubClosedError)
  await expect(waiting).rejects.toBeInstanceOf(HubClosedError)
  await expect(hubClient.sendChat(randomUUID(), 'x')).rejects.toBeInstanceOf(HubClosedError)
  expect(onAuthError).toHaveBeenCalledOnce()
  expect(onAuthError.mock.calls[0]?.[0].status).toBe(401)
  expect(onClosed).toHaveBeenCalledOnce()
  expect(hub.tokens).toEqual(['token'])
})

test('a token function is called once per attempt, until its token is accepted', async () => {
  const hub = await new Hub().listen()
  hub.accepts = (token) => (token === 'token 4' || token === 'token 5' ? null : 401)
  let asked = 0
  const onAuthError = vi.fn()
  const onError = vi.fn()
  const hubClient = client(hub, {
    onAuthError,
    onError,
    token: async () => {
      asked += 1
      if (asked === 2) throw new Error('provider is away')
      return `token ${asked}`
    },
  })
  await hubClient.connect()
  expect(hub.tokens).toEqual(['token 1', 'token 3', 'token 4'])
  expect(onAuthError).toHaveBeenCalledTimes(2)
  expect(onError).toHaveBeenCalledOnce()

  // The hub ends the connection, and the client reconnects with a fresh token.
  hub.io.disconnectSockets(true)
  await waitFor(() => expect(hub.tokens).toHaveLength(4))
  await waitFor(() => expect(hubClient.connected).toBe(true))
  expect(hub.tokens.at(-1)).toBe('token 5')
})

test('the client gives up when a hub disconnects it and refuses its credential', async () => {
  const hub = await new Hub().listen()
  const onClosed = vi.fn()
  const reasons: string[] = []
  const hubClient = client(hub, {
    token: async () => 'revoked later',
    onClosed,
    onDisconnected: (reason) => reasons.push(reason),
  })
  await hubClient.connect()
  hub.accepts = () => 401
  for (const socket of hub.sockets) socket.disconnect()
  await waitFor(() => expect(onClosed).toHaveBeenCalledOnce())
  expect(reasons).toEqual(['io server disconnect'])
  expect(hub.tokens).toHaveLength(1 + 5)
})

test('the client retries a hub that is busy or silent at first', async () => {
  const hub = await new Hub().listen()
  const answers = [503, 500, null]
  hub.accepts = () => answers.shift() ?? null
  await client(hub).connect()
  expect(hub.tokens).toHaveLength(3)

  // The client does not use a token that arrives after its attempt has timed out.
  const first = Promise.withResolvers<string>()
  let asked = 0
  const forgetful = client(hub, {
    connectTimeoutMs: 1_000,
    token: async () => {
      asked += 1
      if (asked === 1) return first.promise
      first.resolve('late')
      await new Promise<void>((resolve) => setImmediate(resolve))
      return 'in time'
    },
  })
  await forgetful.connect()
  expect(asked).toBeGreaterThanOrEqual(2)
  expect(new Set(hub.tokens.slice(3))).toEqual(new Set(['in time']))
})

test('robots: the list, later changes, and a new list after a reconnect', async () => {
  const hub = await new Hub().listen()
  const status = (value: string) => ({ robot_id: userId, status: value, last_heartbeat: at })
  // A change that overtakes the list is delivered after it.
  hub.instead = (name, _payload, ack, socket) => {
    if (name !== 'robots:watch') return false
    socket.emit('robot:status', status('IN_SESSION'))
    ack({ ok: true, robots: [status('AVAILABLE')] })
    return true
  }
  const updates: string[] = []
  const hubClient = client(hub)
  await hubClient.connect()
  await hubClient.watchRobots((update: RobotsUpdate) =>
    updates.push(update.kind === 'list' ? `list ${update.robots[0]?.status}` : update.robot.status),
  )
  hub.io.emit('robot:status', status('AVAILABLE'))
  await waitFor(() => expect(updates).toEqual(['list AVAILABLE', 'IN_SESSION', 'AVAILABLE']))
  hub.cut()
  await waitFor(() => expect(updates.slice(3)).toEqual(['list AVAILABLE', 'IN_SESSION']))
  expect(() => hubClient.watchRobots(() => {})).toThrow('already')
})

test('notifications arrive exactly once and in order, across pages, losses and reconnects', async () => {
  const hub = await new Hub().listen()
  for (let index = 0; index < 12; index += 1) hub.notify(false)
  const ids: string[] = []
  const hubClient = client(hub)
  await hubClient.connect()
  await hubClient.onNotification(({ id }) => ids.push(id), { after: '2' })
  hub.notify(false)
  hub.notify(true)
  await waitFor(() => expect(ids.at(-1)).toBe('14'))
  hub.cut()
  hub.notify(false)
  await waitFor(() => expect(ids.at(-1)).toBe('15'))
  expect(ids).toEqual(Array.from({ length: 13 }, (_, index) => String(index + 3)))
})

test('malformed events and answers are reported, and their entries are delivered later', async () => {
  const hub = await new Hub().listen()
  const id = hub.newSession()
  const errors: unknown[] = []
  const seqs: number[] = []
  const hubClient = client(hub, { onError: (cause) => errors.push(cause) })
  await hubClient.connect()
  let garbled = true
  hub.instead = (name, _payload, ack) => {
    if (name !== 'session:watch' || !garbled) return false
    garbled = false
    ack({ ok: true, events: 'none' })
    return true
  }
  await hubClient.watch(id, { onEvent: (event) => seqs.push(event.seq) })
  hub.io.to(id).emit('session:event', { seq: 'one' })
  hub.append(id, 'now')
  await waitFor(() => expect(seqs).toEqual([1]))
  expect(errors).toHaveLength(2)
})

test('close() rejects pending promises and is final', async () => {
  const hub = await new Hub().listen()
  const id = hub.newSession()
  const hubClient = client(hub)
  await hubClient.connect()
  hub.instead = () => true
  const pending = [hubClient.sendChat(id, 'x'), hubClient.watch(id, { onEvent: () => {} })]
  const action = hubClient.action(id, 'pause')
  hubClient.close()
  for (const promise of pending) await expect(promise).rejects.toBeInstanceOf(HubClosedError)
  await expect(action).rejects.toBeInstanceOf(UnacknowledgedError)
  expect(() => hubClient.watch(id, { onEvent: () => {} })).toThrow(HubClosedError)
  await expect(hubClient.connect()).rejects.toBeInstanceOf(HubClosedError)
  expect(hubClient.connected).toBe(false)
})
