import type { SessionLogEvent } from '@wheelhouse/protocol'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { HubClient } from '../../../packages/sdk/index.ts'
import { createRedisBus } from '../../../src/core/events/redis-bus.ts'
import { createCounter } from '../../../src/core/http/rate-limit-counter.ts'
import { connectKeyRedis, connectRedis } from '../../../src/core/redis.ts'
import { startRedisCluster, type TestRedisCluster } from '../../support/processes/redis.ts'
import { openSessionFixture, type SessionFixture } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

const log = pino({ level: 'silent' })

let cluster: TestRedisCluster
beforeAll(async () => {
  cluster = await startRedisCluster()
})
afterAll(() => cluster.stop())

function onNode(url: string): Redis {
  const redis = new Redis(url)
  onTestFinished(() => redis.disconnect())
  return redis
}

async function sendMessage({ id, operator }: SessionFixture, body: string): Promise<number> {
  const reply = await operator.post(`/api/sessions/${id}/messages`, { body })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.seq
}

const storedLog = async ({ id, owner }: SessionFixture): Promise<SessionLogEvent[]> =>
  (await owner.get(`/api/sessions/${id}/events?limit=200`)).body.events

/** Watches a session through one hub. Its log must be complete at the end. */
async function watch(url: string, session: SessionFixture) {
  const events: SessionLogEvent[] = []
  const client = new HubClient({ url, token: session.owner.token, reconnect: { baseMs: 5, maxMs: 50 } })
  await client.connect()
  await client.watch(session.id, { onEvent: (event) => events.push(event) })
  return {
    client,
    events,
    reaches: (seq: number) => waitFor(() => expect(events.at(-1)?.seq).toBe(seq)),
  }
}

test('hints reach other processes, whichever node they are subscribed to', async () => {
  const [first, second, third] = cluster.nodes.map(({ url }) => url) as [string, string, string]
  const join = (urls: string, processId: string) => {
    const [publisher, subscriber] = [
      connectRedis(urls, { name: 'bus-publisher', log }),
      connectRedis(urls, { name: 'bus-subscriber', log, queueCommands: true }),
    ]
    onTestFinished(() => {
      publisher.disconnect()
      subscriber.disconnect()
    })
    const report = (cause: unknown) => expect.unreachable(String(cause))
    return { bus: createRedisBus({ publisher, subscriber, processId, report }), publisher }
  }
  const received: string[] = []
  const listeners = [join([first, second].join(), 'a'), join([second, third].join(), 'b')]
  for (const [index, { bus }] of listeners.entries()) {
    bus.subscribe('robots.changed', ({ robotIds }) => received.push(`${index} ${robotIds[0]}`))
  }
  const { bus, publisher } = join([third, first].join(), 'c')
  await publisher.ping()
  await waitFor(() => {
    bus.publish('robots.changed', { robotIds: ['robot'] })
    expect(new Set(received)).toEqual(new Set(['0 robot', '1 robot']))
  })
})

test('requests are counted once for all processes, on every node', async () => {
  const processes = [0, 1].map(() => {
    const redis = connectKeyRedis(cluster.url, { name: 'rate-limits', log, commandMs: 30_000 })
    onTestFinished(() => redis.disconnect())
    return { redis, count: createCounter({ name: 'cluster', limit: 2, windowSeconds: 60, redis }) }
  })
  for (const { redis } of processes) {
    await waitFor(() => expect(redis.status).toBe('ready'))
  }
  for (let caller = 0; caller < 30; caller++) {
    const answers: boolean[] = []
    for (const index of [0, 1, 0, 1]) {
      answers.push((await processes[index]!.count(`caller-${caller}`)).allowed)
    }
    expect(answers).toEqual([true, true, false, false])
  }
  const counted = await Promise.all(
    cluster.nodes.map(async ({ url }) => (await onNode(url).keys('wheelhouse:rate:cluster:*')).length),
  )
  expect(counted.reduce((sum, count) => sum + count)).toBe(30)
  expect(Math.min(...counted), `callers on each node: ${counted}`).toBeGreaterThan(0)
})

test('two hubs deliver to each other in order; the loss of a node loses no event', async () => {
  await using world = await createWorld({ env: { REDIS_URL: cluster.url } })
  const second = await world.addNode('hub')
  const session = await openSessionFixture(world)
  const observers = [await watch(world.hubUrl, session), await watch(second.hubUrl, session)]
  const allReach = async (seq: number) => {
    for (const observer of observers) await observer.reaches(seq)
  }
  try {
    const plain = await Promise.all([world.hubUrl, second.hubUrl].map((url) => session.owner.hub({ url })))
    for (const socket of plain) {
      await socket.send('session:watch', { session_id: session.id })
      await socket.send('robots:watch')
    }
    for (let count = 0; count < 30; count++) await sendMessage(session, `message ${count}`)
    for (const socket of plain) {
      await socket.saw('session:event', { seq: 31 })
      const seqs = socket.of('session:event').map(({ seq }) => seq)
      expect(seqs).toEqual(Array.from({ length: 30 }, (_, index) => index + 2))
    }
    const typing = await session.operator.hub({ url: second.hubUrl })
    await typing.send('chat:typing', { session_id: session.id })
    await plain[0]!.saw('chat:typing', { user_id: session.operator.id })
    for (const socket of plain) socket.close()

    // All hubs connect to the first node.
    expect(await connectionsOf(cluster.nodes[0]!.url, 'wheelhouse-hub-')).toBe(4)
    const sending = Array.from({ length: 20 }, (_, index) => sendMessage(session, `while it dies ${index}`))
    await cluster.nodes[0]!.stop('SIGKILL')
    await allReach(Math.max(...(await Promise.all(sending))))
    // The next node serves; later events arrive live again.
    await waitFor(async () => {
      const here = await Promise.all(
        cluster.nodes.slice(1).map(({ url }) => connectionsOf(url, 'wheelhouse-hub-')),
      )
      expect(here[0]! + here[1]!).toBe(4)
    })
    for (let count = 0; count < 10; count++) await allReach(await sendMessage(session, `without it ${count}`))
    for (const { events } of observers) expect(events).toEqual(await storedLog(session))
    // Rate limits continue too: on the remaining nodes, or else in each process.
    const redis = connectKeyRedis(cluster.url, { name: 'rate-limits', log })
    onTestFinished(() => redis.disconnect())
    const count = createCounter({ name: 'left', limit: 1, windowSeconds: 60, redis })
    for (const allowed of [true, false]) {
      for (let caller = 0; caller < 30; caller++) expect((await count(`${caller}`)).allowed).toBe(allowed)
    }
  } finally {
    for (const { client } of observers) client.close()
  }
})

/** Returns the number of a node's connections whose names begin with the prefix. */
async function connectionsOf(url: string, start: string): Promise<number> {
  const redis = new Redis(url)
  const list = String(await redis.client('LIST'))
  redis.disconnect()
  return [...list.matchAll(/ name=(\S*)/g)].filter(([, name]) => name?.startsWith(start)).length
}
