import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { connectMcp } from '../../support/mcp/mcp-client.ts'
import { timesAt } from '../../support/recordings/mcap-fixtures.ts'
import { recordEpisodes, requestExport } from '../../support/recordings/recorded-episodes.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld()
})
afterAll(async () => await world?.[Symbol.asyncDispose]())

/** Creates an owner with a recording of two episodes. */
async function recorded() {
  const owner = await world.client()
  const robot = await world.robot(owner)
  const messages = timesAt(10, 3_000).map((atMs) => ({ atMs, data: { linear: 1 } }))
  const stored = await recordEpisodes(
    world,
    owner,
    robot.id,
    { startMs: Date.parse('2026-11-20T09:00:00Z'), control: messages, telemetry: messages },
    [
      { fromMs: 0, toMs: 1_000 },
      { fromMs: 1_000, toMs: 2_000, success: false, task: 'Place the cube' },
    ],
  )
  return { owner, robot, ...stored }
}

test('recordings, episodes and exports are read as over REST, with bounded lists', async () => {
  const { owner, recordingId, sessionId, episodeIds } = await recorded()
  await using database = await connectTo(world.database.url)
  await database.query(
    `insert into recording_gaps (recording_id, source, from_at, to_at, reason)
     select $1, 'gateway', at, at + interval '500 ms', 'overload'
     from generate_series(timestamptz '2026-11-20 09:00', '2026-11-20 09:00:59', '1 s') at`,
    [recordingId],
  )
  await using mcp = await connectMcp(world.baseUrl, owner.token)

  const {
    gaps: allGaps,
    channels,
    file_url: _,
    ...rest
  } = (await owner.get(`/api/recordings/${recordingId}`)).body
  expect(allGaps).toHaveLength(60)
  expect((await mcp.use('get_recording', { recordingId })).body).toEqual({
    ...rest,
    gaps: allGaps.slice(0, 50),
    gaps_total: 60,
    channels,
    channels_total: 2,
  })
  const listed = (await mcp.use('list_recordings')).body
  expect(listed).toMatchObject({ next_cursor: null, used_bytes: rest.size_bytes })
  expect(listed.recordings).toEqual([rest])

  expect((await mcp.use('list_session_episodes', { sessionId, limit: 1, offset: 1 })).body).toMatchObject({
    running: null,
    episodes: [{ id: episodeIds[1], task: 'Place the cube', success: false, recording_id: recordingId }],
    total: 2,
  })
  const { id } = await requestExport(owner, { episode_ids: episodeIds })
  expect((await mcp.use('list_dataset_exports')).body).toMatchObject({
    exports: [{ id, name: 'cubes', version: 1 }],
    total: 1,
  })
})

test('a user who has no part in a session sees nothing of its recording', async () => {
  const { recordingId, sessionId, operator } = await recorded()
  const stranger = await world.operator()
  await using mcp = await connectMcp(world.baseUrl, stranger.token)
  expect((await mcp.use('list_recordings')).body.recordings).toEqual([])
  for (const [tool, given] of [
    ['get_recording', { recordingId }],
    ['list_session_episodes', { sessionId }],
  ] as const)
    expect((await mcp.use(tool, given)).status).toBe(404)
  expect((await mcp.use('list_dataset_exports')).status).toBe(403)
  await using asOperator = await connectMcp(world.baseUrl, operator.token)
  expect((await asOperator.use('list_recordings')).body.recordings).toMatchObject([{ id: recordingId }])
})

test('no tool downloads, shares or deletes a recording, or marks an episode', async () => {
  const { owner } = await recorded()
  await using mcp = await connectMcp(world.baseUrl, owner.token)
  const about = (await mcp.client.listTools()).tools.filter(({ name }) =>
    /recording|episode|export/.test(name),
  )
  expect(about.map(({ name }) => name)).toEqual([
    'list_recordings',
    'get_recording',
    'list_session_episodes',
    'list_dataset_exports',
    'list_episodes',
  ])
  for (const { annotations } of about) expect(annotations?.readOnlyHint).toBe(true)
})
