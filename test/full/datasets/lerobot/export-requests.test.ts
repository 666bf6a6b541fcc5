import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  DATASET_EXPORT_CLEAN_UP,
  DATASET_EXPORTS,
} from '../../../../src/modules/datasets/exports/dataset-export.service.ts'
import { query } from '../../../support/processes/processes.ts'
import { duckdb } from '../../../support/recordings/dataset-files.ts'
import { timesAt } from '../../../support/recordings/mcap-fixtures.ts'
import {
  EXPORTS,
  exportDataset,
  fetchFile,
  recordEpisodes,
  requestExport,
  settledExport,
} from '../../../support/recordings/recorded-episodes.ts'
import type { TestUser } from '../../../support/world/test-user.ts'
import { createWorld, type World } from '../../../support/world/world.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')
const recording = {
  startMs: START_MS,
  telemetry: timesAt(10, 5_000).map((atMs) => ({ atMs, data: { x: atMs } })),
  control: timesAt(10, 5_000).map((atMs) => ({ atMs, data: { v: 1 } })),
}
/** A worker runs only when the test runs its jobs. */
const withoutWorker = { bus: 'redis', env: { ROLES: 'api,gateway,hub' } } as const

async function recorded(world: World, owner: TestUser, type = 'testbot') {
  const robot = await world.robot(owner, { robot_type: type })
  const episodes = await recordEpisodes(world, owner, robot.id, recording, [
    { fromMs: 0, toMs: 1_000 },
    { fromMs: 2_000, toMs: 3_000 },
  ])
  return { ...episodes, robotId: robot.id }
}
const body = (fields: object) => ({ format: 'lerobot_v3', name: 'cubes', fps: 10, ...fields })
const objectsOf = async (world: World): Promise<string[]> => {
  const keys: string[] = []
  for await (const { key } of world.platform.storage.list('exports/')) keys.push(key)
  return keys
}

test('names, rates and episodes of a request are checked', async () => {
  await using world = await createWorld(withoutWorker)
  const owner = await world.client()
  const { episodeIds, datasetId } = await recorded(world, owner)
  const bad = [
    '',
    '..',
    'a..b',
    '../a',
    'a/b',
    'a%2Fb',
    'A',
    '-a',
    '.a',
    'a.',
    'a-',
    'a--b',
    'a.git',
    'x'.repeat(97),
  ]
  for (const name of [...bad, 'ä', 'a b', 'a\0'])
    expect((await owner.post(EXPORTS, body({ name, episode_ids: episodeIds }))).status, name).toBe(400)
  const invalid = [
    { fps: 0 },
    { fps: 121 },
    { fps: 1.5 },
    { format: 'rlds' },
    { episode_ids: [] },
    { dataset_ids: [datasetId] },
    { episode_ids: undefined },
    { episode_ids: [episodeIds[0], episodeIds[0]] },
    { cameras: ['a', 'a'] },
    { extra: 1 },
  ]
  for (const fields of invalid)
    expect(
      (await owner.post(EXPORTS, body({ episode_ids: episodeIds, ...fields }))).status,
      JSON.stringify(fields),
    ).toBe(400)
  expect((await owner.get(EXPORTS)).body).toEqual({ exports: [] })
})

test('only recorded episodes of the caller can be exported, and the first other one is named', async () => {
  await using world = await createWorld(withoutWorker)
  const [owner, other] = [await world.client(), await world.client()]
  const { episodeIds, datasetId, recordingId, robotId } = await recorded(world, owner)
  const foreign = await recorded(world, other)
  const another = await recorded(world, owner, 'another type')
  const code = async (fields: object, user = owner) => {
    const reply = await user.post(EXPORTS, body(fields))
    return {
      status: reply.status,
      code: reply.headers.get('Wheelhouse-Error'),
      text: reply.body.error as string,
    }
  }
  const unknown = randomUUID()
  const missing = { status: 404, code: 'not_found' }
  const refused = { status: 409, code: 'episode_not_exportable' }
  expect(await code({ episode_ids: [episodeIds[0], unknown] })).toEqual({
    ...missing,
    text: `Episode ${unknown} not found`,
  })
  expect(await code({ episode_ids: [foreign.episodeIds[0]] })).toMatchObject(missing)
  expect(await code({ dataset_ids: [foreign.datasetId] })).toMatchObject(missing)
  const mixed = await code({ episode_ids: [...episodeIds, ...another.episodeIds] })
  expect(mixed).toMatchObject(refused)
  expect(mixed.text).toContain(another.episodeIds[0])
  const camera = await code({ episode_ids: episodeIds, cameras: ['front'] })
  expect(camera.text).toMatch(new RegExp(`${episodeIds[0]}.* no camera front`))

  // Robots also report episodes outside of recorded sessions.
  const unrecorded = randomUUID()
  await query(
    world.database.url,
    `insert into episodes (id, dataset_id, robot_id, episode_id, started_at, ended_at, size_bytes)
     values ('${unrecorded}', '${datasetId}', '${robotId}', 'x', now(), now(), 1)`,
  )
  expect(await code({ episode_ids: [unrecorded] })).toEqual({
    ...refused,
    text: `The episode ${unrecorded} has no recording. Leave it out, or try again later.`,
  })
  // A dataset has all of its episodes that can be exported.
  const made = await requestExport(owner, body({ dataset_ids: [datasetId] }))
  await world.runJobs(DATASET_EXPORTS)
  expect(await settledExport(owner, made.id)).toMatchObject({
    episodes: 2,
    frames: 20,
    left_out: { count: 1, episodes: [{ id: unrecorded, reason: 'no_recording' }] },
  })

  await query(
    world.database.url,
    `update recordings set status = 'FINISHING', file_key = null where id = '${recordingId}'`,
  )
  expect((await code({ episode_ids: episodeIds })).text).toMatch(
    new RegExp(`The episode ${episodeIds[0]} has a recording that is not finished`),
  )
  expect(await code({ dataset_ids: [datasetId] })).toMatchObject(refused)
})

test('two exports of a user run, also when they are requested at once, and a deleted one ends', async () => {
  await using world = await createWorld(withoutWorker)
  const [owner, other] = [await world.client(), await world.client()]
  const { episodeIds } = await recorded(world, owner)
  const replies = await Promise.all(
    Array.from({ length: 4 }, () => owner.post(EXPORTS, body({ episode_ids: episodeIds }))),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([202, 202, 409, 409])
  const [first, second] = replies.filter(({ status }) => status === 202).map(({ body }) => body)
  expect([first.version, second.version].sort()).toEqual([1, 2])
  expect((await other.get(`${EXPORTS}/${first.id}`)).status).toBe(404)
  expect((await other.delete(`${EXPORTS}/${first.id}`)).status).toBe(404)
  expect((await other.get(EXPORTS)).body).toEqual({ exports: [] })
  expect((await owner.delete(`${EXPORTS}/${first.id}`)).status).toBe(204)
  await world.runJobs(DATASET_EXPORTS)
  await settledExport(owner, second.id)
  expect((await owner.get(EXPORTS)).body.exports).toHaveLength(1)
  expect((await objectsOf(world)).every((key) => key.startsWith(`exports/${second.id}/`))).toBe(true)
  expect((await owner.delete(`${EXPORTS}/${second.id}`)).status).toBe(204)
  expect(await objectsOf(world)).toEqual([])
})

test('the next version replaces the one before when it is ready', async () => {
  await using world = await createWorld(withoutWorker)
  const owner = await world.client()
  const { episodeIds } = await recorded(world, owner)
  const first = await exportDataset(world, owner, body({ episode_ids: [episodeIds[0]] }))
  const info = async (revision: string) => {
    const path = first.base_url.replace('main', revision)
    const reply = await fetchFile(world, owner, `${path}/meta/info.json`)
    return reply.status === 200
      ? ((await reply.json()) as { total_episodes: number }).total_episodes
      : reply.status
  }
  expect([await info('main'), await info('v1'), await info('v3.0'), await info('v2')]).toEqual([1, 1, 1, 404])
  const second = await requestExport(owner, body({ episode_ids: episodeIds }))
  expect(second).toMatchObject({ version: 2, base_url: first.base_url })
  expect([await info('main'), await info('v1'), await info('v2')]).toEqual([1, 1, 404])
  await world.runJobs(DATASET_EXPORTS)
  await settledExport(owner, second.id)
  expect([await info('main'), await info('v1'), await info('v2')]).toEqual([2, 404, 2])
  expect((await owner.get(`${EXPORTS}/${first.id}`)).status).toBe(404)
  const files = await query(
    world.database.url,
    'select object_key from dataset_export_files order by object_key',
  )
  expect(await objectsOf(world)).toEqual(files.map((row) => (row as { object_key: string }).object_key))
  const { body: inbox } = await owner.get('/api/notifications')
  expect(inbox.notifications).toMatchObject([
    { type: 'dataset_export.ready', data: { name: 'cubes', version: 2, export_id: second.id } },
    { type: 'dataset_export.ready', data: { name: 'cubes', version: 1 } },
  ])
})

test('an episode that is discarded after the request fails the export with its name', async () => {
  await using world = await createWorld(withoutWorker)
  const owner = await world.client()
  const { episodeIds } = await recorded(world, owner)
  const made = await requestExport(owner, body({ episode_ids: episodeIds }))
  await query(world.database.url, `delete from episodes where id = '${episodeIds[1]}'`)
  await world.runJobs(DATASET_EXPORTS)
  const failed = await settledExport(owner, made.id, 'FAILED')
  expect(failed.error).toContain(`The episode ${episodeIds[1]} was discarded`)
  expect((await owner.get('/api/notifications')).body.notifications).toMatchObject([
    { type: 'dataset_export.failed', data: { name: 'cubes' } },
  ])
  const rest = await exportDataset(world, owner, body({ episode_ids: [episodeIds[0]] }))
  expect(rest).toMatchObject({ version: 2, episodes: 1 })
})

test('the clean-up fails exports without a job, and deletes objects of failed exports and without a dataset', async () => {
  await using world = await createWorld(withoutWorker)
  const owner = await world.client()
  const { episodeIds } = await recorded(world, owner)
  const made = await requestExport(owner, body({ episode_ids: episodeIds }))
  const waiting = await requestExport(owner, body({ name: 'waiting', episode_ids: episodeIds }))
  const { storage } = world.platform
  await storage.put(`exports/${randomUUID()}/x/data.parquet`, Buffer.from('x'))
  for (const { id } of [made, waiting]) await storage.put(`exports/${id}/x/data.parquet`, Buffer.from('x'))
  await storage.put(`exports/${'-'.repeat(36)}/x/data.parquet`, Buffer.from('x'))
  await query(world.database.url, `delete from pgboss.job where data ->> 'exportId' = '${made.id}'`)
  await (await world.platform.core.jobs.engine()).send(DATASET_EXPORT_CLEAN_UP.name, {})
  await world.runJobs(DATASET_EXPORT_CLEAN_UP)
  expect(await objectsOf(world)).toEqual([`exports/${waiting.id}/x/data.parquet`])
  expect((await settledExport(owner, made.id, 'FAILED')).error).toMatch(/could not write the dataset/)
})

test('hostile telemetry does not break an export, and the card counts it', async () => {
  await using world = await createWorld()
  const owner = await world.client()
  const robot = await world.robot(owner)
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  const raws = [
    '{"data":{"x":NaN}}',
    '{"data":{"x":1e999}}',
    '\u0000\u0001\u0002',
    '',
    'null',
    '{"data":null}',
    `{"data":${deep}}`,
    `{"data":{"x":"${'y'.repeat(65_000)}"}}`,
    '{"data":{"__proto__":{"x":5},"constructor":"7","x":{"valueOf":"1"}}}',
  ]
  const telemetry = [
    { atMs: 0, data: { x: 1, 'a"b': 2 } },
    ...raws.map((raw, index) => ({ atMs: 100 + index, raw })),
    { atMs: 500, data: new Uint8Array([1, 2, 3]) },
    { atMs: 2_000, data: { x: 2 } },
  ]
  const { episodeIds } = await recordEpisodes(world, owner, robot.id, { startMs: START_MS, telemetry }, [
    { fromMs: 0, toMs: 3_000, task: 'Pick | the <b>cube</b>\n# now' },
  ])
  const ready = await exportDataset(world, owner, body({ episode_ids: episodeIds }))
  expect(ready).toMatchObject({ frames: 30, episodes: 1 })
  const data = await fetchFile(world, owner, `${ready.base_url}/data/chunk-000/file-000.parquet`)
  const { writeFile, rm } = await import('node:fs/promises')
  const file = `/tmp/${randomUUID()}.parquet`
  await writeFile(file, Buffer.from(await data.arrayBuffer()))
  const rows = await duckdb(`select "observation.state" as x, timestamp from '${file}' order by index`)
  await rm(file)
  expect(rows.map(({ x }) => x)).toEqual([...Array(20).fill(1), ...Array(10).fill(2)])
  const card = await (await fetchFile(world, owner, `${ready.base_url}/README.md`)).text()
  expect(card).toContain('* Pick \\| the \\<b\\>cube\\</b\\> \\# now')
  expect(card).toMatch(/\* 3 values were no finite numbers/)
  expect(card).toMatch(/\* 5 messages were binary or damaged/)
})
