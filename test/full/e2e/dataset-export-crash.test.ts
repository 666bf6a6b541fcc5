import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DATASET_EXPORTS } from '../../../src/modules/datasets/exports/dataset-export.service.ts'
import { query, startWheelhouse } from '../../support/processes/processes.ts'
import { downloadDataset, duckdb } from '../../support/recordings/dataset-files.ts'
import { timesAt } from '../../support/recordings/mcap-fixtures.ts'
import {
  EXPORTS,
  recordEpisodes,
  requestExport,
  settledExport,
} from '../../support/recordings/recorded-episodes.ts'
import { serviceUrl } from '../../support/runner/service-url.ts'
import { abandonJobs, recoverAbandoned } from '../../support/world/jobs.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')
const FPS = 20
/** Two episodes do not fit into one part. */
const EPISODE_MS = 600_000
const EPISODES = 6

/** Starts a worker in a separate process. */
const startWorker = (world: World, dataDir: string) =>
  startWheelhouse({
    ROLES: 'worker',
    DATABASE_URL: world.database.url,
    REDIS_URL: serviceUrl('redisUrl'),
    SECRET_KEY: 'a key for tests only, at least 32 characters',
    BASE_URL: world.baseUrl,
    DATA_DIR: dataDir,
  })

/** Makes the job of a killed process due at once. */
async function recover(world: World): Promise<void> {
  await abandonJobs(world.database.url)
  await recoverAbandoned(world.platform.core.jobs)
  await query(
    world.database.url,
    `update pgboss.job set start_after = now() where name = '${DATASET_EXPORTS.name}'`,
  )
}

test('an export whose process is killed again and again has each episode once, and no other objects', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-crash-'))
  await using world = await createWorld({
    bus: 'redis',
    env: { ROLES: 'api,gateway,hub', DATA_DIR: dataDir },
  })
  const owner = await world.client()
  const robot = await world.robot(owner)
  const { episodeIds } = await recordEpisodes(
    world,
    owner,
    robot.id,
    {
      startMs: START_MS,
      telemetry: timesAt(FPS, EPISODES * EPISODE_MS).map((atMs) => ({ atMs, data: { ms: atMs } })),
    },
    Array.from({ length: EPISODES }, (_, index) => ({
      fromMs: index * EPISODE_MS,
      toMs: (index + 1) * EPISODE_MS,
      task: `Task ${index % 2}`,
    })),
  )
  const made = await requestExport(owner, { episode_ids: episodeIds, fps: FPS })
  const state = async () => (await owner.get(`${EXPORTS}/${made.id}`)).body
  let stored = 0
  for (const killAfterMs of [0, 150, 400]) {
    await using worker = startWorker(world, dataDir)
    // Between two parts, or in the middle of one.
    await waitFor(async () => expect((await state()).episodes).toBeGreaterThan(stored))
    await new Promise((resolve) => setTimeout(resolve, killAfterMs))
    await worker.end('SIGKILL')
    const { status, episodes } = await state()
    expect(episodes).toBeGreaterThan(stored)
    stored = episodes
    if (status === 'READY') break
    await recover(world)
  }
  await using worker = startWorker(world, dataDir)
  const ready = await settledExport(owner, made.id)
  const rows = (EPISODE_MS / 1_000) * FPS
  expect(ready).toMatchObject({ episodes: EPISODES, frames: EPISODES * rows })
  await worker.end('SIGTERM')

  await using dataset = await downloadDataset(world, owner, ready.base_url)
  const data = `read_parquet('${dataset.path('data/*/*.parquet')}')`
  const [sums] = await duckdb(
    `select count(*) as n, count(distinct "index") as distinct_n, max("index") as last from ${data}`,
  )
  expect(sums).toEqual({
    n: String(EPISODES * rows),
    distinct_n: String(EPISODES * rows),
    last: String(EPISODES * rows - 1),
  })
  // The telemetry is the time in the recording, so the rows continue from episode to episode.
  const wrong = await duckdb(
    `select * from ${data} where abs("observation.state" - "index" * ${1_000 / FPS}) > 1 or task_index <> episode_index % 2
     or frame_index <> "index" % ${rows} or episode_index <> "index" // ${rows} limit 3`,
  )
  expect(wrong).toEqual([])
  const episodes = await duckdb(
    `select episode_index, dataset_from_index, "data/file_index" as file from read_parquet('${dataset.path('meta/episodes/*/*.parquet')}') order by episode_index`,
  )
  expect(episodes).toEqual(
    Array.from({ length: EPISODES }, (_, index) => ({
      episode_index: String(index),
      dataset_from_index: String(index * rows),
      file: String(index),
    })),
  )
  const files = await query(
    world.database.url,
    'select object_key from dataset_export_files order by object_key',
  )
  const keys: string[] = []
  for await (const { key } of world.platform.storage.list('exports/')) keys.push(key)
  expect(keys).toEqual(files.map((row) => (row as { object_key: string }).object_key))
  expect(await readdir(join(dataDir, 'tmp', 'exports', made.id)).catch(() => [])).toEqual([])
  await rm(dataDir, { recursive: true, force: true })
})
