import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { closeCodes } from '@wheelhouse/protocol'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { liftByteBudget } from '../../support/gateway/byte-budget.ts'
import { type FrameSocket, type TestDriver, TestRobot } from '../../support/gateway/frame-socket.ts'
import {
  channelProcesses,
  closeTestChannels,
  createOffer,
  openChannel,
} from '../../support/gateway/test-channel.ts'
import { attempt } from '../../support/gateway/upgrade.ts'
import type { TestHubSocket } from '../../support/hub/hub-socket.ts'
import { RawHub } from '../../support/hub/raw-hub.ts'
import { startRedis, type TestRedis } from '../../support/processes/redis.ts'
import { openSessionFixture, type SessionFixture, start } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const FAILED = closeCodes.internalError.code

/** Of this file only: hubs of other files would receive the messages of another hub too. */
let redis: TestRedis
let world: World
let fixture: SessionFixture
/** The handler that throws at its next call. */
let failing: string | undefined

let restoreByteBudget: () => void
beforeAll(async () => {
  restoreByteBudget = liftByteBudget()
  redis = await startRedis()
  world = await createWorld({
    env: {
      REDIS_URL: redis.url,
      HEARTBEAT_TIMEOUT_MS: '15000',
      DEADMAN_MS: '2000',
      OPERATOR_GRACE_MS: '600000',
      GATEWAY_UDP_PORT: '',
    },
    beforeHandler(handler) {
      if (handler !== failing) return
      failing = undefined
      throw new Error(`injected into ${handler}`)
    },
  })
  fixture = await openSessionFixture(world)
})
afterAll(async () => {
  restoreByteBudget()
  closeTestChannels()
  await world?.[Symbol.asyncDispose]()
  await redis?.stop()
})

const watch = (part: 'control' | 'watch' = 'watch') =>
  world.drive(part === 'control' ? fixture.operator : fixture.client, fixture.id, part)

/** Returns the connected robot of the fixture, and reconnects it first when necessary. */
async function robot(): Promise<TestRobot> {
  if (fixture.link.socket.readyState !== fixture.link.socket.OPEN) {
    Object.assign(fixture, { link: (await world.connect(fixture.robot)).beat() })
  }
  return fixture.link
}

/** Connects an operator and returns once the robot has received a control frame from the operator. */
async function driving(): Promise<TestDriver> {
  for (;;) {
    const link = await robot()
    await waitFor(async () => {
      const { status } = await fixture.read()
      if (status === 'PAUSED') await fixture.performAction(fixture.operator, 'resume')
      expect(status).toBe('ACTIVE')
    })
    const console = await watch('control')
    await console.state()
    link.frames.splice(0)
    console.control('drive')
    // The pause after the loss of the robot may arrive only now.
    const arrived = await link.next('control', 1_000).catch(() => undefined)
    if (arrived?.data === 'drive') return console
    await console.close()
  }
}

/** Fills the kernel's buffers for a peer that does not read, then lets the peer read again. */
async function block(peer: FrameSocket, flood: (frame: number) => boolean): Promise<void> {
  peer.socket.pause()
  for (let frame = 0; frame < 300 && flood(frame); frame++) await new Promise(setImmediate)
  peer.socket.resume()
}

const bulk = 'x'.repeat(60_000)
async function floodTelemetry(peer: FrameSocket): Promise<void> {
  const link = await robot()
  await block(peer, () => {
    link.send({ type: 'telemetry', data: bulk })
    return true
  })
}

async function offerChannel(): Promise<void> {
  const link = await world.connect(await world.robot(fixture.client))
  link.send({ type: 'channel_offer', sdp: (await createOffer()).sdp })
}

/** Triggers for each handler of the gateway. Timers need no trigger. */
const atGateway: Record<string, () => Promise<unknown>> = {
  'robot:upgrade': async () => {
    const { id, token } = await world.robot(fixture.client)
    const headers = { Authorization: `Bearer ${token}` }
    const answer = await attempt(`${world.gatewayUrl}/robots/${id}/control`, { headers })
    expect(answer.status).toBe(500)
  },
  'robot:open': async () => {
    const other = await world.robot(fixture.client)
    const link = new TestRobot(`${world.gatewayUrl}/robots/${other.id}/control`, other.token)
    expect(await link.closed).toBe(FAILED)
    await (await world.connect(other)).close()
  },
  'robot:message': async () => expect(await (await robot()).closed).toBe(FAILED), // its next heartbeat
  'robot:drain': async () => {
    const console = await driving()
    const link = await robot()
    await block(link, (frame) => {
      console.control(bulk)
      return frame < 250 || !console.frames.some(({ type }) => type === 'dropped')
    })
    expect(await link.closed).toBe(FAILED)
  },
  'robot:pong': async () => {
    const link = await robot()
    const reconnected = driving() // pings reach the robot while it is driven, perhaps before this settles
    expect(await link.closed).toBe(FAILED)
    await reconnected
  },
  'robot:close': async () => {
    const other = await world.robot(fixture.client)
    await (await world.connect(other)).close()
    const status = async () => (await fixture.client.get(`/api/client/robots/${other.id}`)).body.status
    await expect.poll(status).toBe('OFFLINE')
  },
  'robot:silent': async () => {
    const link = await world.connect(await world.robot(fixture.client))
    expect(await link.closed).toBe(1006)
  },
  'robot:channel': async () => {
    const link = await robot()
    const { channel } = await openChannel(link)
    channel.send('{"type":"ack","seq":1}')
    expect(await link.closed).toBe(FAILED)
  },
  'operator:channel': async () => {
    const console = await driving()
    const { channel } = await openChannel(console)
    channel.send('{"type":"stop"}')
    expect(await console.closed).toBe(FAILED)
  },
  'channel:message': offerChannel,
  'channel:sent': offerChannel,
  'channel:ping': offerChannel,
  'channel:exit': async () => {
    await openChannel(await world.connect(await world.robot(fixture.client)))
    const [pid] = channelProcesses()
    process.kill(pid as number, 'SIGKILL')
    await waitFor(async () => {
      const link = await world.connect(await world.robot(fixture.client))
      link.send({ type: 'channel_offer', sdp: (await createOffer()).sdp })
      await link.next('channel_answer', 5_000)
    })
  },
  'operator:upgrade': async () => {
    const { body } = await fixture.operator.post(`${fixture.path}/ticket`, { part: 'control' })
    const answer = await attempt(body.url, { headers: { Authorization: `Bearer ${body.ticket}` } })
    expect(answer.status).toBe(500)
  },
  'operator:open': async () => expect(await (await watch('control')).closed).toBe(FAILED),
  'operator:message': async () => {
    const console = await driving()
    const link = await robot()
    failing = 'operator:message' // the first control frames trigger the failure
    console.control('one too many')
    expect(await console.closed).toBe(FAILED)
    expect((await link.next('stop')).reason).toBe('operator_lost')
  },
  'operator:drain': async () => {
    const console = await driving()
    await floodTelemetry(console)
    expect(await console.closed).toBe(FAILED)
  },
  'operator:pong': async () => {
    await robot()
    expect(await (await watch('control')).closed).toBe(FAILED)
  },
  'operator:close': async () => {
    const console = await driving()
    const link = await robot()
    console.destroy()
    expect((await link.next('stop')).reason).toBe('operator_lost')
  },
  'observer:upgrade': async () => {
    const { body } = await fixture.client.post(`${fixture.path}/ticket`, { part: 'watch' })
    const answer = await attempt(body.url, { headers: { Authorization: `Bearer ${body.ticket}` } })
    expect(answer.status).toBe(500)
  },
  'observer:open': async () => expect(await (await watch()).closed).toBe(FAILED),
  'observer:message': async () => {
    const observer = await watch()
    await observer.state()
    observer.send({ type: 'ping', t: 1 })
    expect(await observer.closed).toBe(FAILED)
  },
  'observer:drain': async () => {
    const observer = await watch()
    await observer.state()
    await floodTelemetry(observer)
    expect(await observer.closed).toBe(FAILED)
  },
  'observer:pong': async () => expect(await (await watch()).closed).toBe(FAILED),
  'observer:close': async () => {
    const observer = await watch()
    await observer.state()
    await observer.close()
  },
  ...Object.fromEntries(
    [
      ['livez', 'GET', '/livez'],
      ['readyz', 'GET', '/readyz'],
      ['metrics', 'GET', '/metrics'],
      ['method', 'POST', '/livez'],
      ['other', 'GET', '/nowhere'],
    ].map(([name, method, path]) => [
      `http:${name}`,
      async () => {
        const answer = await fetch(world.gatewayUrl.replace(/^ws/, 'http') + path, {
          method: method as string,
        })
        expect(answer.status).toBe(500)
      },
    ]),
  ),
  'timer:refusal': () =>
    new Promise((resolve) => {
      const { port } = new URL(world.gatewayUrl)
      const request = `GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(request))
      void waitFor(() => expect(failing).toBeUndefined()).then(() => resolve(socket.destroy()))
    }),
  'timer:deadman': async () => {
    await driving()
    expect(await (await robot()).closed).toBe(FAILED) // the robot halts by itself after the connection is lost
  },
  'session:repeat-stop': async () => expect(await (await robot()).closed).toBe(FAILED),
  'session:latency': driving,
  'session:unknown-latency': async () => {
    const robot = await world.robot(fixture.client, { latency_budget_ms: 200 })
    const link = (await world.connect(robot)).beat()
    const operator = await world.operator()
    const sessionId = await start(operator, robot.id)
    // The latency of a connection is unknown until its first pings are answered, perhaps those of the ordinary measurement.
    while (failing !== undefined) {
      const console = await world.drive(operator, sessionId)
      await console.next('latency')
      await console.close()
    }
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    await link.close()
  },
  'bus:robots.changed': async () => world.platform.core.bus.publish('robots.changed', { robotIds: [] }),
  'bus:robot.stop': async () =>
    world.platform.core.bus.publish('robot.stop', {
      sessionId: fixture.client.id,
      reason: 'x',
      eventSeq: 1,
      userId: null,
      byRole: null,
      byOwner: false,
    }),
  'bus:credential.revoked': async () =>
    world.platform.core.bus.publish('credential.revoked', { apiKeyId: 'x' }),
  'bus:permissions.lost': async () =>
    world.platform.core.bus.publish('permissions.lost', { userId: 'x', suspended: true }),
  'bus:session.tailed': async () =>
    world.platform.core.bus.publish('session.tailed', { sessionId: fixture.client.id, untilMs: 0 }),
  'recording:tap': async () =>
    world.platform.core.bus.publish('robots.changed', { robotIds: [fixture.robotId] }),
  ...runByThemselves(
    'recorders',
    'taps',
    'wheel',
    'heartbeats',
    'heartbeat-answers',
    'repeat-stops',
    'silence',
    'session-writer',
    'pending-admissions',
    'blocked',
    'latency',
    'housekeeping',
    'lease',
    'permissions',
    'logs',
    'admissions',
    'revocations',
  ),
  ...runsNow('gateway', 'reconcile'),
}

/** Runs `work` on a hub client and expects the hub to disconnect it and the client to reconnect. */
async function cutOff(work: (hub: TestHubSocket) => unknown): Promise<void> {
  const hub = await fixture.client.hub()
  const ended = new Promise<string>((resolve) => hub.socket.once('disconnect', resolve))
  await work(hub)
  expect(await ended).toBe('transport close')
  await hub.connected()
  hub.close()
}
const command = (name: string) => () => cutOff((hub) => hub.socket.emit(name, {}))
const cutRedis = (connection: 'publisher' | 'subscriber') => async () => {
  const redis = world.platform.core.hubRedis?.[connection] as Redis
  redis.disconnect(true)
  await waitFor(() => expect(redis.status).toBe('ready'))
}
/** Publishes an event as another hub does. */
async function fromAnotherHub(event: string): Promise<void> {
  const publisher = new Redis(redis.url)
  const message = { uid: 'another', nsp: '/', type: 9, data: { packet: [event] } }
  await publisher.spublish('socket.io#/#', JSON.stringify(message))
  publisher.disconnect()
}
async function expiringHub(): Promise<TestHubSocket> {
  const expires_at = new Date(Date.now() + 5_000).toISOString()
  const { body } = await fixture.client.post('/api/auth/api-keys', { name: 'short', expires_at })
  return await fixture.client.hub({ token: body.key })
}

const atHub: Record<string, () => Promise<unknown>> = {
  'socket:request': async () => {
    const hub = new RawHub(world.hubUrl)
    const refused = await new Promise<{ statusCode?: number | undefined }>((resolve) =>
      hub.socket.once('unexpected-response', (_request, answer) => resolve(answer)),
    )
    expect(refused.statusCode).toBe(400)
    hub.socket.terminate()
  },
  'socket:protocol': async () => {
    await expect(fetch(`${world.hubUrl}/socket.io/?EIO=3&transport=polling`)).rejects.toThrow()
  },
  'engine:connection': async () => (await fixture.client.hub()).close(),
  'engine:flush': async () => (await fixture.client.hub()).close(),
  'engine:drain': async () => (await fixture.client.hub()).close(),
  'timer:refused-handshake': async () => {
    await expect(fixture.client.hub({ token: 'nonsense' })).rejects.toThrow()
    await waitFor(() => expect(failing).toBeUndefined())
  },
  'socket:handshake': async () => {
    const hub = new RawHub(world.hubUrl)
    hub.socket.once('open', () => hub.socket.send('40{}'))
    await new Promise((resolve) => hub.socket.once('close', resolve))
  },
  'socket:connection': async () => (await fixture.client.hub()).close(), // disconnected once, then reconnects
  'socket:disconnect': async () => (await expiringHub()).close(),
  'socket:left': async () => (await fixture.client.hub()).close(),
  'timer:expiry': async () => {
    const hub = await expiringHub()
    const ended = new Promise<string>((resolve) => hub.socket.once('disconnect', resolve))
    expect(await ended).toMatch(/^(transport close|io server disconnect)$/) // polling detects expired keys as well
    hub.close()
  },
  'command:session:watch': command('session:watch'),
  'command:session:unwatch': command('session:unwatch'),
  'command:chat:send': command('chat:send'),
  'command:chat:typing': command('chat:typing'),
  'command:session:action': command('session:action'),
  'command:notifications:since': command('notifications:since'),
  'command:robots:watch': command('robots:watch'),
  'command:ping': command('ping'),
  'adapter:missed': () => fromAnotherHub('hub:missed'),
  'adapter:disordered': () => fromAnotherHub('hub:disordered'),
  'adapter:smessageBuffer': () => fromAnotherHub('hub:missed'),
  'redis:subscriber-close': cutRedis('subscriber'),
  'redis:subscriber-ready': cutRedis('subscriber'),
  'redis:publisher-close': cutRedis('publisher'),
  'redis:publisher-ready': cutRedis('publisher'),
  'timer:cut-off': async () => {
    const hub = await fixture.client.hub()
    await fromAnotherHub('hub:missed')
    await waitFor(() => expect(failing).toBeUndefined())
    hub.close()
  },
  'bus:credential.revoked': atGateway['bus:credential.revoked'] as () => Promise<unknown>,
  'bus:permissions.lost': atGateway['bus:permissions.lost'] as () => Promise<unknown>,
  ...runByThemselves('slow-clients', 'revocations'),
  ...runsNow('hub', 'user-presence'),
}

/** Timers with intervals of seconds, which the test does not wait for. */
function runsNow(role: 'gateway' | 'hub', name: string): Record<string, () => Promise<unknown>> {
  const handler = `timer:${name}`
  return { [handler]: async () => world.platform.core.guards[role].runRound(handler) }
}

function runByThemselves(...names: string[]): Record<string, () => Promise<unknown>> {
  return Object.fromEntries(names.map((name) => [`timer:${name}`, async () => {}]))
}

/** Checks the path between robot, operator, hub and database. */
async function worksOn(): Promise<void> {
  failing = undefined
  await (await driving()).close()
  const hub = await fixture.operator.hub()
  expect(await hub.send('session:watch', { session_id: fixture.id })).toMatchObject({ ok: true })
  hub.close()
  for (const url of [world.baseUrl, world.gatewayUrl.replace(/^ws/, 'http')]) {
    await waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200))
  }
}

async function failures(handler: string): Promise<number> {
  const text = await (await fetch(`${world.baseUrl}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith('wheelhouse_handler_errors_total'))
  return lines
    .filter((line) => line.includes(`handler="${handler}"`))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

describe('an exception', () => {
  const cases = [
    ...Object.entries(atGateway),
    ...Object.entries(atHub),
    ...Object.entries(runByThemselves('readiness')),
  ]
  test.each(cases)(
    'in %s closes at most one connection, and is logged and counted',
    async (handler, trigger) => {
      await robot()
      const before = await failures(handler)
      failing = handler
      await trigger()
      await waitFor(() => expect(failing).toBeUndefined())
      await waitFor(async () => expect(await failures(handler)).toBeGreaterThan(before))
      expect(world.errors.join()).toContain(`injected into ${handler}`)
      world.errors.splice(0)
      await worksOn()
    },
  )

  test('was injected into every handler', () => {
    const { gateway, hub, process } = world.platform.core.guards
    expect([...gateway.names].sort()).toEqual(Object.keys(atGateway).sort())
    expect([...hub.names].sort()).toEqual(Object.keys(atHub).sort())
    expect([...process.names]).toEqual(['timer:readiness'])
  })
})

describe('the sources of gateway, hub and media', () => {
  const sources = ['gateway', 'hub', 'src/roles/media'].flatMap((folder) =>
    readdirSync(new URL(`../../../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => {
        const path = `${folder}/${name}`
        return { path, text: readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8') }
      }),
  )
  const found = (pattern: RegExp) =>
    sources.flatMap(({ path, text }) =>
      [...text.matchAll(pattern)].map((match) => `${path}: ${match[0].replace(/\s+/g, ' ')}`),
    )

  test('set timers and register listeners only through the guard', () => {
    expect(found(/\bset(?:Interval|Timeout|Immediate)\s*\(/g)).toEqual([])
    expect(found(/\bprocess\.nextTick\s*\(|\bqueueMicrotask\s*\(/g)).toEqual([])
    expect(found(/\bbus\.subscribe\b.*/g)).toEqual([])
    // The listeners of the adapter are guarded right before they are registered.
    expect(found(/(?<!\bguard)\.(?:on|once|addListener|prependListener)\(.*/g)).toEqual([
      'hub/adapter.ts: .on(event, guarded)',
    ])
    expect(found(/\.use\((?!\s*guard\.handler\().*/g)).toEqual([])
    expect(found(/\ballowRequest: (?!guard\.handler\().*/g)).toEqual([])
  })

  test('pass handlers to uWebSockets only through the guard', () => {
    expect(found(/\bapp\.(?!ws\b|get\b|any\b|listen\b|close\b)\w+\(/g)).toEqual([])
    const wraps = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/\bapp\.(ws|get|any)\(\s*[^,]+,\s*(\w+)/g)].map((match) =>
        [path, match[1], match[2]].join(' '),
      ),
    )
    expect(new Set(wraps)).toEqual(
      new Set([
        'gateway/server/server.ts ws behavior',
        'gateway/server/http-routes.ts get route',
        'gateway/server/http-routes.ts any route',
        'gateway/server/http-routes.ts any notAllowed',
      ]),
    )
    const server = sources.find(({ path }) => path === 'gateway/server/server.ts')?.text ?? ''
    const body = /^function behavior[\s\S]*?^}/m.exec(server)?.[0] ?? ''
    const handlers = [
      ...body.matchAll(/^ {4}(upgrade|open|message|dropped|drain|close|ping|pong|subscription)\b/gm),
    ]
    expect(handlers.map(([, name]) => name)).toEqual(['upgrade', 'open', 'message', 'drain', 'pong', 'close'])
    for (const name of ['open', 'message', 'drain', 'pong', 'close']) expect(body).toContain(`on.${name}(`)
  })
})
