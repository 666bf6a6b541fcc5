import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Episode } from '@wheelhouse/protocol'
import { afterEach, describe, expect, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { EpisodeOutbox, type EpisodeReport } from '../../../packages/sdk/episode-outbox.ts'
import { EpisodeRefusedError } from '../../../packages/sdk/errors.ts'
import { RobotLink } from '../../../packages/sdk/robot-link.ts'
import type { RobotLinkOptions } from '../../../packages/sdk/robot-link-options.ts'
import { DriveRecorder } from '../../../packages/sdk/simulated-robot.ts'
import { datasetsOf } from '../../support/world/episodes.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

type Frame = { type: string; [field: string]: unknown }

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

let serial = 0
const report = (fields: Partial<EpisodeReport> = {}): EpisodeReport => ({
  episode_id: `e${++serial}`,
  started_at: 1_000,
  ended_at: 2_000,
  size_bytes: 10,
  ...fields,
})
const times = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Tracks promises: the number of fulfilled ones, and the reasons of rejected ones. */
async function outcomes(promises: readonly Promise<void>[]) {
  const pending = Symbol()
  const states = await Promise.all(
    promises.map((promise) =>
      Promise.race([
        promise.then(
          () => undefined,
          (cause: Error) => cause,
        ),
        settled().then(() => pending),
      ]),
    ),
  )
  return {
    fulfilled: states.filter((state) => state === undefined).length,
    rejected: states.filter((state) => state instanceof Error),
    pending: states.filter((state) => state === pending).length,
  }
}
/** Settles after all other promises that can settle. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('the episode outbox', () => {
  function createFixture() {
    const fixture = { nowMs: 0, online: true, sent: [] as Episode[], reports: [] as unknown[] }
    const outbox = new EpisodeOutbox({
      transmit: (frame) => {
        if (fixture.online) fixture.sent.push(frame)
        return fixture.online
      },
      report: (cause) => fixture.reports.push(cause),
      nowMs: () => fixture.nowMs,
    })
    const ids = () => fixture.sent.splice(0).map((frame) => frame.episode_id)
    return { fixture, outbox, ids }
  }
  const refusal = (episodeId: string, retryAfterMs?: number) => ({
    type: 'error' as const,
    message: 'no',
    episode_id: episodeId,
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
  })

  test('sends a valid frame at once and resolves after the acknowledgement', async () => {
    const { fixture, outbox } = createFixture()
    const given = report({ success: false, uri: 's3://b/k' })
    const promise = outbox.send({ ...given, type: 'heartbeat', extra: 'x'.repeat(100_000) } as EpisodeReport)
    expect(fixture.sent).toEqual([{ type: 'episode', ...given }])
    expect(Episode.safeParse(JSON.parse(JSON.stringify(fixture.sent[0]))).success).toBe(true)
    outbox.acknowledged('another episode')
    expect(await outcomes([promise])).toMatchObject({ pending: 1 })
    outbox.acknowledged(given.episode_id)
    expect(await outcomes([promise])).toMatchObject({ fulfilled: 1 })
  })

  test('has at most 32 unanswered episodes, in order, and continues with every answer', async () => {
    const { outbox, ids } = createFixture()
    const reports = times(40).map(() => report())
    const promises = reports.map((episode) => outbox.send(episode))
    const all = reports.map((episode) => episode.episode_id)
    expect(ids()).toEqual(all.slice(0, 32))
    outbox.acknowledged(all[5] as string)
    outbox.refused(refusal(all[6] as string))
    expect(ids()).toEqual(all.slice(32, 34))
    for (const id of all) outbox.acknowledged(id)
    expect(ids()).toEqual(all.slice(34))
    const states = await outcomes(promises)
    expect(states).toMatchObject({ fulfilled: 39, pending: 0 })
    expect(states.rejected).toEqual([expect.any(EpisodeRefusedError)])
  })

  test('repeats only unanswered episodes after a lost connection', () => {
    const { fixture, outbox, ids } = createFixture()
    const [a, b, c] = [report(), report(), report()]
    for (const episode of [a, b]) void outbox.send(episode)
    outbox.acknowledged(a.episode_id)
    fixture.online = false
    void outbox.send(c)
    expect(ids()).toEqual([a.episode_id, b.episode_id])
    fixture.online = true
    outbox.online()
    expect(ids()).toEqual([b.episode_id, c.episode_id])
  })

  test('repeats an episode after 15 s without an answer on an open connection', () => {
    const { fixture, outbox, ids } = createFixture()
    const episode = report()
    void outbox.send(episode)
    expect(ids()).toEqual([episode.episode_id])
    fixture.nowMs = 14_999
    outbox.tick()
    expect(ids()).toEqual([])
    fixture.nowMs = 15_000
    outbox.tick()
    outbox.tick()
    expect(ids()).toEqual([episode.episode_id])
  })

  test('repeats an episode after the delay of the gateway and sends others first', async () => {
    const { fixture, outbox, ids } = createFixture()
    const reports = times(33).map(() => report())
    const promises = reports.map((episode) => outbox.send(episode))
    const all = reports.map((episode) => episode.episode_id)
    ids()
    outbox.refused(refusal(all[0] as string, 5_000))
    expect(ids()).toEqual([all[32]])
    for (const id of all.slice(1)) outbox.acknowledged(id)
    fixture.nowMs = 4_999
    outbox.tick()
    expect(ids()).toEqual([])
    fixture.nowMs = 5_000
    outbox.tick()
    expect(ids()).toEqual([all[0]])
    expect(await outcomes(promises)).toMatchObject({ fulfilled: 32, pending: 1 })
    outbox.refused({ type: 'error', message: 'about something else' })
    expect(await outcomes(promises)).toMatchObject({ pending: 1 })
  })

  test('accepts an episode once, and at most a thousand', async () => {
    const { fixture, outbox } = createFixture()
    const episode = report()
    const promise = outbox.send(episode)
    expect(outbox.send(episode)).toBe(promise)
    expect(fixture.sent).toHaveLength(1)
    for (const _ of times(999)) void outbox.send(report())
    await expect(outbox.send(report())).rejects.toThrow('too many')
    expect(fixture.reports).toHaveLength(1)
    outbox.acknowledged(episode.episode_id)
    const next = outbox.send(report())
    expect(await outcomes([next])).toMatchObject({ pending: 1 })
  })

  test.each([
    ['no id', { episode_id: '' }],
    ['an id of two lines', { episode_id: 'a\nb' }],
    ['an end before the start', { ended_at: 1 }],
    ['a size in fractions', { size_bytes: 0.5 }],
    ['a URI of a script', { uri: 'javascript:alert(1)' }],
  ])('refuses %s without sending it', async (_what, fields) => {
    const { fixture, outbox } = createFixture()
    await expect(outbox.send(report(fields))).rejects.toBeInstanceOf(TypeError)
    expect(fixture.sent).toEqual([])
    expect(fixture.reports).toEqual([expect.any(TypeError)])
  })

  test('rejects all episodes after it is closed', async () => {
    const { fixture, outbox } = createFixture()
    const promises = [outbox.send(report()), outbox.send(report())]
    outbox.close(new Error('over'))
    promises.push(outbox.send(report()))
    expect((await outcomes(promises)).rejected).toHaveLength(3)
    expect(fixture.sent).toHaveLength(2)
  })
})

describe('a robot link', () => {
  /** Starts a fake gateway that answers only on demand. */
  async function createGateway() {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    const gateway = {
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/r`,
      socket: null as WebSocket | null,
      episodes: [] as Frame[],
      send: (frame: Frame) => gateway.socket?.send(JSON.stringify(frame)),
    }
    let epoch = 0
    server.on('connection', (socket) => {
      gateway.socket = socket
      socket.on('message', (data) => {
        const frame = JSON.parse(String(data)) as Frame
        if (frame.type === 'episode') gateway.episodes.push(frame)
        else gateway.send({ type: 'heartbeat_ack', seq: null, t: 1 })
      })
      gateway.send({
        type: 'welcome',
        robot_id: '0b0e7a5e-2f0e-4d51-8a9b-0d6a3c1f2e10',
        epoch: ++epoch,
        heartbeat_interval_ms: 20,
        heartbeat_timeout_ms: 5_000,
        deadman_ms: 250,
        session: null,
        stop: null,
      })
    })
    cleanups.push(async () => {
      for (const socket of server.clients) socket.terminate()
      server.close()
      await once(server, 'close')
    })
    return gateway
  }
  function robot(url: string, options: Partial<RobotLinkOptions> = {}): RobotLink {
    const link = new RobotLink({ url, token: 'token', reconnect: { baseMs: 2, maxMs: 10 }, ...options })
    cleanups.push(() => link.close())
    return link
  }

  test('delivers episodes that were reported before the first connect, across several connections', async () => {
    const gateway = await createGateway()
    const link = robot(gateway.url)
    const [a, b] = [report(), report()]
    const promises = [link.sendEpisode(a), link.sendEpisode(b)]
    await link.connect()
    await waitFor(() => expect(gateway.episodes).toHaveLength(2))
    gateway.send({ type: 'episode_ack', episode_id: a.episode_id })
    await promises[0]
    gateway.socket?.terminate()
    await waitFor(() => expect(link.epoch).toBe(2))
    await waitFor(() => expect(gateway.episodes).toHaveLength(3))
    expect(gateway.episodes[2]).toEqual({ type: 'episode', ...b, t: expect.any(Number) })
    gateway.send({ type: 'episode_ack', episode_id: b.episode_id })
    await promises[1]
  })

  test('repeats an episode after the delay of the gateway', async () => {
    const gateway = await createGateway()
    const errors: unknown[] = []
    const link = robot(gateway.url, { onError: (cause) => errors.push(cause) })
    await link.connect()
    const episode = report()
    const promise = link.sendEpisode(episode)
    await waitFor(() => expect(gateway.episodes).toHaveLength(1))
    gateway.send({ type: 'error', message: 'full', episode_id: episode.episode_id, retry_after_ms: 40 })
    await waitFor(() => expect(gateway.episodes).toHaveLength(2))
    gateway.send({ type: 'episode_ack', episode_id: episode.episode_id })
    await promise
    expect(errors).toMatchObject([{ message: 'gateway: full' }])
  })

  test('reports a refusal through the promise and onError, and the promise can be ignored', async () => {
    const gateway = await createGateway()
    const errors: unknown[] = []
    const link = robot(gateway.url, { onError: (cause) => errors.push(cause) })
    await link.connect()
    const episode = report()
    void link.sendEpisode(episode)
    const promise = link.sendEpisode(episode)
    await waitFor(() => expect(gateway.episodes).toHaveLength(1))
    gateway.send({ type: 'error', message: 'never', episode_id: episode.episode_id })
    await expect(promise).rejects.toThrow(EpisodeRefusedError)
    void link.sendEpisode(report({ size_bytes: -1 }))
    await waitFor(() => expect(errors).toMatchObject([{ message: 'gateway: never' }, expect.any(TypeError)]))
  })

  test('rejects unacknowledged episodes when it is closed', async () => {
    const gateway = await createGateway()
    const link = robot(gateway.url)
    await link.connect()
    const promise = link.sendEpisode(report())
    await link.close()
    await expect(promise).rejects.toThrow('closed')
    await expect(link.sendEpisode(report())).rejects.toThrow('closed')
  })

  test('reports hundreds of episodes to a real gateway, each counted once', async () => {
    await using world = await createWorld()
    const owner = await world.client()
    const { id, token } = await world.robot(owner)
    const errors: unknown[] = []
    const link = robot(`${world.gatewayUrl}/robots/${id}/control`, {
      token,
      onError: (cause) => errors.push(cause),
    })
    await link.connect()
    await Promise.all(times(400).map((n) => link.sendEpisode(report({ size_bytes: n }))))
    expect(await datasetsOf(owner)).toMatchObject([{ episode_count: 400, size_mb: (399 * 200) / 1_000_000 }])
    expect(errors).toEqual([])
    await link.close()
  })
})

describe('the drive recorder', () => {
  const T = 1_800_000_000_000

  test('records one episode until the drive ends', () => {
    const recorder = new DriveRecorder()
    expect(recorder.end(T)).toBeNull()
    recorder.sample(1_000, true) // no operator controls the robot yet
    recorder.driven(T)
    recorder.sample(10, false)
    recorder.driven(T + 500)
    recorder.sample(20, false)
    expect(recorder.due(T + 1_000)).toBeNull()
    const first = recorder.end(T + 1_200)
    expect(first).toEqual({
      episode_id: expect.any(String),
      started_at: T,
      ended_at: T + 1_200,
      size_bytes: 30,
      success: true,
    })
    expect(recorder.end(T + 1_300)).toBeNull()
    recorder.driven(T + 2_000)
    recorder.sample(5, true)
    const second = recorder.end(T + 1_000) // the clock was set back
    expect(second).toMatchObject({
      started_at: T + 2_000,
      ended_at: T + 2_000,
      size_bytes: 5,
      success: false,
    })
    expect(second?.episode_id).not.toBe(first?.episode_id)
  })

  test('ends an episode after five seconds without a command, or after a minute', () => {
    const recorder = new DriveRecorder()
    recorder.driven(T)
    expect(recorder.due(T + 4_999)).toBeNull()
    expect(recorder.due(T + 5_000)).toMatchObject({ started_at: T, ended_at: T + 5_000 })
    for (let second = 0; second < 60; second++) {
      recorder.driven(T + second * 1_000)
      expect(recorder.due(T + second * 1_000 + 999)).toBeNull()
    }
    expect(recorder.due(T + 60_000)).toMatchObject({ started_at: T, ended_at: T + 60_000 })
  })
})
