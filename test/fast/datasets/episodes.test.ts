import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { TestRobot } from '../../support/gateway/frame-socket.ts'
import {
  blockEpisodes,
  datasetsOf,
  episodeFrame,
  episodesOf,
  hasRead,
  storeEpisode,
  totals,
} from '../../support/world/episodes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const MB = 1_000_000

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

async function connectedRobot(owner?: TestUser) {
  const client = owner ?? (await world.client())
  const robot = await world.robot(client)
  return { owner: client, robot, link: (await world.connect(robot)).beat() }
}

/** Creates a robot in a new session. */
async function inSession() {
  const { owner, robot, link } = await connectedRobot()
  const operator = await world.operator()
  const { sessionId } = (await operator.post('/api/sessions', { robotId: robot.id })).body
  await link.next('session')
  const session = async () => (await owner.get(`/api/sessions/${sessionId}`)).body
  const end = () => operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  return { owner, operator, robot, link, sessionId, session, end }
}

/** Inserts past sessions of a robot. Times are Unix milliseconds. */
async function pastSessions(
  robotId: string,
  spans: readonly (readonly [number, number])[],
): Promise<string[]> {
  await using database = await connectTo(world.database.url)
  const ids: string[] = []
  for (const [startMs, endMs] of spans) {
    const id = randomUUID()
    await database.query(
      `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at)
       select $1, id, owner_id, owner_id, 'COMPLETED', $3, $4 from robots where id = $2`,
      [id, robotId, new Date(startMs), new Date(endMs)],
    )
    ids.push(id)
  }
  return ids
}

/** Returns the session to which the database assigned an episode. */
async function sessionOf(robotId: string, episodeId: string): Promise<string | null> {
  const row = await world.platform.core.db
    .selectFrom('episodes')
    .select('session_id')
    .where('robot_id', '=', robotId)
    .where('episode_id', '=', episodeId)
    .executeTakeFirstOrThrow()
  return row.session_id
}

describe('an episode', () => {
  test('is counted for its session and its dataset, and listed', async () => {
    const { owner, robot, link, sessionId, session, end } = await inSession()
    const now = Date.now()
    const first = await storeEpisode(link, {
      started_at: now + 0.25,
      ended_at: now + 2_000.75,
      size_bytes: 1_500_000,
      success: false,
      uri: 's3://recordings/a.mcap',
      note: 'not kept',
    })
    const second = await storeEpisode(link, { started_at: now, ended_at: now, size_bytes: 0 })

    expect(await session()).toMatchObject({ episodes_collected: 2, data_collected_mb: 1.5 })
    const [dataset] = await datasetsOf(owner)
    expect(dataset).toMatchObject({ robot_id: robot.id, episode_count: 2, size_mb: 1.5 })
    const marks = { source: 'robot', task: null, recording_id: null, not_exportable: 'no_recording' }
    const shared = { session_id: sessionId, created_at: expect.any(String), id: expect.any(String), ...marks }
    const episodes = await episodesOf(owner, dataset.id)
    expect(episodes).toHaveLength(2)
    expect(episodes).toContainEqual({
      ...shared,
      episode_id: first.episode_id,
      size_mb: 1.5,
      success: false,
      uri: 's3://recordings/a.mcap',
      started_at: new Date(now).toISOString(),
      ended_at: new Date(now + 2_000).toISOString(),
    })
    expect(episodes).toContainEqual({
      ...shared,
      episode_id: second.episode_id,
      size_mb: 0,
      success: null,
      uri: null,
      started_at: new Date(now).toISOString(),
      ended_at: new Date(now).toISOString(),
    })
    await end()
  })

  test('that is reported after its recording was finished has the recording', async () => {
    const { owner, robot, link } = await connectedRobot()
    const now = Date.now()
    const [sessionId] = await pastSessions(robot.id, [[now - 60_000, now - 1_000]])
    const recordingId = randomUUID()
    await using database = await connectTo(world.database.url)
    await database.query(
      `insert into recordings
         (id, session_id, robot_id, client_id, operator_id, mode, status, file_key, started_at, ended_at, finished_at)
       select $1, id, robot_id, client_id, operator_id, 'control', 'READY', 'recordings/file', started_at, ended_at, ended_at
       from sessions where id = $2`,
      [recordingId, sessionId],
    )
    await storeEpisode(link, { started_at: now - 20_000, ended_at: now - 10_000 })
    const [dataset] = await datasetsOf(owner)
    expect(await episodesOf(owner, dataset.id)).toMatchObject([
      { session_id: sessionId, recording_id: recordingId },
    ])
  })

  test('is acknowledged after its commit, not before', async () => {
    const { owner, link } = await connectedRobot()
    const block = await blockEpisodes(world.database.url)
    try {
      link.send(episodeFrame())
      await hasRead(link)
      await waitFor(async () => {
        await using database = await connectTo(world.database.url)
        const { rows } = await database.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        expect(rows).toHaveLength(1)
      })
      await hasRead(link)
      expect(link.frames.filter(({ type }) => type === 'episode_ack')).toEqual([])
    } finally {
      await block.release()
    }
    await link.next('episode_ack')
    expect(await datasetsOf(owner)).toMatchObject([{ episode_count: 1 }])
  })

  test('sent again is acknowledged again and counted once; the first report is unchanged', async () => {
    const { owner, link, sessionId, session, end } = await inSession()
    const now = Date.now()
    const { episode_id } = await storeEpisode(link, { started_at: now, ended_at: now, success: true })
    await storeEpisode(link, { episode_id, started_at: now, ended_at: now, success: false, size_bytes: 9 })
    await end()
    await storeEpisode(link, { episode_id, uri: 'file:///elsewhere' })

    const [dataset] = await datasetsOf(owner)
    expect(dataset).toMatchObject({ episode_count: 1, size_mb: 1.5 })
    expect(await episodesOf(owner, dataset.id)).toMatchObject([
      { episode_id, session_id: sessionId, success: true, uri: null, size_mb: 1.5 },
    ])
    expect(await session()).toMatchObject({ episodes_collected: 1, data_collected_mb: 1.5 })
  })

  test('sent many times concurrently is acknowledged as often and counted once', async () => {
    const { owner, link } = await connectedRobot()
    const frame = episodeFrame()
    for (let n = 0; n < 90; n++) link.send(frame)
    for (let n = 0; n < 90; n++)
      expect(await link.next('episode_ack')).toMatchObject({ episode_id: frame.episode_id })
    expect(await datasetsOf(owner)).toMatchObject([{ episode_count: 1, size_mb: 1.5 }])
  })

  test('with the same id from another robot is a different episode', async () => {
    const item = await connectedRobot()
    const other = await connectedRobot(item.owner)
    const { episode_id } = await storeEpisode(item.link)
    await storeEpisode(other.link, { episode_id, size_bytes: 1 })
    expect(await datasetsOf(item.owner)).toMatchObject([
      { robot_id: other.robot.id, episode_count: 1, size_mb: 1 / MB },
      { robot_id: item.robot.id, episode_count: 1, size_mb: 1.5 },
    ])
  })

  test('may arrive after the session has ended, over a new connection, and still counts for it', async () => {
    const { robot, link, session, end } = await inSession()
    const frame = episodeFrame({ started_at: Date.now(), ended_at: Date.now() })
    await end()
    await link.close()
    const again = await world.connect(robot)
    await storeEpisode(again, frame)
    expect(await session()).toMatchObject({
      status: 'COMPLETED',
      episodes_collected: 1,
      data_collected_mb: 1.5,
    })
    await again.close()
  })

  test('sent before the welcome is stored', async () => {
    const { owner, robot, link } = await connectedRobot()
    await link.close()
    const early = new TestRobot(`${world.gatewayUrl}/robots/${robot.id}/control`, robot.token)
    early.socket.on('open', () => early.send(episodeFrame()))
    await early.next('episode_ack')
    expect(await datasetsOf(owner)).toMatchObject([{ episode_count: 1 }])
    await early.close()
  })

  test('with an absurd size does not make the lists of its owner unreadable', async () => {
    const { owner, link, session, end } = await inSession()
    const now = Date.now()
    for (let n = 0; n < 3; n++) {
      await storeEpisode(link, { size_bytes: Number.MAX_SAFE_INTEGER, started_at: now, ended_at: now })
    }
    const most = Number.MAX_SAFE_INTEGER / MB
    expect(await datasetsOf(owner)).toMatchObject([{ episode_count: 3, size_mb: most }])
    expect(await session()).toMatchObject({ episodes_collected: 3, data_collected_mb: most })
    await end()
  })
})

describe('the session of an episode', () => {
  const T = Date.UTC(2026, 3, 1)
  test.each([
    ['inside it', [[0, 60_000]], 30_000, 0],
    ['at the very start', [[0, 60_000]], 0, 0],
    ['at the very end', [[0, 60_000]], 60_000, 0],
    ['just before it, within five seconds', [[0, 60_000]], -5_000, 0],
    ['just after it, within five seconds', [[0, 60_000]], 65_000, 0],
    ['too early', [[0, 60_000]], -5_001, null],
    ['too late', [[0, 60_000]], 65_001, null],
    [
      'in the later of two',
      [
        [0, 60_000],
        [70_000, 80_000],
      ],
      75_000,
      1,
    ],
    [
      'in the earlier of two',
      [
        [0, 60_000],
        [70_000, 80_000],
      ],
      30_000,
      0,
    ],
    [
      'in the earlier one, close to the later',
      [
        [0, 60_000],
        [60_500, 80_000],
      ],
      60_000,
      0,
    ],
    [
      'between two, close to both: the later',
      [
        [0, 60_000],
        [62_000, 80_000],
      ],
      61_000,
      1,
    ],
    [
      'at the boundary of adjacent sessions: the later',
      [
        [0, 60_000],
        [60_000, 80_000],
      ],
      60_000,
      1,
    ],
    ['in the oldest of many', Array.from({ length: 30 }, (_, n) => [n * 60_000, n * 60_000 + 50_000]), 10, 0],
  ] as [string, [number, number][], number, number | null][])(
    'is correct for a start %s',
    async (_where, spans, startMs, expected) => {
      const { robot, link } = await connectedRobot()
      const ids = await pastSessions(
        robot.id,
        spans.map(([from, to]) => [T + from, T + to] as const),
      )
      const { episode_id } = await storeEpisode(link, { started_at: T + startMs, ended_at: T + startMs + 1 })
      expect(await sessionOf(robot.id, episode_id)).toBe(expected === null ? null : ids[expected])
      await link.close()
    },
  )

  test('is null before the first session, and for sessions of another robot', async () => {
    const { owner, link, session, end } = await inSession()
    const other = await connectedRobot(owner)
    await storeEpisode(link, { started_at: Date.now() - 3_600_000, ended_at: Date.now() })
    await storeEpisode(other.link, { started_at: Date.now(), ended_at: Date.now() })
    expect(await session()).toMatchObject({ episodes_collected: 0, data_collected_mb: 0 })
    expect(await datasetsOf(owner)).toMatchObject([{ episode_count: 1 }, { episode_count: 1 }])
    await end()
  })

  test('is found with the clock of the robot, however wrong it is, if the frame has its time', async () => {
    const { robot, owner, link, sessionId, end } = await inSession()
    for (const errorMs of [-86_400_000, 3_600_000]) {
      const clockMs = Date.now() + errorMs
      const episode = { started_at: clockMs - 10, ended_at: clockMs, t: clockMs, task: 'Pick the cup' }
      const { episode_id } = await storeEpisode(link, episode)
      expect(await sessionOf(robot.id, episode_id)).toBe(sessionId)
    }
    const [{ id }] = await datasetsOf(owner)
    for (const { started_at, ended_at, task } of await episodesOf(owner, id)) {
      expect(Math.abs(Date.parse(ended_at) - Date.now())).toBeLessThan(60_000)
      expect(Date.parse(ended_at) - Date.parse(started_at)).toBe(10)
      expect(task).toBe('Pick the cup')
    }
    await end()
  })

  test('is refused with an error if its end is in the future, because the clock of the robot is wrong', async () => {
    const { owner, link, end } = await inSession()
    const later = Date.now() + 60_000
    const frame = episodeFrame({ started_at: later, ended_at: later })
    link.send(frame)
    const error = await link.next('error')
    expect(error).toMatchObject({
      episode_id: frame.episode_id,
      message: expect.stringMatching(/in the future/),
    })
    expect(error).not.toHaveProperty('retry_after_ms')
    expect(await datasetsOf(owner)).toEqual([])
    await end()
  })
})

describe('malformed episodes', () => {
  test.each([
    ['no id', { episode_id: undefined }, false],
    ['an empty id', { episode_id: '' }, false],
    ['an id that is too long', { episode_id: 'x'.repeat(201) }, false],
    ['an id with NUL', { episode_id: 'a\0b' }, false],
    ['an id with a lone surrogate', { episode_id: 'a\ud800' }, false],
    ['an id of two lines', { episode_id: 'a\nb' }, false],
    ['an id that is a number', { episode_id: 7 }, false],
    ['no start', { started_at: undefined }, true],
    ['a start as text', { started_at: '2026-11-20T10:00:00Z' }, true],
    ['a negative start', { started_at: -1 }, true],
    ['an end before the start', { ended_at: 1 }, true],
    ['an end after the year 9999', { ended_at: 1e15 }, true],
    ['a negative size', { size_bytes: -1 }, true],
    ['a task of two lines', { task: 'a\nb' }, true],
    ['a task that is too long', { task: 'x'.repeat(501) }, true],
    ['a time as text', { t: 'now' }, true],
    ['a fractional size', { size_bytes: 1.5 }, true],
    ['a size beyond safe numbers', { size_bytes: 2 ** 53 }, true],
    ['a success as text', { success: 'yes' }, true],
    ['a script URI', { uri: 'javascript:alert(1)' }, true],
    ['a data URI', { uri: 'data:text/html,x' }, true],
    ['a bare path', { uri: '/recordings/a.mcap' }, true],
    ['a URI with a space', { uri: 'https://example.com/a b' }, true],
    ['a URI with NUL', { uri: 's3://a/\0' }, true],
    ['a URI that is too long', { uri: `https://${'x'.repeat(2_000)}` }, true],
  ])(
    '%s: is answered with an error and not stored, the robot stays connected',
    async (_what, fields, named) => {
      const { owner, link } = await connectedRobot()
      const frame = episodeFrame(fields)
      link.send(frame)
      const error = await link.next('error')
      expect(error).toEqual({
        type: 'error',
        message: expect.stringMatching(/\S/),
        ...(named && { episode_id: frame.episode_id }),
      })
      await storeEpisode(link)
      expect(await datasetsOf(owner)).toMatchObject([{ episode_count: 1 }])
      await link.close()
    },
  )

  test.each([
    ['200 characters of id', { episode_id: '🤖'.repeat(100) }],
    ['quotes, backslashes and braces', { episode_id: `{"a\\b'c"},NULL` }],
    ['the text NULL', { episode_id: 'NULL' }],
    ['2,000 characters of URI', { uri: `https://${'x'.repeat(1_992)}` }],
    ['a URI with special characters', { uri: `file:///a/{"b"},\\,'c';--%00?d=e&f#g` }],
    ['no time and no size', { started_at: 0, ended_at: 0, size_bytes: 0 }],
  ])('%s: is stored unchanged', async (_what, fields) => {
    const { owner, link } = await connectedRobot()
    const frame = await storeEpisode(link, fields)
    const [dataset] = await datasetsOf(owner)
    const [episode] = await episodesOf(owner, dataset.id)
    expect(episode).toMatchObject({
      episode_id: frame.episode_id,
      uri: 'uri' in fields ? fields.uri : null,
      started_at: new Date(frame.started_at).toISOString(),
      ended_at: new Date(frame.ended_at).toISOString(),
      size_mb: frame.size_bytes / MB,
    })
    await link.close()
  })
})

describe('GET /api/client/datasets', () => {
  test('GET /api/client/datasets: returns exactly the contract fields, most recently updated first', async () => {
    const owner = await world.client()
    expect((await owner.get('/api/client/datasets')).body).toEqual({ datasets: [] })
    const robots = [await connectedRobot(owner), await connectedRobot(owner)] as const
    await storeEpisode(robots[0].link)
    await storeEpisode(robots[1].link, { size_bytes: 250_000 })
    const dataset = (robot: { id: string }, fields: object) => ({
      id: expect.any(String),
      robot_id: robot.id,
      robot_type: 'testbot',
      robot_name: expect.stringMatching(/^Robot /),
      exportable_count: 0,
      not_exportable: [{ reason: 'no_recording', count: 1 }],
      updated_at: expect.any(String),
      ...fields,
    })
    expect(await datasetsOf(owner)).toEqual([
      dataset(robots[1].robot, { episode_count: 1, size_mb: 0.25 }),
      dataset(robots[0].robot, { episode_count: 1, size_mb: 1.5 }),
    ])
    const again = await storeEpisode(robots[0].link)
    const newest = await datasetsOf(owner)
    expect(newest).toMatchObject([
      { robot_id: robots[0].robot.id, episode_count: 2, size_mb: 3 },
      { robot_id: robots[1].robot.id, episode_count: 1 },
    ])
    // A repeated episode does not update its dataset, so the order is unchanged.
    await storeEpisode(robots[1].link, { episode_id: (await storeEpisode(robots[1].link)).episode_id })
    const grown = await datasetsOf(owner)
    await storeEpisode(robots[0].link, { episode_id: again.episode_id })
    expect(await datasetsOf(owner)).toEqual(grown)
    expect(grown).toMatchObject([{ robot_id: robots[1].robot.id, episode_count: 2 }, newest[0]])
  })

  test('GET /api/client/datasets: the dataset of a removed robot remains, with its name', async () => {
    const { owner, robot, link } = await connectedRobot()
    await storeEpisode(link)
    const before = await datasetsOf(owner)
    expect((await owner.delete(`/api/client/robots/${robot.id}`)).status).toBe(204)
    expect(await link.closed).toBe(4401)
    expect(await datasetsOf(owner)).toEqual(before)
    expect(await episodesOf(owner, before[0].id)).toHaveLength(1)
  })

  test('GET /api/client/datasets: other users cannot read a dataset or its episodes', async () => {
    const { owner, link } = await connectedRobot()
    await storeEpisode(link)
    const [dataset] = await datasetsOf(owner)
    const other = await world.client()
    expect(await datasetsOf(other)).toEqual([])
    const foreign = await other.get(`/api/client/datasets/${dataset.id}/episodes`)
    const unknown = await other.get(`/api/client/datasets/${randomUUID()}/episodes`)
    expect(foreign).toMatchObject({ status: 404, body: { error: expect.any(String) } })
    expect(unknown).toMatchObject({ status: 404, body: foreign.body })
  })

  test('GET /api/client/datasets/{id}/episodes: pages have no gaps or duplicates, also with equal times', async () => {
    const { owner, link } = await connectedRobot()
    const start = Date.now() - 60_000
    const frames = Array.from({ length: 25 }, (_, n) => {
      const at = start + Math.floor(n / 4) * 1_000
      return episodeFrame({ started_at: at, ended_at: at })
    })
    for (const frame of frames) link.send(frame)
    for (const _ of frames) await link.next('episode_ack')
    const [dataset] = await datasetsOf(owner)

    const seen: { id: string; episode_id: string; started_at: string }[] = []
    for (let page = 0; ; page++) {
      const before = seen.at(-1) ? `&before=${seen.at(-1)?.id}` : ''
      const rows = await episodesOf(owner, dataset.id, `?limit=7${before}`)
      expect(rows.length).toBe(Math.min(7, Math.max(0, 25 - 7 * page)))
      if (rows.length === 0) break
      seen.push(...rows)
    }
    expect(new Set(seen.map((item) => item.episode_id))).toEqual(
      new Set(frames.map((item) => item.episode_id)),
    )
    const starts = seen.map((item) => item.started_at)
    expect(starts).toEqual(starts.toSorted().reverse())
    expect(await episodesOf(owner, dataset.id)).toEqual(seen)
  })

  test.each(['limit=0', 'limit=101', 'limit=x', 'before=1', `before=${randomUUID()}`, 'offset=1'])(
    'GET /api/client/datasets/{id}/episodes: ?%s returns 400',
    async (query) => {
      const { owner, link } = await connectedRobot()
      await storeEpisode(link)
      const [dataset] = await datasetsOf(owner)
      const reply = await owner.get(`/api/client/datasets/${dataset.id}/episodes?${query}`)
      expect(reply).toMatchObject({ status: 400, body: { error: expect.any(String) } })
      await link.close()
    },
  )
})

describe('the counters', () => {
  test('equal the sums of the stored episodes for any frames in any order', async () => {
    const T = Date.UTC(2026, 5, 1)
    const SPANS = [
      [0, 60_000],
      [60_000, 90_000],
      [93_000, 120_000],
    ] as const
    const report = fc.record({
      robot: fc.integer({ min: 0, max: 1 }),
      id: fc.integer({ min: 0, max: 12 }),
      startMs: fc.integer({ min: -20_000, max: 140_000 }),
      size: fc.integer({ min: 0, max: 5_000_000 }),
    })
    /** Returns, for the model, the session whose window contains a time. */
    const spanAt = (ms: number, tolerance: number) =>
      SPANS.findLastIndex(([from, to]) => from - tolerance <= ms && ms <= to + tolerance)
    const sessionAt = (ms: number) => (spanAt(ms, 0) >= 0 ? spanAt(ms, 0) : spanAt(ms, 5_000))

    const scenario = fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 60 }), async (reports) => {
      const owner = await world.client()
      const robots = [await connectedRobot(owner), await connectedRobot(owner)]
      const sessions = []
      for (const { robot } of robots) {
        sessions.push(
          await pastSessions(
            robot.id,
            SPANS.map(([from, to]) => [T + from, T + to] as const),
          ),
        )
      }
      for (const { robot, id, startMs, size } of reports) {
        const at = T + startMs
        robots[robot]?.link.send(
          episodeFrame({ episode_id: `e${id}`, started_at: at, ended_at: at + 5, size_bytes: size }),
        )
      }
      const sent = (n: number) => reports.filter(({ robot }) => robot === n)
      for (const [n, { link }] of robots.entries()) for (const _ of sent(n)) await link.next('episode_ack')

      const state = await totals(world.database.url)
      for (const [n, { robot, link }] of robots.entries()) {
        const first = sent(n).filter(
          (item, index, all) => all.findIndex(({ id }) => id === item.id) === index,
        )
        const sum = (some: typeof first) => ({
          count: some.length,
          bytes: some.reduce((total, { size }) => total + size, 0),
        })
        const dataset = state.datasets.find((item) => item.robot_id === robot.id)
        if (first.length === 0) expect(dataset).toBeUndefined()
        else expect(dataset).toMatchObject(sum(first))
        for (const [index, id] of (sessions[n] as string[]).entries()) {
          const inside = first.filter(({ startMs }) => sessionAt(startMs) === index)
          expect(state.sessions.find((item) => item.id === id)).toMatchObject(sum(inside))
        }
        await link.close()
      }
    })
    await fc.assert(scenario, { seed: 20_261_120, numRuns: 25, endOnFailure: true })

    const { datasets, sessions } = await totals(world.database.url)
    expect(datasets.length).toBeGreaterThan(40)
    for (const item of [...datasets, ...sessions]) {
      if (item.bytes < Number.MAX_SAFE_INTEGER)
        expect([item.count, item.bytes]).toEqual([item.rows, item.row_bytes])
    }
  })
})
