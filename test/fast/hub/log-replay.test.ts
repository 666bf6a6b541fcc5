import type { SessionLogEvent } from '@wheelhouse/protocol'
import fc from 'fast-check'
import { io, type Socket } from 'socket.io-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HubClient } from '../../../packages/sdk/index.ts'
import { createTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { buses } from '../../support/world/buses.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** A client without the SDK, as the protocol describes it: it resumes with `after` and fills gaps. */
class PlainObserver {
  readonly log: SessionLogEvent[] = []
  readonly violations: string[] = []
  disconnects = 0
  readonly #socket: Socket
  readonly #sessionId: string
  #requesting = false
  /** Whether an event has arrived that the pending answer may not contain. */
  #again = false

  constructor(url: string, token: string, sessionId: string) {
    this.#sessionId = sessionId
    this.#socket = io(url, {
      auth: { token },
      transports: ['websocket'],
      forceNew: true,
      reconnectionDelay: 2,
      reconnectionDelayMax: 20,
    })
    this.#socket.on('connect', () => void this.#catchUp())
    this.#socket.on('disconnect', () => {
      this.disconnects += 1
    })
    this.#socket.on('session:event', (event: SessionLogEvent) => {
      if (!this.#take(event)) void this.#catchUp()
    })
  }

  get last(): number {
    return this.log.at(-1)?.seq ?? 0
  }

  get connected(): boolean {
    return this.#socket.connected
  }

  close(): void {
    this.#socket.close()
  }

  /** Returns false if an earlier event is missing. */
  #take(event: SessionLogEvent): boolean {
    if (event.seq === this.last + 1) this.log.push(event)
    return event.seq <= this.last
  }

  async #catchUp(): Promise<void> {
    this.#again = true
    if (this.#requesting) return
    this.#requesting = true
    try {
      while (this.#again) {
        this.#again = false
        const request = { session_id: this.#sessionId, after: this.last }
        const answer = await this.#socket.timeout(2_000).emitWithAck('session:watch', request)
        if (!answer.ok) this.violations.push(answer.error)
        for (const event of answer.events ?? []) {
          if (!this.#take(event)) this.violations.push(`a page skips from ${this.last} to ${event.seq}`)
        }
        if (this.last < answer.head) this.#again = true
      }
    } catch {
      // The connection broke, and the client may have reconnected already.
      this.#again = this.connected
    } finally {
      this.#requesting = false
    }
    if (this.#again) await this.#catchUp()
  }
}

describe.each(buses)('replay over the %s bus', (bus) => {
  let world: World
  let link: TcpProxy
  let url: string
  beforeAll(async () => {
    world = await createWorld({ bus })
    link = await createTcpProxy(world.hubUrl)
    url = new URL(link.url).origin
  })
  afterAll(async () => {
    await link[Symbol.asyncDispose]()
    await world[Symbol.asyncDispose]()
  })

  const openSession = () => openSessionFixture(world)

  /** Returns the stored log, which all clients must have in the end. */
  async function storedLog(user: TestUser, sessionId: string): Promise<SessionLogEvent[]> {
    const log: SessionLogEvent[] = []
    for (;;) {
      const path = `/api/sessions/${sessionId}/events?limit=200&after=${log.length}`
      const { events } = (await user.get(path)).body
      if (events.length === 0) return log
      log.push(...events)
    }
  }

  /** Inserts log entries of a session directly. */
  async function fillLog(sessionId: string, upTo: number): Promise<void> {
    const {
      core: { db },
    } = world.platform
    await db.updateTable('sessions').set({ event_seq: upTo }).where('id', '=', sessionId).execute()
    const rows = Array.from({ length: upTo - 1 }, (_, index) => ({
      session_id: sessionId,
      seq: index + 2,
      type: 'test.filler',
      data: { number: index + 2 },
    }))
    await db.insertInto('session_events').values(rows).execute()
  }

  const isComplete = (log: readonly { seq: number }[], head: number) =>
    waitFor(() => expect(log.at(-1)?.seq).toBe(head))

  test('every client has exactly the stored log in the end, however often connections break', async () => {
    const rounds = 4
    let disconnects = 0
    const steps = fc.array(
      fc.record({
        messages: fc.integer({ min: 0, max: 3 }),
        /** Whether to cut while the messages are in flight, or after their acknowledgement. */
        cutEarly: fc.boolean(),
        /** Whether to wait until all clients have reconnected. */
        wait: fc.boolean(),
      }),
      { minLength: 15, maxLength: 25 },
    )
    const scenario = fc.asyncProperty(steps, async (schedule) => {
      const { id, owner, operator } = await openSession()
      const plain = [
        new PlainObserver(url, owner.token, id),
        new PlainObserver(url, operator.token, id),
        new PlainObserver(url, owner.token, id),
      ]
      const ofSdk: SessionLogEvent[] = []
      const client = new HubClient({ url, token: operator.token, reconnect: { baseMs: 2, maxMs: 20 } })
      try {
        void client.connect()
        await client.watch(id, { onEvent: (event) => ofSdk.push(event) })
        for (const { messages, cutEarly, wait } of schedule) {
          const sending = Array.from({ length: messages }, (_, index) =>
            (index % 2 ? owner : operator).post(`/api/sessions/${id}/messages`, { body: `message ${index}` }),
          )
          if (cutEarly) link.reset()
          const replies = await Promise.all(sending)
          expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201))
          if (!cutEarly) link.reset()
          if (wait) {
            await waitFor(() => expect(plain.every((item) => item.connected)).toBe(true))
          }
        }
        expect((await operator.patch(`/api/sessions/${id}`, { action: 'end' })).status).toBe(200)
        const stored = await storedLog(owner, id)
        expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1))
        for (const { log } of plain) await isComplete(log, stored.length)
        await isComplete(ofSdk, stored.length)
        for (const { log, violations } of plain) {
          expect(log).toEqual(stored)
          expect(violations).toEqual([])
        }
        expect(ofSdk, 'through the SDK').toEqual(stored)
        for (const item of plain) disconnects += item.disconnects
      } finally {
        client.close()
        for (const item of plain) item.close()
      }
    })
    await fc.assert(scenario, { seed: 20261120, numRuns: rounds, endOnFailure: true })
    expect(disconnects, 'the test did break connections').toBeGreaterThan(40) // fewer on a slow machine
  })

  test('a late client reads a long log page by page, up to its head', async () => {
    const { id, owner, operator } = await openSession()
    await fillLog(id, 450)
    const hub = await owner.hub()
    const first = await hub.send('session:watch', { session_id: id })
    expect(first).toMatchObject({ ok: true, head: 450 })
    expect(first.events).toHaveLength(200)

    const observer = new PlainObserver(url, owner.token, id)
    const ofSdk: SessionLogEvent[] = []
    const client = new HubClient({ url, token: operator.token })
    try {
      await client.connect()
      await client.watch(id, { onEvent: (event) => ofSdk.push(event) })
      expect(ofSdk, 'watching resolves once the log is complete').toHaveLength(450)
      await isComplete(observer.log, 450)
      await owner.post(`/api/sessions/${id}/messages`, { body: 'live from here' })
      await isComplete(ofSdk, 451)
      await isComplete(observer.log, 451)
      const stored = await storedLog(owner, id)
      expect(observer.log).toEqual(stored)
      expect(ofSdk).toEqual(stored)
    } finally {
      client.close()
      observer.close()
    }
  })

  test('events that are written while a client reads pages of the log arrive once', async () => {
    const { id, owner, operator } = await openSession()
    await fillLog(id, 900)
    const observers = Array.from({ length: 4 }, () => new PlainObserver(url, owner.token, id))
    try {
      for (let count = 1; count <= 10; count++) {
        const { body } = await operator.post(`/api/sessions/${id}/messages`, { body: `live ${count}` })
        expect(body.seq).toBe(900 + count)
      }
      const stored = await storedLog(owner, id)
      for (const observer of observers) {
        await isComplete(observer.log, 910)
        expect(observer.log).toEqual(stored)
        expect(observer.violations).toEqual([])
      }
    } finally {
      for (const observer of observers) observer.close()
    }
  })

  test('with `after` only newer events are returned; at the head or beyond it, none', async () => {
    const { id, owner } = await openSession()
    await fillLog(id, 30)
    const hub = await owner.hub()
    const watch = async (after: number) => await hub.send('session:watch', { session_id: id, after })
    const seqs = ({ events }: { events: SessionLogEvent[] }) => events.map(({ seq }) => seq)
    expect(seqs(await watch(27))).toEqual([28, 29, 30])
    expect(await watch(30)).toMatchObject({ ok: true, events: [], head: 30 })
    expect(await watch(31)).toMatchObject({ ok: true, events: [], head: 30 })
  })
})
