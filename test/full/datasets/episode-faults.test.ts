import { describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { RobotConnection } from '../../../gateway/robots/robot-connection.ts'
import { createEpisodes } from '../../../gateway/writer/episodes.ts'
import { createLog } from '../../../src/core/log.ts'
import type { ReportedEpisode } from '../../../src/modules/datasets/episode.store.ts'
import { createTestDatabase } from '../../support/database/database.ts'
import type { TestRobot } from '../../support/gateway/frame-socket.ts'
import { createTcpProxy } from '../../support/network/tcp-proxy.ts'
import { query } from '../../support/processes/processes.ts'
import {
  blockEpisodes,
  datasetsOf,
  episodeFrame,
  episodesOf,
  hasRead,
  storeEpisode,
  totals,
} from '../../support/world/episodes.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

const times = (count: number) => Array.from({ length: count }, (_, index) => index)
const framesOf = (link: TestRobot, type: string) => link.frames.filter((frame) => frame.type === type)

/** Returns the number of transactions that wait for a lock. */
async function blocked(databaseUrl: string): Promise<number> {
  const rows = await query(
    databaseUrl,
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows.length
}

describe.concurrent('several gateways', () => {
  test('200 concurrent repetitions over two of them: counted once, acknowledged at the current gateway', async () => {
    await using world = await createWorld({ bus: 'redis' })
    const gateway = await world.addNode('gateway')
    const owner = await world.client()
    const robot = await world.robot(owner)
    const frame = episodeFrame()
    const block = await blockEpisodes(world.database.url)
    const old = await world.connect(robot)
    for (const _ of times(100)) old.send(frame)
    await hasRead(old)
    const link = await world.connect(robot, gateway.gatewayUrl)
    link.beat()
    expect(await old.closed).toBe(4000)
    for (const _ of times(100)) link.send(frame)
    await hasRead(link)
    // The first transaction has locked the dataset and waits for the table, the second waits for the dataset.
    await waitFor(async () => expect(await blocked(world.database.url)).toBe(2))
    await block.release()
    for (const _ of times(100)) await link.next('episode_ack')
    expect(await datasetsOf(owner)).toMatchObject([{ robot_id: robot.id, episode_count: 1, size_mb: 1.5 }])
  })

  test('concurrent identical episodes of many robots, in any order: no deadlock, each counted once', async () => {
    // A connection for each: requests that wait for one are refused after five seconds.
    await using world = await createWorld({ env: { DATABASE_POOL_SIZE: '30' } })
    const {
      datasets: { episodeStore },
    } = world.platform
    const owner = await world.client()
    const robots: Awaited<ReturnType<typeof world.robot>>[] = []
    for (const _ of times(8)) robots.push(await world.robot(owner))
    const all: ReportedEpisode[] = robots.flatMap(({ id }) =>
      times(20).map((n) => ({
        robotId: id,
        episodeId: `e${n}`,
        startedAtMs: 0,
        endedAtMs: 1,
        sizeBytes: 1_000_000,
        success: null,
        uri: null,
        task: null,
      })),
    )
    const shuffled = () =>
      all
        .map((item) => [Math.random(), item] as const)
        .sort(([a], [b]) => a - b)
        .map(([, item]) => item)
    const own = (n: number) => robots.map(({ id }) => ({ ...all[0]!, robotId: id, episodeId: `own${n}` }))
    const saved = await Promise.all(times(30).map((n) => episodeStore.save([...shuffled(), ...own(n)])))
    expect(saved.flat()).toEqual(Array(30 * (all.length + 8)).fill(true))
    for (const dataset of await datasetsOf(owner)) {
      expect(dataset).toMatchObject({ episode_count: 50, size_mb: 50 })
    }
    expect(await datasetsOf(owner)).toHaveLength(8)
  })
})

describe.concurrent('the episode queue', () => {
  test('accepts a hundred episodes of a robot, and asks the robot to retry further ones', async () => {
    await using world = await createWorld()
    const owner = await world.client()
    const link = (await world.connect(await world.robot(owner))).beat()
    const other = await world.connect(await world.robot(owner))
    const frames = times(120).map(() => episodeFrame())
    const block = await blockEpisodes(world.database.url)
    for (const frame of frames) link.send(frame)
    await hasRead(link)
    expect(framesOf(link, 'error')).toEqual(
      frames.slice(100).map(({ episode_id }) => ({
        type: 'error',
        message: expect.stringContaining('later'),
        episode_id,
        retry_after_ms: expect.any(Number),
      })),
    )
    other.send(episodeFrame()) // other robots still have capacity
    await hasRead(other)
    expect(framesOf(other, 'error')).toEqual([])
    expect(framesOf(link, 'episode_ack')).toEqual([])
    await block.release()

    await other.next('episode_ack')
    for (const _ of times(100)) await link.next('episode_ack')
    for (const frame of frames.slice(100)) await storeEpisode(link, frame)
    expect((await datasetsOf(owner)).map((item: { episode_count: number }) => item.episode_count)).toEqual(
      expect.arrayContaining([120, 1]),
    )
    expect(link.socket.readyState).toBe(WebSocket.OPEN)
    await other.close()
  })

  test('accepts ten thousand episodes of all robots, and frees the capacity after they are stored', async () => {
    const sent: { robotId: string; frame: { type: string; episode_id: string; retry_after_ms?: number } }[] =
      []
    const links = new Map<string, RobotConnection>()
    for (const n of times(120)) {
      const link = new RobotConnection(`robot-${n}`, 1, 0)
      const send = (text: string) => sent.push({ robotId: link.robotId, frame: JSON.parse(text) }) && 1
      link.attach({ send, end() {} } as unknown as Parameters<RobotConnection['attach']>[0])
      links.set(link.robotId, link)
    }
    const storing = Promise.withResolvers<void>()
    let saved = 0
    const episodes = createEpisodes({
      store: {
        async save(batch) {
          await storing.promise
          saved += batch.length
          return batch.map(() => true)
        },
      },
      log: createLog({ level: 'silent', pretty: false }),
      connectionOf: (robotId) => links.get(robotId),
      clockMs: () => 1,
      unixMs: (readingMs) => readingMs,
    })
    const sendAll = (count: number) => {
      for (const link of links.values()) {
        for (const n of times(count)) {
          const frame = { type: 'episode' as const, episode_id: `e${n}` }
          episodes.accept(link, { ...frame, started_at: 0, ended_at: 0, size_bytes: 0 }, 1)
        }
      }
    }
    sendAll(90) // 10,800 in all
    expect(sent).toHaveLength(800)
    expect(sent.every(({ frame }) => frame.type === 'error' && frame.retry_after_ms! > 0)).toBe(true)
    storing.resolve()
    await episodes.flush()
    expect(saved).toBe(10_000)
    expect(sent.filter(({ frame }) => frame.type === 'episode_ack')).toHaveLength(10_000)
    sent.length = 0
    sendAll(80)
    await episodes.flush()
    expect(sent.filter(({ frame }) => frame.type === 'episode_ack')).toHaveLength(9_600)
    episodes.stop()
  })

  test('rejects the episode that the database rejects, and stores all others', async () => {
    await using world = await createWorld()
    await query(
      world.database.url,
      `alter table episodes add constraint no_poison check (episode_id not like 'poison%')`,
    )
    const owner = await world.client()
    const links = await Promise.all(
      times(3).map(async () => (await world.connect(await world.robot(owner))).beat()),
    )
    const block = await blockEpisodes(world.database.url) // so that they share transactions
    for (const [n, link] of links.entries()) {
      for (const m of times(20))
        link.send(episodeFrame({ episode_id: m === 7 * n ? `poison${m}` : `good${m}` }))
    }
    for (const link of links) await hasRead(link)
    await block.release()
    for (const [n, link] of links.entries()) {
      expect(await link.next('error')).toEqual({
        type: 'error',
        message: expect.any(String),
        episode_id: `poison${7 * n}`,
      })
      for (const _ of times(19)) await link.next('episode_ack')
      await storeEpisode(link)
    }
    for (const dataset of await datasetsOf(owner)) expect(dataset).toMatchObject({ episode_count: 20 })
  })

  test('rejects episodes of a robot that does not exist, and stores those of others in the same batch', async () => {
    await using world = await createWorld()
    const robot = await world.robot(await world.client())
    const report = (robotId: string) => ({
      robotId,
      episodeId: 'e',
      startedAtMs: 0,
      endedAtMs: 0,
      sizeBytes: 0,
      success: null,
      uri: null,
      task: null,
    })
    const unknownRobotId = '00000000-0000-4000-8000-000000000000'
    const save = world.platform.datasets.episodeStore.save
    expect(await save([report(unknownRobotId), report(robot.id), report(unknownRobotId)])).toEqual([
      false,
      true,
      false,
    ])
    expect(await save([report(unknownRobotId)])).toEqual([false])
  })
})

describe('a database', () => {
  test.each(['refuses connections', 'does not answer'] as const)(
    'that %s: nothing is acknowledged, robots stay connected, and all is stored when it is back',
    async (how) => {
      const database = await createTestDatabase()
      try {
        await using proxy = await createTcpProxy(database.url)
        const env = { DATABASE_URL: proxy.url, HEARTBEAT_TIMEOUT_MS: '2000' }
        await using world = await createWorld({ env })
        const owner = await world.client()
        const link = (await world.connect(await world.robot(owner))).beat()
        const before = await storeEpisode(link)
        if (how === 'refuses connections') proxy.cut()
        else proxy.silence()
        const frames = [before, ...times(60).map(() => episodeFrame())]
        for (const frame of frames) link.send(frame)
        for (const _ of times(20)) await link.next('heartbeat_ack') // twice the heartbeat timeout
        expect(framesOf(link, 'episode_ack')).toEqual([])
        expect(framesOf(link, 'error')).toEqual([])
        proxy.restore()
        for (const _ of frames) await link.next('episode_ack')
        const [dataset] = await datasetsOf(owner)
        expect(dataset).toMatchObject({ episode_count: 61 })
        expect(await episodesOf(owner, dataset.id, '?limit=100')).toHaveLength(61)
        expect(link.socket.readyState).toBe(WebSocket.OPEN)
      } finally {
        await database.drop()
      }
    },
  )
})

describe.concurrent('a gateway that shuts down', () => {
  test('stores and acknowledges accepted episodes before it closes its robot connections', async () => {
    await using world = await createWorld({ bus: 'redis' })
    const gateway = await world.addNode('gateway')
    const owner = await world.client()
    const link = await world.connect(await world.robot(owner), gateway.gatewayUrl)
    const block = await blockEpisodes(world.database.url)
    for (const _ of times(80)) link.send(episodeFrame())
    await hasRead(link)
    const stopped = gateway.stop()
    await waitFor(async () => {
      const refused = await fetch(gateway.gatewayUrl.replace(/^ws/, 'http')).then(
        () => false,
        () => true,
      )
      expect(refused).toBe(true) // it no longer listens: the shutdown has begun
    })
    expect(link.socket.readyState).toBe(WebSocket.OPEN)
    await block.release()
    expect(await link.closed).toBe(4503)
    expect(framesOf(link, 'episode_ack')).toHaveLength(80)
    await stopped
    expect(await datasetsOf(owner)).toMatchObject([{ episode_count: 80 }])
  })

  test('waits only for a bounded time, and does not acknowledge episodes that are not stored', async () => {
    await using world = await createWorld({ bus: 'redis' })
    const gateway = await world.addNode('gateway')
    const owner = await world.client()
    const robot = await world.robot(owner)
    const link = await world.connect(robot, gateway.gatewayUrl)
    link.beat()
    const block = await blockEpisodes(world.database.url)
    const frames = times(10).map(() => episodeFrame())
    for (const frame of frames) link.send(frame)
    await hasRead(link)
    const stopped = gateway.stop()
    expect(await link.closed).toBe(4503)
    expect(framesOf(link, 'episode_ack')).toEqual([])
    await block.release()
    await stopped
    const again = (await world.connect(robot)).beat()
    for (const frame of frames) await storeEpisode(again, frame)
    expect(await totals(world.database.url)).toMatchObject({ datasets: [{ count: 10, rows: 10 }] })
  })
})
