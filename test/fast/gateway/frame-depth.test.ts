import { isNestedTooDeep, isValueNestedTooDeep, MAX_FRAME_DEPTH } from '@wheelhouse/protocol'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { FrameSocket } from '../../support/gateway/frame-socket.ts'
import { RawHub } from '../../support/hub/raw-hub.ts'
import { startRedis, type TestRedis } from '../../support/processes/redis.ts'
import { cpuMsOf } from '../../support/world/cpu-time.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** Returns nested arrays of this depth as JSON. */
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
/** Depths at which a recursive parser exhausts the stack. */
const EXCESSIVE = [4_200, 20_000]
const TOO_DEEP = `A frame may be nested at most ${MAX_FRAME_DEPTH} levels deep`

describe('the depth of a text', () => {
  test.each([
    ['{"a":[{"b":[]}]}', 4],
    ['{"a":"[[[[{{{{","b":[]}', 2],
    [String.raw`{"a":"\"[[[[","b":"\\","c":[[]]}`, 3],
    ['"[[[["', 0],
    ['[1,[2],[[3]],{}]', 3],
  ])('%s has %i levels', (text, levels) => {
    const padded = `${text}${' '.repeat(100)}`
    expect(isNestedTooDeep(padded, levels)).toBe(false)
    if (levels > 0) expect(isNestedTooDeep(padded, levels - 1)).toBe(true)
  })

  test('equals the depth of its value, for any strings and keys', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8, noUnicodeString: false }), fc.nat(8), (value, limit) => {
        const text = JSON.stringify(value) + ' '.repeat(10)
        const isDeeper = depthOf(JSON.parse(text)) > limit
        expect(isNestedTooDeep(text, limit)).toBe(isDeeper)
        expect(isValueNestedTooDeep(JSON.parse(text), limit)).toBe(isDeeper)
      }),
    )
  })

  test('of a hundred thousand quotes and backslashes is computed in one pass', async () => {
    const work = () => {
      isNestedTooDeep(`"${'\\"'.repeat(100_000)}`)
      isNestedTooDeep(`["${'\\'.repeat(100_000)}"]`)
      isNestedTooDeep('"'.repeat(100_000))
    }
    expect(await cpuMsOf(work)).toBeLessThan(1_000) // quadratic: many seconds
  })
})

describe('a frame that is nested too deep', () => {
  /** Of this file only: platforms of other files would receive the message of the bus too. */
  let redis: TestRedis
  let world: World
  let fixture: SessionFixture
  beforeAll(async () => {
    redis = await startRedis()
    world = await createWorld({ env: { REDIS_URL: redis.url } })
    fixture = await openSessionFixture(world)
  })
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]()
    await redis?.stop()
  })

  async function refused(link: FrameSocket, frame: string): Promise<void> {
    link.send(frame)
    expect((await link.next('error')).message).toBe(TOO_DEEP)
  }

  test.each(EXCESSIVE)(
    'of an operator, with %i levels of data, is answered with an error',
    async (levels) => {
      const console = await world.drive(fixture.operator, fixture.id)
      await console.state()
      await refused(console, `{"type":"control","seq":1,"t":1,"data":${nested(levels)}}`)
      await refused(console, `{"type":"stop","reason":"x","more":${nested(levels)}}`)
      await refused(console, nested(levels))
      const seq = console.control({ fine: true }, { seq: 7 })
      expect(seq).toBe(1)
      expect((await fixture.link.next('control')).data).toEqual({ fine: true })
      await console.close()
    },
  )

  test('is refused above the limit, and relayed unchanged at the limit', async () => {
    const console = await world.drive(fixture.operator, fixture.id)
    await console.state()
    const deepest = nested(MAX_FRAME_DEPTH - 1) // the frame itself is the first level
    console.send(`{"type":"control","seq":1,"t":1,"data":${deepest}}`)
    expect(JSON.stringify((await fixture.link.next('control')).data)).toBe(deepest)
    await refused(console, `{"type":"control","seq":2,"t":1,"data":[${deepest}]}`)
    await console.close()
  })

  test('of a robot is answered too, and not relayed to participants', async () => {
    const observer = await world.drive(fixture.client, fixture.id, 'watch')
    await observer.state()
    for (const levels of EXCESSIVE) {
      await refused(fixture.link, `{"type":"telemetry","data":${nested(levels)}}`)
      await refused(fixture.link, `{"type":"log","level":"info","message":"x","more":${nested(levels)}}`)
    }
    // Any number of them in a row: the content of telemetry closes no robot.
    for (let sent = 0; sent < 8; sent++) fixture.link.send(`{"type":"telemetry","data":${nested(100)}}`)
    fixture.link.send({ type: 'telemetry', data: 'after' })
    expect((await observer.next('telemetry')).data).toBe('after')
    await refused(observer, `{"type":"ping","t":1,"more":${nested(EXCESSIVE[0] as number)}}`)
    await observer.close()
  })

  test('closes the connection with 4002 if it is the fifth in a row', async () => {
    const console = await world.drive(fixture.operator, fixture.id)
    await console.state()
    for (let sent = 0; sent < 5; sent++) console.send(`{"type":"control","data":${nested(4_200)}}`)
    expect(await console.closed).toBe(4002)
  })

  test('is refused as a request body of REST and of MCP', async () => {
    const post = (path: string, body: string) =>
      fetch(world.baseUrl + path, {
        method: 'POST',
        headers: { Authorization: `Bearer ${fixture.operator.token}`, 'Content-Type': 'application/json' },
        body,
      })
    for (const levels of EXCESSIVE) {
      const answer = await post('/api/sessions', `{"robotId":${nested(levels)}}`)
      expect(answer.status).toBe(400)
      expect(await answer.json()).toEqual({ error: 'The request body is nested deeper than 64 levels' })
      const rpc = await post(
        '/api/mcp',
        `{"jsonrpc":"2.0","id":1,"method":"ping","params":${nested(levels)}}`,
      )
      expect(rpc.status).toBe(400)
    }
  })

  test('is refused as a command at the hub; with binary parts it ends its connection at most', async () => {
    const hub = await RawHub.connect(world.hubUrl, fixture.operator.token)
    for (const [id, levels] of EXCESSIVE.entries()) {
      hub.socket.send(`42${id}["session:watch",{"session_id":"${fixture.id}","more":${nested(levels)}}]`)
      const [answer] = JSON.parse(await hub.answer(`43${id}`))
      expect(answer).toEqual({ ok: false, status: 400, error: 'The payload is nested deeper than 64 levels' })
    }
    // Socket.IO inserts binary parts recursively, before any handler runs.
    const part = '{"_placeholder":true,"num":0}'
    hub.socket.send(`451-9["session:watch",{"session_id":${part},"more":${nested(20_000)}}]`)
    hub.socket.send(Buffer.from('x'))
    await waitFor(() =>
      expect(
        hub.socket.readyState === hub.socket.CLOSED || hub.received.some((text) => text.startsWith('439')),
      ).toBe(true),
    )
    const deep = await RawHub.connect(world.hubUrl, fixture.operator.token)
    deep.socket.send(`425["session:watch",{"session_id":"${fixture.id}"}]`)
    expect(JSON.parse(await deep.answer('435'))[0]).toMatchObject({ ok: true })
    for (const { socket } of [hub, deep]) socket.terminate()
  })

  test('is refused as a message of the bus', async () => {
    const publisher = new Redis(redis.url)
    const received = vi.fn()
    const stop = world.platform.core.bus.subscribe('robots.changed', received)
    await publisher.publish(
      'wheelhouse:bus:robots.changed',
      `{"from":"another","message":{"robotIds":[],"x":${nested(4_200)}}}`,
    )
    await waitFor(() => expect(world.errors.join()).toContain('nested too deep'))
    expect(received).not.toHaveBeenCalled()
    world.errors.splice(0)
    stop()
    publisher.disconnect()
  })
})
