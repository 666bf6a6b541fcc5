import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDeletionWorker } from '../../../src/modules/recordings/deletion.worker.ts'
import { RECORDING_ORPHANS } from '../../../src/modules/recordings/finish-queue.ts'
import { connectTo } from '../../support/database/sql.ts'
import { recordEpisodes } from '../../support/recordings/recorded-episodes.ts'
import { download } from '../../support/recordings/recording-fixture.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')
const content = { startMs: START_MS, telemetry: [{ atMs: 0, data: { x: 1 } }] }

let world: World
let owner: TestUser
let robotId: string
beforeAll(async () => {
  world = await createWorld({ bus: 'redis', env: { ROLES: 'api,gateway,hub' } })
  owner = await world.client()
  robotId = (await world.robot(owner)).id
})
afterAll(async () => await world?.[Symbol.asyncDispose]())

const record = () =>
  recordEpisodes(world, owner, robotId, content, [{ fromMs: 0, toMs: 1_000, task: null, success: null }])
const pathOf = (id: string) => `/api/recordings/${id}`
async function share(id: string): Promise<{ id: string; token: string; path: string }> {
  const { status, body } = await owner.post(`${pathOf(id)}/shares`)
  expect(status, JSON.stringify(body)).toBe(201)
  const token = body.url.split('/').at(-1)
  return { id: body.id, token, path: `/api/shared/recordings/${token}` }
}
const fetchStatus = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
  const response = await fetch(world.baseUrl + path, { method, headers })
  await response.arrayBuffer()
  return response.status
}
const downloadsOf = async (id: string): Promise<{ kind: string; user_id: string | null }[]> =>
  (await owner.get(`${pathOf(id)}/downloads`)).body.downloads

test('a recording and everything below it exist for its owner, its operator and admins only', async () => {
  const { recordingId, operator } = await record()
  const path = pathOf(recordingId)
  const strangers = [await world.client(), await world.operator()]
  const { token } = await share(recordingId)
  for (const stranger of strangers) {
    for (const below of [
      '',
      '/parts',
      '/file',
      '/downloads',
      '/shares',
      '/bookmarks',
      `/segments/${randomUUID()}/0`,
    ])
      expect((await stranger.get(path + below)).status, below).toBe(404)
    expect((await stranger.post(`${path}/shares`)).status).toBe(404)
    expect(
      (await stranger.post(`${path}/bookmarks`, { at: '2026-11-20T09:00:00Z', label: 'x' })).status,
    ).toBe(404)
    expect((await stranger.delete(path)).status).toBe(404)
  }
  expect((await operator.get(`${path}/shares`)).status).toBe(404)
  expect((await operator.post(`${path}/shares`)).status).toBe(404)
  expect((await operator.delete(path)).status).toBe(404)
  expect((await operator.get(path)).status).toBe(200)
  expect(await fetchStatus(`/api/shared/recordings/${token}`)).toBe(200)
  expect(await fetchStatus(`/api/shared/recordings/${token}x`)).toBe(404)
  expect(await fetchStatus(`/api/recordings/${token}`)).not.toBe(200)
})

test('a revoked link is not valid any more, and a link opens its recording only', async () => {
  const { recordingId } = await record()
  const [first, second] = [await share(recordingId), await share(recordingId)]
  expect(await fetchStatus(`${first.path}/file`)).toBe(200)
  const other = await record()
  expect((await owner.delete(`${pathOf(other.recordingId)}/shares/${first.id}`)).status).toBe(404)
  expect((await owner.delete(`${pathOf(recordingId)}/shares/${first.id}`)).status).toBe(204)
  for (const below of ['', '/file', '/parts']) expect(await fetchStatus(first.path + below)).toBe(404)
  expect(await fetchStatus(second.path)).toBe(200)
})

test('no Range hides a read from the list of downloads, and one without content has no entry', async () => {
  const { recordingId, operator } = await record()
  const file_url = `${pathOf(recordingId)}/file`
  expect(await fetchStatus(file_url, { Authorization: `Bearer ${operator.token}` }, 'HEAD')).toBe(200)
  expect(await downloadsOf(recordingId)).toEqual([])
  const { response } = await download(world, operator, file_url, { Range: 'bytes=1-' })
  expect(response.status).toBe(206)
  expect(await downloadsOf(recordingId)).toMatchObject([{ kind: 'file', user_id: operator.id }])
})

test('a recording that is deleted during a request is not found', async () => {
  const requests = [
    (path: string) => owner.post(`${path}/shares`),
    (path: string) => owner.post(`${path}/bookmarks`, { at: '2026-11-20T09:00:00Z', label: 'x' }),
    (path: string) => owner.get(`${path}/parts`),
  ]
  for (const request of requests) {
    const { recordingId } = await record()
    const status = await whileDeleted(recordingId, () => request(pathOf(recordingId)))
    expect([200, 404]).toContain(status)
  }
})

test('an export of a recording that is deleted during the request is no failure of the platform', async () => {
  const { recordingId, episodeIds } = await record()
  const status = await whileDeleted(recordingId, () =>
    owner.post('/api/client/datasets/exports', {
      format: 'lerobot_v3',
      name: 'late',
      fps: 10,
      episode_ids: episodeIds,
    }),
  )
  expect(status).toBeLessThan(500)
})

test('moments that PostgreSQL cannot store are refused', async () => {
  const { recordingId } = await record()
  for (const at of ['0000-01-01T00:00:00Z', '0000-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59Z']) {
    const { status } = await owner.post(`${pathOf(recordingId)}/bookmarks`, { at, label: 'x' })
    expect(status, at).toBeLessThan(500)
  }
})

test('an address of the storage works for five minutes, behind a link for a minute', async () => {
  const { recordingId } = await record()
  const { path } = await share(recordingId)
  const { storage } = world.platform
  const presign = storage.presign
  storage.presign = async (key, { expiresSeconds }) => `https://s3.example/${key}?expires=${expiresSeconds}`
  try {
    const address = `https://s3.example/recordings/${recordingId}/recording.mcap`
    const headers = { Authorization: `Bearer ${owner.token}` }
    for (const [url, ofReader, seconds] of [
      [path, {}, 60],
      [pathOf(recordingId), headers, 300],
    ] as const) {
      const response = await fetch(`${world.baseUrl}${url}/file`, { redirect: 'manual', headers: ofReader })
      expect([response.status, response.headers.get('Location')]).toEqual([
        302,
        `${address}?expires=${seconds}`,
      ])
      // A replay asks the platform again for each range.
      expect(response.headers.get('Cache-Control')).toBe('no-store')
    }
  } finally {
    storage.presign = presign
  }
})

test('a link is not valid while its author is suspended', async () => {
  const { recordingId } = await record()
  const { path } = await share(recordingId)
  const admin = await world.admin()
  await admin.post(`/api/admin/users/${owner.id}/suspend`, { reason: 'test' })
  for (const below of ['', '/file', '/parts']) expect(await fetchStatus(path + below)).toBe(404)
  await admin.post(`/api/admin/users/${owner.id}/restore`)
  expect(await fetchStatus(path)).toBe(200)
})

test('a link of an admin ends when its author is no admin any more', async () => {
  const { recordingId } = await record()
  const admin = await world.admin()
  const { body } = await admin.post(`${pathOf(recordingId)}/shares`)
  const path = `/api/shared/recordings/${body.url.split('/').at(-1)}`
  expect(await fetchStatus(path)).toBe(200)
  await using database = await connectTo(world.database.url)
  const setEmail = (email: string) =>
    database.query('update users set email = $1 where id = $2', [email, admin.id])
  await setEmail('former@test.local')
  for (const below of ['', '/file', '/parts']) expect(await fetchStatus(path + below)).toBe(404)
  await setEmail('admin@test.local')
  expect(await fetchStatus(path)).toBe(200)
})

test('the list of parts says that it leaves out the oldest segments', async () => {
  const { recordingId } = await record()
  await using database = await connectTo(world.database.url)
  await database.query('set session_replication_role = replica')
  const stream = randomUUID()
  await database.query(`update recordings set status = 'FINISHING', file_key = null where id = $1`, [
    recordingId,
  ])
  await database.query(
    `insert into recording_streams (id, recording_id, source, origin_id, node_id, opened_at)
     values ($1::uuid, $2, 'gateway', $1::uuid, $1::uuid, now())`,
    [stream, recordingId],
  )
  const add = (from: number, to: number) =>
    database.query(
      `insert into recording_segments (stream_id, number, recording_id, from_at, to_at, last_ms, messages, size_bytes, sha256, object_key)
       select $1, n, $2, $3::timestamptz + n * interval '1 s', $3::timestamptz + n * interval '1 s', 0, 1, 1, 'x', 'x'
       from generate_series($4::int, $5::int) n`,
      [stream, recordingId, new Date(START_MS), from, to],
    )
  const parts = async () => (await owner.get(`${pathOf(recordingId)}/parts`)).body
  await add(0, 4_999)
  expect(await parts()).toMatchObject({ truncated: false, parts: { length: 5_000 } })
  await add(5_000, 5_000)
  const { truncated, parts: listed } = await parts()
  expect([truncated, listed.length, listed[0].from]).toEqual([true, 5_000, '2026-11-20T09:00:01.000Z'])
})

test('the clean-up deletes files without a recording, also next to a folder that is no recording', async () => {
  const { recordingId } = await record()
  const { storage, core } = world.platform
  const [stray, orphan] = [`recordings/${'-'.repeat(36)}/x.mcap`, `recordings/${randomUUID()}/x.mcap`]
  for (const key of [stray, orphan]) await storage.put(key, Buffer.from('x'))
  const later = () => new Date(Date.now() + 48 * 3_600_000)
  await createDeletionWorker({ ...core, store: storage, now: later }).removeOrphans()
  expect(await storage.stat(orphan)).toBeUndefined()
  expect(await storage.stat(stray)).toBeDefined()
  expect(await storage.stat(`recordings/${recordingId}/recording.mcap`)).toBeDefined()
})

test('the clean-up deletes links that ended a month ago, unless the list of downloads names them', async () => {
  const { recordingId } = await record()
  const [valid, used, recent, expired, revoked] = await Promise.all(
    [1, 2, 3, 4, 5].map(() => share(recordingId)),
  )
  expect(await fetchStatus(`${used?.path}/parts`)).toBe(200)
  await using database = await connectTo(world.database.url)
  const end = (column: string, link: { id: string } | undefined, daysAgo: number) =>
    database.query(`update recording_shares set ${column} = now() - $2 * interval '1 day' where id = $1`, [
      link?.id,
      daysAgo,
    ])
  await end('expires_at', used, 31)
  await end('revoked_at', recent, 29)
  await end('expires_at', expired, 31)
  await end('revoked_at', revoked, 31)
  await (await world.platform.core.jobs.engine()).send(RECORDING_ORPHANS.name, {})
  await world.runJobs(RECORDING_ORPHANS)
  const { shares } = (await owner.get(`${pathOf(recordingId)}/shares`)).body
  const left = shares.map(({ id }: { id: string }) => id)
  expect(left.sort()).toEqual([valid?.id, used?.id, recent?.id].sort())
})

test('a recording lists its newest gaps, and a list of recordings fewer', async () => {
  const { recordingId } = await record()
  await using database = await connectTo(world.database.url)
  await database.query(
    `insert into recording_gaps (recording_id, source, from_at, to_at, reason)
     select $1, 'gateway', $2::timestamptz + n * interval '1 s', $2::timestamptz + n * interval '1 s' + length, 'overload'
     from generate_series(1, 1001) n, unnest(array[interval '10 ms', interval '500 ms']) length`,
    [recordingId, new Date(START_MS)],
  )
  const { gaps } = (await owner.get(pathOf(recordingId))).body
  expect([gaps.length, gaps[0], gaps.at(-1).from]).toEqual([
    1_000,
    { from: '2026-11-20T09:00:02.000Z', to: '2026-11-20T09:00:02.500Z', reason: 'overload' },
    '2026-11-20T09:16:41.000Z',
  ])
  const { recordings } = (await owner.get('/api/recordings?limit=100')).body
  const listed = recordings.find(({ id }: { id: string }) => id === recordingId).gaps
  expect(listed).toEqual(gaps.slice(-100))
})

/** Begins a request while a transaction deletes a recording, which then commits. Returns the status of the response. */
async function whileDeleted(
  recordingId: string,
  request: () => Promise<{ status: number }>,
): Promise<number> {
  await using database = await connectTo(world.database.url)
  await database.query('begin')
  await database.query('delete from recordings where id = $1', [recordingId])
  const response = request()
  await expect
    .poll(async () => {
      await using observing = await connectTo(world.database.url)
      const waiting = await observing.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      return waiting.rowCount
    })
    .toBeGreaterThan(0)
  await database.query('commit')
  return (await response).status
}
