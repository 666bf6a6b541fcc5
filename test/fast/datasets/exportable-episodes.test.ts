import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectTo } from '../../support/database/sql.ts'
import { downloadDataset, duckdb } from '../../support/recordings/dataset-files.ts'
import { timesAt } from '../../support/recordings/mcap-fixtures.ts'
import {
  EXPORTS,
  exportDataset,
  fetchFile,
  insertGaps,
  recordEpisodes,
} from '../../support/recordings/recorded-episodes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')
const recording = {
  startMs: START_MS,
  telemetry: timesAt(10, 60_000).map((atMs) => ({ atMs, data: { x: atMs } })),
}
const seconds = (from: number, to: number) => ({ fromMs: from * 1_000, toMs: to * 1_000 })
let world: World
let owner: TestUser
let episodeIds: string[]
let datasetId: string
let recordingId: string

beforeAll(async () => {
  world = await createWorld()
  owner = await world.client()
  const robot = await world.robot(owner)
  const recorded = await recordEpisodes(world, owner, robot.id, recording, [
    seconds(0, 4),
    { ...seconds(5, 15), success: true },
    seconds(20, 24),
    { ...seconds(30, 34), success: null, isUnfinished: true },
    seconds(40, 50),
  ])
  ;({ episodeIds, datasetId, recordingId } = recorded)
  await insertGaps(world, recordingId, START_MS, [
    // Two sources lack the same 0.8 seconds: 0.8 seconds are missing, not 1.6.
    { ...seconds(1, 1.8), source: 'gateway' },
    { ...seconds(1, 1.8), source: 'camera/front' },
    { ...seconds(7, 12), source: 'gateway' },
    { ...seconds(8, 12.5), source: 'camera/front' },
    { ...seconds(21.5, 23), source: 'camera/wrist' },
    { fromMs: 48_000, toMs: null, source: 'camera/front' },
  ])
})
afterAll(() => world[Symbol.asyncDispose]())

const body = (fields: object) => ({ name: 'cubes', fps: 10, dataset_ids: [datasetId], ...fields })
const cardOf = async ({ base_url }: { base_url: string }) =>
  await (await fetchFile(world, owner, `${base_url}/README.md`)).text()

test('an export leaves out episodes with gaps and unfinished ones, and names them', async () => {
  const made = await exportDataset(world, owner, body({}))
  expect(made).toMatchObject({ episodes: 1, frames: 40, gaps: 'leave_out' })
  expect(made.left_out).toEqual({
    count: 4,
    episodes: [
      { index: 1, reason: 'gaps', missing: 5.5 },
      { index: 2, reason: 'gaps', missing: 1.5 },
      { index: 3, reason: 'unfinished', missing: 0 },
      { index: 4, reason: 'gaps', missing: 2 },
    ].map(({ index, reason, missing }) => ({
      id: episodeIds[index],
      episode_id: episodeIds[index],
      started_at: expect.any(String),
      reason,
      missing_seconds: missing,
    })),
  })
  const card = await cardOf(made)
  const name = (index: number) => (episodeIds[index] as string).replaceAll('-', '\\-')
  expect(card).toContain(`* ${name(1)} (2026-11-20T09:00:05.000Z) has a recording with gaps`)
  expect(card).toContain(`* ${name(3)} (2026-11-20T09:00:30.000Z) was not ended before its session`)
  expect(card).toContain('The recordings of 1 episodes have gaps, 0.8 seconds in total.')
})

test('an export cuts episodes at their gaps, and only the last part is a success', async () => {
  const made = await exportDataset(
    world,
    owner,
    body({ gaps: 'cut', episode_ids: episodeIds.slice(0, 3), dataset_ids: undefined }),
  )
  // 0 to 4; 5 to 7, 12.5 to 15; 20 to 21.5, 23 to 24
  expect(made).toMatchObject({ episodes: 5, frames: 40 + 20 + 25 + 15 + 10, left_out: { count: 0 } })
  await using dataset = await downloadDataset(world, owner, made.base_url)
  const rows = `'${dataset.path('data/chunk-000/file-000.parquet')}'`
  const results = await duckdb(`
    select episode_index as episode, bool_or("next.success") as success,
      bool_and("complementary_info.is_success_known") as known
    from ${rows} group by 1 order by 1`)
  expect(results.map(({ success, known }) => [known, success])).toEqual([
    [true, true],
    [false, false],
    [true, true],
    [false, false],
    [true, true],
  ])
  expect(await cardOf(made)).toContain('Episodes with more than a second of them are cut there')
})

test('an export includes gaps and unfinished episodes on request', async () => {
  const made = await exportDataset(world, owner, body({ gaps: 'include', unfinished: true }))
  expect(made).toMatchObject({ episodes: 5, frames: 320, left_out: { count: 0, episodes: [] } })
  expect(await cardOf(made)).toContain(
    'The recordings of 4 episodes have gaps, 9.8 seconds in total. Values hold',
  )
})

test('gaps of cameras that are not exported do not count', async () => {
  const { body: refused, status } = await owner.post(EXPORTS, {
    format: 'lerobot_v3',
    name: 'chosen',
    fps: 10,
    episode_ids: episodeIds.slice(1, 2),
  })
  expect([status, refused.error]).toEqual([
    409,
    expect.stringMatching(/None of the 1 episodes can be exported: 1 has a recording with gaps/),
  ])
  const made = await exportDataset(world, owner, body({ cameras: [] }))
  expect(made.left_out.episodes.map(({ id }: { id: string }) => id)).toEqual([episodeIds[1], episodeIds[3]])
})

test('datasets say how many episodes can be exported, and why others cannot', async () => {
  const { datasets } = (await owner.get('/api/client/datasets')).body
  expect(datasets[0]).toMatchObject({
    exportable_count: 1,
    not_exportable: [
      { reason: 'gaps', count: 3 },
      { reason: 'unfinished', count: 1 },
    ],
  })
  const { episodes } = (await owner.get(`/api/client/datasets/${datasetId}/episodes`)).body
  expect(episodes.map(({ not_exportable }: { not_exportable: string | null }) => not_exportable)).toEqual([
    'gaps',
    'unfinished',
    'gaps',
    'gaps',
    null,
  ])
})

test('a time without recording between two streams of the gateway is a gap; streams that continue each other have none', async () => {
  const robot = await world.robot(owner)
  const { episodeIds: ids, recordingId: id } = await recordEpisodes(world, owner, robot.id, recording, [
    seconds(0, 10),
    seconds(20, 30),
  ])
  await using database = await connectTo(world.database.url)
  const at = (second: number) => new Date(START_MS + second * 1_000)
  await database.query('delete from recording_streams where recording_id = $1', [id])
  const first = 'a0000000-0000-4000-8000-000000000000'
  const streams = [
    [first, 0, 3],
    [first, 6, 22],
    ['b0000000-0000-4000-8000-000000000000', 27, 40],
  ] as const
  for (const [origin, from, to] of streams)
    await database.query(
      `insert into recording_streams (id, recording_id, source, origin_id, node_id, opened_at, closed_at)
       values (gen_random_uuid(), $1, 'gateway', $2, gen_random_uuid(), $3, $4)`,
      [id, origin, at(from), at(to)],
    )
  const made = await exportDataset(world, owner, body({ episode_ids: ids, dataset_ids: undefined }))
  expect(made).toMatchObject({
    episodes: 1,
    left_out: { count: 1, episodes: [{ id: ids[1], reason: 'gaps', missing_seconds: 5 }] },
  })
})
