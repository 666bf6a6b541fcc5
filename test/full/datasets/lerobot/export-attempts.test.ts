import { readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { ObjectStore } from '../../../../src/core/storage/object-store.ts'
import {
  createDatasetExportJobs,
  DATASET_EXPORTS,
} from '../../../../src/modules/datasets/exports/dataset-export.service.ts'
import { createDatasetExportRunner } from '../../../../src/modules/datasets/exports/dataset-export-runner.ts'
import { createDatasetObjects } from '../../../../src/modules/datasets/exports/dataset-objects.ts'
import { createExportFinish } from '../../../../src/modules/datasets/exports/export-finish.ts'
import { timesAt } from '../../../support/recordings/mcap-fixtures.ts'
import {
  EXPORTS,
  recordEpisodes,
  requestExport,
  settledExport,
} from '../../../support/recordings/recorded-episodes.ts'
import { createWorld, type World } from '../../../support/world/world.ts'

// A process that stalls loses its job to another one, and may go on later.

let world: World
beforeAll(async () => {
  world = await createWorld({ bus: 'redis', env: { ROLES: 'api,gateway,hub' } })
})
afterAll(async () => await world?.[Symbol.asyncDispose]())

const bound = (store: ObjectStore): ObjectStore => ({
  put: (key, bytes) => store.put(key, bytes),
  create: (key) => store.create(key),
  stat: (key) => store.stat(key),
  read: (key, range) => store.read(key, range),
  readBytes: (key, range) => store.readBytes(key, range),
  delete: (keys) => store.delete(keys),
  list: (prefix) => store.list(prefix),
  presign: (...options) => store.presign(...options),
  close: () => store.close(),
})

/** Starts an attempt that waits before its last object of a part is complete. */
function startAttempt(exportId: string, { number = 1 }: { number?: number } = {}) {
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { core, storage: store } = world.platform
  const storage: ObjectStore = {
    ...bound(store),
    async create(key: string) {
      const writer = await store.create(key)
      const complete = async () => {
        if (key.includes('/meta/episodes/')) {
          reached.resolve()
          await released.promise
        }
        return await writer.complete()
      }
      return { write: (bytes) => writer.write(bytes), abort: () => writer.abort(), complete }
    },
  }
  const objects = createDatasetObjects({ db: core.db, storage })
  const deps = { ...core, storage, objects }
  const tempDir = join(tmpdir(), `wheelhouse-attempts-${exportId}`)
  onTestFinished(() => rm(tempDir, { recursive: true, force: true }))
  const run = createDatasetExportJobs(core).handler(
    createDatasetExportRunner({ ...deps, finish: createExportFinish(deps), tempDir }),
    (id) => objects.removeAll([id]),
  )
  const stop = new AbortController()
  const ended = run({
    id: 'job',
    data: { exportId },
    number,
    previous: undefined,
    signal: stop.signal,
    complete: async () => {},
    progress: async () => {},
  })
  const failure = ended.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  return {
    reached: Promise.race([reached.promise, failure]),
    release: () => released.resolve(),
    stop,
    failure,
    tempDir,
  }
}

test.each(['ends', 'goes on'])(
  'an attempt that stalled and then %s leaves the dataset complete',
  async (how) => {
    const owner = await world.client()
    const robot = await world.robot(owner)
    const telemetry = timesAt(10, 5_000).map((atMs) => ({ atMs, data: { x: atMs } }))
    const startMs = Date.parse('2026-11-20T09:00:00Z')
    const episode = { fromMs: 0, toMs: 1_000 }
    const { episodeIds } = await recordEpisodes(world, owner, robot.id, { startMs, telemetry }, [episode])
    const { id } = await requestExport(owner, { fps: 10, episode_ids: episodeIds })

    const first = startAttempt(id)
    await first.reached
    const second = startAttempt(id)
    await second.reached
    if (how === 'ends') first.stop.abort(new Error('the claim is lost'))
    first.release()
    expect(await first.failure).toBeInstanceOf(Error)
    second.release()
    expect(await second.failure).toBeUndefined()

    await settledExport(owner, id)
    const files = await world.platform.core.db
      .selectFrom('dataset_export_files')
      .select('object_key')
      .where('export_id', '=', id)
      .execute()
    const keys: string[] = []
    for await (const { key } of world.platform.storage.list(`exports/${id}/`)) keys.push(key)
    expect(keys.sort()).toEqual(files.map(({ object_key }) => object_key).sort())
    await world.runJobs(DATASET_EXPORTS)
  },
)

test('an export that has failed keeps no objects and no folder', async () => {
  const owner = await world.client()
  const robot = await world.robot(owner)
  const telemetry = timesAt(10, 5_000).map((atMs) => ({ atMs, data: { x: atMs } }))
  const startMs = Date.parse('2026-11-20T09:00:00Z')
  const { episodeIds } = await recordEpisodes(world, owner, robot.id, { startMs, telemetry }, [
    { fromMs: 0, toMs: 1_000 },
  ])
  const { id } = await requestExport(owner, { fps: 10, episode_ids: episodeIds })
  const { core, storage } = world.platform
  const key = `exports/${id}/earlier/data.parquet`
  const addPart = async () => {
    const stored = await storage.put(key, Buffer.from('a part of an earlier attempt'))
    return { export_id: id, path: 'data.parquet', object_key: key, size_bytes: stored.sizeBytes, sha256: '' }
  }
  const row = await addPart()
  await core.db.insertInto('dataset_export_files').values(row).execute()
  const last = startAttempt(id, { number: (DATASET_EXPORTS.retry.limit as number) + 1 })
  await last.reached
  last.stop.abort(new Error('the disk is broken'))
  last.release()
  expect(await last.failure).toBeInstanceOf(Error)
  expect((await owner.get(`${EXPORTS}/${id}`)).body).toMatchObject({ status: 'FAILED' })
  const kept = async () => {
    const keys: string[] = []
    for await (const object of storage.list(`exports/${id}/`)) keys.push(object.key)
    return keys
  }
  expect(await kept()).toEqual([])
  expect(await readdir(last.tempDir)).toEqual([])
  await addPart()
  await createDatasetObjects({ db: core.db, storage }).removeOrphans()
  expect(await kept(), 'after the clean-up').toEqual([])
  await world.runJobs(DATASET_EXPORTS)
})

test('a version that is ready first leaves the one below it that still runs, until the next is ready', async () => {
  const owner = await world.client()
  const robot = await world.robot(owner)
  const telemetry = timesAt(10, 5_000).map((atMs) => ({ atMs, data: { x: atMs } }))
  const startMs = Date.parse('2026-11-20T09:00:00Z')
  const episode = { fromMs: 0, toMs: 1_000 }
  const { episodeIds } = await recordEpisodes(world, owner, robot.id, { startMs, telemetry }, [episode])
  const request = () => requestExport(owner, { fps: 10, episode_ids: episodeIds })
  const [lower, higher] = [await request(), await request()]
  const attempts = [startAttempt(lower.id), startAttempt(higher.id)] as const
  for (const { reached } of attempts) await reached
  for (const attempt of attempts.toReversed()) {
    attempt.release()
    expect(await attempt.failure).toBeUndefined()
  }
  for (const { id } of [lower, higher]) await settledExport(owner, id)
  const { notifications } = (await owner.get('/api/notifications')).body
  expect(notifications).toMatchObject([
    { type: 'dataset_export.ready', data: { version: 1 } },
    { type: 'dataset_export.ready', data: { version: 2 } },
  ])
  const refs = (await owner.get(`/api/datasets/${owner.id}/cubes/refs`)).body
  const main = refs.branches.find(({ name }: { name: string }) => name === 'main')
  const versionTwo = (await owner.get(`/api/datasets/${owner.id}/cubes/revision/v2`)).body
  expect(main.targetCommit).toBe(versionTwo.sha)

  const next = await request()
  const last = startAttempt(next.id)
  await last.reached
  last.release()
  expect(await last.failure).toBeUndefined()
  const { body } = await owner.get(EXPORTS)
  expect(body.exports.map(({ version }: { version: number }) => version)).toEqual([3])
})
