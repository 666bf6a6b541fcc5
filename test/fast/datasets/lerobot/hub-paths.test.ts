import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { readParquet, writeParquet } from 'parquet-wasm/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../../../support/network/http-request.ts'
import { downloadDataset, duckdb } from '../../../support/recordings/dataset-files.ts'
import { jpegFrame, vp8Frames } from '../../../support/recordings/encoded-frames.ts'
import { timesAt } from '../../../support/recordings/mcap-fixtures.ts'
import { exportDataset, fetchFile, recordEpisodes } from '../../../support/recordings/recorded-episodes.ts'
import { writeDataset } from '../../../support/recordings/written-dataset.ts'
import type { TestUser } from '../../../support/world/test-user.ts'
import { createWorld, type World } from '../../../support/world/world.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')
let world: World
let owner: TestUser
let baseUrl: string
let api: string

const telemetry = timesAt(30, 4_000).map((atMs) => ({ atMs, data: { x: atMs, y: -atMs, on: atMs > 1_000 } }))
const control = timesAt(50, 3_000).map((atMs) => ({ atMs, data: { v: Math.sin(atMs) } }))

beforeAll(async () => {
  world = await createWorld()
  owner = await world.client()
  const robot = await world.robot(owner)
  const frames = await vp8Frames({ frames: 120 })
  const front = frames.map((data, index) => ({ atMs: index * 33.3, data }))
  const { episodeIds } = await recordEpisodes(
    world,
    owner,
    robot.id,
    { startMs: START_MS, telemetry, control, cameras: [{ name: 'front', format: 'vp8', frames: front }] },
    [
      { fromMs: 0, toMs: 1_500 },
      { fromMs: 2_000, toMs: 3_900 },
    ],
  )
  baseUrl = (await exportDataset(world, owner, { episode_ids: episodeIds })).base_url
  api = `/api/datasets/${owner.id}/cubes`
})
afterAll(() => world[Symbol.asyncDispose]())

const get = (path: string, headers: Record<string, string> = {}) => fetchFile(world, owner, path, headers)
const INFO = 'meta/info.json'

/** Sends a path unchanged. `fetch` would resolve `..` itself. */
async function statusOf(path: string, token: string | undefined = owner.token): Promise<number> {
  const { hostname, port } = new URL(world.baseUrl)
  const headers = token === '' ? {} : { Authorization: `Bearer ${token}` }
  const sent = request({ hostname, port, path, headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode ?? 0
}

test('a file has the headers by which clients of the Hub keep it, and its checksum as the ETag', async () => {
  const reply = await get(`${baseUrl}/${INFO}`)
  const bytes = Buffer.from(await reply.arrayBuffer())
  const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`
  const { sha } = (await (await get(api)).json()) as { sha: string }
  expect(sha).toMatch(/^[0-9a-f]{40}$/)
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    etag,
    'x-linked-etag': etag,
    'x-linked-size': String(bytes.length),
    'x-repo-commit': sha,
    'accept-ranges': 'bytes',
    'content-length': String(bytes.length),
  })
  const head = await fetch(`${world.baseUrl}${baseUrl}/${INFO}`, {
    method: 'HEAD',
    headers: { Authorization: `Bearer ${owner.token}`, 'Accept-Encoding': 'identity' },
  })
  expect([head.status, head.headers.get('ETag'), head.headers.get('Content-Length')]).toEqual([
    200,
    etag,
    String(bytes.length),
  ])
  expect((await get(`${baseUrl}/${INFO}`, { 'If-None-Match': etag })).status).toBe(304)
  const part = await get(`${baseUrl}/${INFO}`, { Range: 'bytes=2-5' })
  expect([part.status, part.headers.get('Content-Range'), await part.text()]).toEqual([
    206,
    `bytes 2-5/${bytes.length}`,
    bytes.subarray(2, 6).toString(),
  ])
  expect((await get(`${baseUrl}/${INFO}`, { Range: `bytes=${bytes.length}-` })).status).toBe(416)
  const posted = await owner.post(`${baseUrl}/${INFO}`, {})
  expect([posted.status, posted.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
})

test('a dataset is described by its files, its revisions and its folders', async () => {
  const json = async (path: string) =>
    (await ask(`${world.baseUrl}${api}${path}`, { token: owner.token })).body
  const info = await json('')
  expect(info).toMatchObject({ id: `${owner.id}/cubes`, private: true, gated: false, tags: ['LeRobot'] })
  for (const revision of ['main', 'v3.0', 'v1', info.sha, 'refs%2Fheads%2Fmain'])
    expect(await json(`/revision/${revision}`)).toEqual(info)
  expect(await json('/refs')).toMatchObject({
    branches: [{ name: 'main', ref: 'refs/heads/main', targetCommit: info.sha }],
    tags: [{ name: 'v3.0' }, { name: 'v1' }],
  })
  const paths = (entries: { path: string }[]) => entries.map(({ path }) => path)
  expect(paths(await json('/tree/main'))).toEqual(['data', 'meta', 'videos', 'README.md'])
  expect(paths(await json('/tree/main/meta'))).toEqual([
    'meta/episodes',
    'meta/info.json',
    'meta/stats.json',
    'meta/tasks.parquet',
  ])
  const all = await json('/tree/main?recursive=true')
  expect(
    all.filter(({ type }: { type: string }) => type === 'file').map(({ path }: { path: string }) => path),
  ).toEqual(info.siblings.map(({ rfilename }: { rfilename: string }) => rfilename))
})

test('paths are described that exist, asked for as a form or as JSON', async () => {
  const ask = async (body: string, type: string, revision = 'main') =>
    await fetch(`${world.baseUrl}${api}/paths-info/${revision}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${owner.token}`, 'Content-Type': type },
      body,
    })
  const [form, json] = ['application/x-www-form-urlencoded', 'application/json']
  const both = [
    await ask('paths=meta%2Finfo.json&paths=meta&paths=nope&expand=False', form),
    await ask(JSON.stringify({ paths: ['meta/info.json', 'meta', 'nope'], expand: false }), json, 'v1'),
  ]
  for (const reply of both) {
    expect(reply.status).toBe(200)
    expect(await reply.json()).toMatchObject([
      { type: 'directory', path: 'meta' },
      { type: 'file', path: 'meta/info.json', size: expect.any(Number) },
    ])
  }
  expect((await ask('{}', json)).status).toBe(400)
  expect((await ask('paths=a', form, 'v9')).status).toBe(404)
  expect(await statusOf(`${api}/paths-info/main`)).toBe(405)
})

test('paths that lead elsewhere find nothing', async () => {
  const files = [
    '..%2f..%2fmeta/info.json',
    'meta/../meta/info.json',
    'meta/%2e%2e/info.json',
    'meta%2Finfo.json%00',
    'meta%5cinfo.json',
    '/meta/info.json',
    'meta//info.json',
    'META/info.json',
    'meta/info.json/',
    'data',
    '',
  ]
  for (const file of files) expect(await statusOf(`${baseUrl}/${file}`), file).toBe(404)
  const revisions = ['v0', 'v01', 'v2', 'V1', 'head', 'main%2F..', 'f'.repeat(40), '..', '%2e%2e']
  for (const revision of revisions)
    expect(await statusOf(`${baseUrl.replace('main', revision)}/${INFO}`), revision).toBe(404)
  const names = ['cubes%2F..', '..', 'CUBES', "cubes'--", 'cubes%00', '*']
  for (const name of names) {
    expect(await statusOf(`${baseUrl.replace('cubes', name)}/${INFO}`), name).toBe(404)
    expect(await statusOf(api.replace('cubes', name)), name).toBe(404)
  }
  expect(await statusOf(`${baseUrl.replace(owner.id, owner.id.toUpperCase())}/${INFO}`)).toBe(404)
  expect(await statusOf(`${baseUrl}/%E0%A4%A`)).toBe(400)
  for (const folder of ['nope', 'meta/nope', '..', 'meta%2F..'])
    expect(await statusOf(`${api}/tree/main/${folder}`), folder).toBe(404)
})

test('the owner and admins may read a dataset, also with an API key; for others it does not exist', async () => {
  const [other, admin, key] = [await world.client(), await world.admin(), await owner.key()]
  const paths = [`${baseUrl}/${INFO}`, api, `${api}/revision/main`, `${api}/tree/main`, `${api}/refs`]
  for (const path of paths) {
    expect(await statusOf(path), path).toBe(200)
    expect(await statusOf(path, admin.token), path).toBe(200)
    expect(await statusOf(path, key.key), path).toBe(200)
    expect(await statusOf(path, other.token), path).toBe(404)
    expect(await statusOf(path, ''), path).toBe(401)
  }
  const missing = await fetchFile(world, other, api)
  const unknown = await fetchFile(world, owner, api.replace('cubes', 'no-cubes'))
  expect([missing.headers.get('X-Error-Code'), await missing.json()]).toEqual([
    unknown.headers.get('X-Error-Code'),
    await unknown.json(),
  ])
})

/** Compares a file with what parquet-wasm reads of it and writes again. */
async function sameForParquetWasm(path: string): Promise<void> {
  const table = readParquet(new Uint8Array(await readFile(path)))
  const copy = `${path}.copy.parquet`
  await writeFile(copy, writeParquet(table))
  const count = async (file: string) => (await duckdb(`select count(*) as n from '${file}'`))[0]?.n
  expect(await count(copy)).toBe(await count(path))
  const both = [`select * from '${path}' except all select * from '${copy}'`]
  both.push(`select * from '${copy}' except all select * from '${path}'`)
  for (const difference of both) expect(await duckdb(difference), path).toEqual([])
}

test('DuckDB and parquet-wasm read the same values from every Parquet file', async () => {
  await using dataset = await downloadDataset(world, owner, baseUrl)
  const files = dataset.paths.filter((path) => path.endsWith('.parquet'))
  expect(files).toHaveLength(3)
  for (const file of files) await sameForParquetWasm(dataset.path(file))
  // LeRobot computes the timestamp of a row from its index in the episode, in seconds.
  const { fps } = JSON.parse(await readFile(dataset.path(INFO), 'utf8'))
  const rows = `'${dataset.path('data/chunk-000/file-000.parquet')}'`
  expect(await duckdb(`select * from ${rows} where abs(timestamp - frame_index / ${fps}) > 0.0001`)).toEqual(
    [],
  )

  const times = timesAt(20, 2_000)
  const pictures = await Promise.all(times.map((_, index) => jpegFrame(index * 5)))
  await using written = await writeDataset({
    recording: {
      startMs: START_MS,
      telemetry,
      cameras: [
        {
          name: 'front',
          format: 'jpeg',
          frames: pictures.map((data, index) => ({ atMs: times[index] as number, data })),
        },
      ],
    },
    episodes: [[0, 2_000]],
    cameras: ['front'],
    fps: 20,
    tools: { ffmpeg: false, decoder: false },
  })
  for (const { path } of written.part.files) await sameForParquetWasm(written.path(path))
})

test('exports count among the storage of their owner, which limits them', async () => {
  const { db } = world.platform.core
  const used = async () => (await owner.get('/api/recordings')).body
  const before = await used()
  const exported = await db
    .selectFrom('dataset_exports')
    .select(['id', 'size_bytes', 'episode_ids'])
    .where('user_id', '=', owner.id)
    .executeTakeFirstOrThrow()
  const setSize = (size_bytes: number) =>
    db.updateTable('dataset_exports').set({ size_bytes }).where('id', '=', exported.id).execute()
  try {
    await setSize(exported.size_bytes + before.quota_bytes)
    expect((await used()).used_bytes).toBe(before.used_bytes + before.quota_bytes)
    const request = { format: 'lerobot_v3', name: 'more', fps: 30, episode_ids: exported.episode_ids }
    const refused = await owner.post('/api/client/datasets/exports', request)
    expect([refused.status, refused.headers.get('Wheelhouse-Error')]).toEqual([409, 'storage_quota_exceeded'])
  } finally {
    await setSize(exported.size_bytes)
  }
})
