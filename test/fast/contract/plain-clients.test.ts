import { once } from 'node:events'
import { io, type Socket } from 'socket.io-client'
import { describe, expect, test } from 'vitest'
import WebSocketOfWs from 'ws'
import { buses } from '../../support/world/buses.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// Clients that follow the protocol document and use none of our code: no SDK, no schemas, and no test support beyond
// the platform itself.

/** A robot on a plain WebSocket. It sends heartbeats at the requested interval and reconnects after a lost connection. */
class OutsideRobot {
  readonly sessions: { session_id: string; status: string; operator_name: string }[] = []
  readonly stops: string[] = []
  readonly closeCodes: number[] = []
  welcomes = 0
  acknowledged = -1
  epoch = 0
  #socket: WebSocketOfWs | undefined
  #seq = 0
  #ended = false
  readonly #url: string
  readonly #token: string

  constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
    this.#connect()
  }

  #connect(): void {
    const socket = new WebSocketOfWs(this.#url, { headers: { authorization: `Bearer ${this.#token}` } })
    this.#socket = socket
    let beating: NodeJS.Timeout | undefined
    socket.on('error', () => {})
    socket.on('message', (data) => {
      const frame = JSON.parse(data.toString())
      switch (frame.type) {
        case 'welcome':
          this.welcomes++
          this.epoch = frame.epoch
          if (frame.session) this.sessions.push(frame.session)
          beating = setInterval(() => this.#beat(), frame.heartbeat_interval_ms)
          this.#beat()
          break
        case 'heartbeat_ack':
          this.acknowledged = frame.seq
          break
        case 'session':
          this.sessions.push(frame)
          break
        case 'stop':
          this.stops.push(frame.reason)
          socket.send(JSON.stringify({ type: 'stopped', reason: frame.reason }))
          break
      }
    })
    socket.on('close', (code) => {
      clearInterval(beating)
      this.closeCodes.push(code)
      const mayReconnect = [1006, 4008, 4009, 4503].includes(code)
      if (mayReconnect && !this.#ended) setTimeout(() => this.#connect(), 20 + Math.random() * 30)
    })
  }

  #beat(): void {
    this.#socket?.send(JSON.stringify({ type: 'heartbeat', seq: ++this.#seq, battery: 0.8, wheels: 'fine' }))
  }

  /** Drops the connection without a close frame. */
  loseNetwork(): void {
    this.#socket?.terminate()
  }

  async end(): Promise<void> {
    this.#ended = true
    const closed = once(this.#socket as WebSocketOfWs, 'close')
    this.#socket?.close()
    await closed
  }
}

/** An observer of one session on a plain socket.io-client. */
class ExternalObserver {
  readonly socket: Socket
  readonly log: { seq: number; type: string; data: Record<string, unknown> }[] = []
  readonly robots = new Map<string, string>()
  readonly notifications: string[] = []
  #sessionId: string | undefined
  #wanted = false
  #requesting = false

  constructor(url: string, token: string) {
    this.socket = io(url, {
      auth: { token },
      transports: ['websocket'],
      forceNew: true,
      reconnectionDelay: 20,
      reconnectionDelayMax: 50,
    })
    this.socket.on('connect', async () => {
      const { robots } = await this.socket.emitWithAck('robots:watch', {})
      for (const robot of robots) this.robots.set(robot.robot_id, robot.status)
      await this.#catchUp()
    })
    this.socket.on('robot:status', ({ robot_id, status }) => this.robots.set(robot_id, status))
    this.socket.on('notification', ({ type }) => this.notifications.push(type))
    this.socket.on('session:event', (event) => {
      if (event.seq === this.log.length + 1) this.log.push(event)
      else if (event.seq > this.log.length) void this.#catchUp()
    })
  }

  async follow(sessionId: string): Promise<void> {
    this.#sessionId = sessionId
    await this.#catchUp()
  }

  async #catchUp(): Promise<void> {
    this.#wanted = this.#sessionId !== undefined
    if (this.#requesting) return
    this.#requesting = true
    while (this.#wanted && this.socket.connected) {
      this.#wanted = false
      const question = { session_id: this.#sessionId, after: this.log.length }
      const answer = await this.socket
        .timeout(2_000)
        .emitWithAck('session:watch', question)
        .catch(() => undefined)
      for (const event of answer?.events ?? []) if (event.seq === this.log.length + 1) this.log.push(event)
      if (answer === undefined || this.log.length < answer.head) this.#wanted = true
    }
    this.#requesting = false
  }

  loseNetwork(): void {
    this.socket.io.engine.close()
  }
}

async function call(world: World, token: string, method: string, path: string, body?: unknown) {
  const response = await fetch(world.baseUrl + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true)
  return await response.json()
}

const soon = (check: () => void) => waitFor(check)

describe.each(buses)('external clients over the %s bus', (bus) => {
  test('a plain WebSocket robot and a plain socket.io-client complete a session, lost connections included', async () => {
    await using world = await createWorld({ bus })
    const [owner, operator] = [(await world.client()).token, (await world.operator()).token]
    const key = (await call(world, owner, 'POST', '/api/auth/api-keys', { name: 'external' })).key
    const made = await call(world, key, 'POST', '/api/client/robots', {
      name: 'Outsider',
      robot_type: 'testbot',
      hardware_id: `external-${bus}`,
    })
    const controlUrl = `${world.gatewayUrl}/robots/${made.id}/control`
    const observer = new ExternalObserver(world.hubUrl, key)
    const robot = new OutsideRobot(controlUrl, made.robot_token)
    try {
      await soon(() => expect(observer.robots.get(made.id)).toBe('AVAILABLE'))
      await soon(() => expect(robot.acknowledged).toBeGreaterThanOrEqual(1))

      const started = await call(world, operator, 'POST', '/api/sessions', { robotId: made.id })
      const sessionId = started.sessionId
      await soon(() =>
        expect(robot.sessions.at(-1)).toMatchObject({ session_id: sessionId, status: 'ACTIVE' }),
      )
      await soon(() => expect(observer.robots.get(made.id)).toBe('IN_SESSION'))
      await soon(() => expect(observer.notifications).toContain('session.started'))
      await observer.follow(sessionId)
      const sendMessage = (token: string, body: string) =>
        call(world, token, 'POST', `/api/sessions/${sessionId}/messages`, { body })
      const chat = { session_id: sessionId, body: 'Hello from outside', client_message_id: '1' }
      expect(await observer.socket.emitWithAck('chat:send', chat)).toMatchObject({
        ok: true,
        message: { seq: 2 },
      })

      // The observer is offline while events occur.
      const before = observer.log.length
      observer.loseNetwork()
      await sendMessage(operator, 'Can you hear me?')
      await soon(() => expect(observer.log.length).toBeGreaterThan(before))

      // The robot is offline: both sides are notified, and it resumes its session.
      const [epoch, welcomes] = [robot.epoch, robot.welcomes]
      robot.loseNetwork()
      await soon(() => expect(observer.log.map(({ type }) => type)).toContain('robot.lost'))
      await soon(() => expect(robot.welcomes).toBe(welcomes + 1))
      expect(robot.epoch).toBeGreaterThan(epoch)
      await soon(() => expect(observer.log.map(({ type }) => type)).toContain('robot.back'))
      expect(robot.sessions.at(-1)).toMatchObject({ session_id: sessionId, status: 'PAUSED' })
      await call(world, operator, 'PATCH', `/api/sessions/${sessionId}`, { action: 'resume' })
      await soon(() => expect(robot.sessions.at(-1)).toMatchObject({ status: 'ACTIVE' }))

      await call(world, operator, 'PATCH', `/api/sessions/${sessionId}`, { action: 'end' })
      await soon(() => expect(robot.sessions.at(-1)).toMatchObject({ status: 'COMPLETED' }))
      await soon(() => expect(robot.stops).toContain('session_over'))
      await soon(() => expect(observer.robots.get(made.id)).toBe('AVAILABLE'))
      await soon(() => expect(observer.log.at(-1)).toMatchObject({ type: 'session.ended' }))
      const { events } = await call(world, owner, 'GET', `/api/sessions/${sessionId}/events`)
      expect(observer.log).toEqual(events)
      expect(observer.log.map(({ type }) => type)).toEqual([
        'session.started',
        'chat.message',
        'chat.message',
        'robot.lost',
        'robot.back',
        'session.resumed',
        'session.ended',
      ])
      expect(robot.closeCodes).toEqual([1006])
    } finally {
      await robot.end()
      observer.socket.close()
    }
    const seen = await call(world, owner, 'GET', '/api/client/robots')
    await waitFor(async () => {
      const [after] = await call(world, owner, 'GET', '/api/client/robots')
      expect(after).toMatchObject({ id: seen[0].id, status: 'OFFLINE', last_heartbeat: expect.any(String) })
    })
  })

  test('a robot with the WebSocket interface of browsers connects with its token as a subprotocol', async () => {
    await using world = await createWorld({ bus })
    const owner = await world.client()
    const robot = await world.robot(owner)
    const url = `${world.gatewayUrl}/robots/${robot.id}/control`
    const browser = (protocols: string[]) =>
      new Promise<{ protocol: string; welcome: Record<string, unknown>; close: () => Promise<unknown> }>(
        (resolve, reject) => {
          const socket = new WebSocket(url, protocols)
          socket.onerror = () => reject(new Error('the connection failed'))
          socket.onmessage = ({ data }) => {
            const welcome = JSON.parse(data)
            const close = () =>
              new Promise((closed) => {
                socket.onclose = closed
                socket.close()
              })
            resolve({ protocol: socket.protocol, welcome, close })
          }
        },
      )
    const withoutSubprotocol = await browser([`bearer.${robot.token}`])
    expect(withoutSubprotocol.welcome).toMatchObject({ type: 'welcome', robot_id: robot.id, session: null })
    await withoutSubprotocol.close()
    const secondOffer = await browser(['wheelhouse', `bearer.${robot.token}`])
    expect(secondOffer.protocol, 'the server does not select the token when it has another choice').toBe(
      'wheelhouse',
    )
    expect(secondOffer.welcome.epoch).toBeGreaterThan(withoutSubprotocol.welcome.epoch as number)
    await secondOffer.close()
    await expect(browser(['bearer.wrong'])).rejects.toThrow('the connection failed')
    await expect(browser([])).rejects.toThrow('the connection failed')
  })
})
