import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DataScope } from '../../../src/core/permissions/authorization.ts'
import { connectTo } from '../../support/database/sql.ts'
import { recordEpisodes } from '../../support/recordings/recorded-episodes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')
const content = { startMs: START_MS, telemetry: [{ atMs: 0, data: { x: 1 } }] }

let world: World
let database: Awaited<ReturnType<typeof connectTo>>
let owner: TestUser
let reader: TestUser
/** The robot that is granted, and another one of the owner. */
let granted: Owned
let hidden: Owned
beforeAll(async () => {
  world = await createWorld()
  database = await connectTo(world.database.url)
  ;[owner, reader] = [await world.client(), await world.client()]
  ;[granted, hidden] = [await ownedRobot(owner), await ownedRobot(owner)]
})
afterAll(async () => {
  await database?.end()
  await world?.[Symbol.asyncDispose]()
})

type Owned = Awaited<ReturnType<typeof ownedRobot>>
/** Adds a robot with a recording, a dataset, a log and health. */
async function ownedRobot(user: TestUser) {
  const { id } = await world.robot(user)
  const episode = { fromMs: 0, toMs: 1_000, task: null, success: null }
  const { recordingId } = await recordEpisodes(world, user, id, content, [episode])
  await database.query(
    `insert into robot_logs (robot_id, seq, level, message, at) values ($1, 1, 'error', $2, now())`,
    [id, `line of ${id}`],
  )
  const { rows } = await database.query('select id from datasets where robot_id = $1', [id])
  return { id, recordingId, datasetId: rows[0].id as string }
}

const grantsOf = (user: TestUser) => `/api/organizations/${user.id}/grants`
const grant = (scopes: readonly DataScope[], fields: Record<string, unknown> = {}) =>
  owner.post(grantsOf(owner), {
    robot_id: granted.id,
    to_organization_id: reader.id,
    scopes,
    ...fields,
  })
const revoke = async (id: string) => expect((await owner.delete(`${grantsOf(owner)}/${id}`)).status).toBe(204)

/** What a user reads of a robot, by the scope of a grant that includes it. */
const routes: Readonly<Record<DataScope, (robot: Owned) => string[]>> = {
  recordings: ({ recordingId: id }) => ['', '/parts', '/file'].map((tail) => `/api/recordings/${id}${tail}`),
  datasets: ({ datasetId }) => [`/api/client/datasets/${datasetId}/episodes`],
  log: ({ id }) => [`/api/client/robots/${id}/logs`],
  health: ({ id }) => [`/api/client/robots/${id}/health`],
}
const scopes = Object.keys(routes) as DataScope[]
/** What no grant includes. */
const others = ({ id, recordingId }: Owned) => [
  `/api/client/robots/${id}`,
  `/api/client/robots/${id}/data`,
  `/api/recordings/${recordingId}/downloads`,
  `/api/recordings/${recordingId}/bookmarks`,
  `/api/recordings/${recordingId}/shares`,
]
const lists = [
  '/api/client/robots',
  '/api/client/sessions',
  '/api/sessions',
  '/api/client/live-robots',
  '/api/client/activity',
  '/api/events',
  '/api/search?q=Robot',
  '/api/client/datasets/exports',
]

async function statusOf(user: TestUser, path: string): Promise<number> {
  const response = await fetch(world.baseUrl + path, { headers: { Authorization: `Bearer ${user.token}` } })
  await response.arrayBuffer()
  return response.status
}

/** Checks what the reader sees with these scopes: exactly those of the robot, and nothing of another one. */
async function expectVisible(user: TestUser, visible: readonly DataScope[]) {
  for (const scope of scopes) {
    const status = visible.includes(scope) ? 200 : 404
    for (const path of routes[scope](granted))
      expect([path, await statusOf(user, path)]).toEqual([path, status])
    for (const path of routes[scope](hidden)) expect([path, await statusOf(user, path)]).toEqual([path, 404])
  }
  for (const robot of [granted, hidden])
    for (const path of others(robot)) expect([path, await statusOf(user, path)]).toEqual([path, 404])
  const recordings = (await user.get('/api/recordings')).body.recordings.map(({ id }: { id: string }) => id)
  expect(recordings).toEqual(visible.includes('recordings') ? [granted.recordingId] : [])
  const datasets = (await user.get('/api/client/datasets')).body.datasets.map(({ id }: { id: string }) => id)
  expect(datasets).toEqual(visible.includes('datasets') ? [granted.datasetId] : [])
  const ids = [granted, hidden].flatMap((robot) => Object.values(robot))
  for (const path of lists) {
    const text = JSON.stringify((await user.get(path)).body)
    for (const id of ids) expect(text, path).not.toContain(id)
  }
}

test('each set of scopes shows exactly its data of one robot', async () => {
  await expectVisible(reader, [])
  for (let bits = 1; bits < 1 << scopes.length; bits++) {
    const given = scopes.filter((_, index) => bits & (1 << index))
    const made = await grant(given)
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    expect(made.body).toMatchObject({ robot_id: granted.id, to_organization_id: reader.id, scopes: given })
    await expectVisible(reader, given)
    await revoke(made.body.id)
  }
  await expectVisible(reader, [])
})

test('incidents in the health of another organization name neither session nor person', async () => {
  await database.query(
    `insert into session_events (session_id, seq, type, data, at)
     select session_id, 9999, 'session.stopped', jsonb_build_object('reason', 'secret', 'actor_id', $2::text), now()
     from recordings where id = $1`,
    [granted.recordingId, owner.id],
  )
  await database
    .query('update sessions set ended_at = now() where robot_id = $1', [granted.id])
    .catch(() => {})
  const { body } = await grant(['health'])
  const mine = (await owner.get(routes.health(granted)[0]!)).body.incidents
  const seen = (await reader.get(routes.health(granted)[0]!)).body.incidents
  expect(seen).toHaveLength(mine.length)
  for (const incident of seen)
    expect(incident).toMatchObject({ session_id: null, reason: null, actor_name: null })
  await revoke(body.id)
})

test('only owners who act for the organization grant, list and revoke; ids of others are not found', async () => {
  const stranger = await world.client()
  const { body } = await grant(['log'])
  expect((await grant(['health'])).status).toBe(409)
  for (const fields of [
    { robot_id: randomUUID() },
    { robot_id: (await world.robot(reader)).id },
    { to_organization_id: randomUUID() },
  ])
    expect((await grant(['log'], fields)).status).toBe(404)
  for (const fields of [
    { to_organization_id: owner.id },
    { expires_at: '2020-01-01T00:00:00Z' },
    { scopes: [] },
  ])
    expect((await grant(['log'], fields)).status).toBe(400)
  for (const user of [reader, stranger]) {
    expect((await user.get(grantsOf(owner))).status).toBe(404)
    expect((await user.delete(`${grantsOf(owner)}/${body.id}`)).status).toBe(404)
    expect((await user.delete(`${grantsOf(user)}/${body.id}`)).status).toBe(404)
  }
  expect((await owner.get(grantsOf(owner))).body).toMatchObject({ given: [{ id: body.id }], received: [] })
  expect((await reader.get(grantsOf(reader))).body).toMatchObject({ given: [], received: [{ id: body.id }] })
  expect((await stranger.get(grantsOf(stranger))).body).toEqual({ given: [], received: [] })
  await revoke(body.id)
  const { rows } = await database.query(
    `select action from audit_log where subject_id = $1 and action like 'grant.%' order by id desc limit 2`,
    [granted.id],
  )
  expect(rows.map(({ action }) => action)).toEqual(['grant.revoked', 'grant.created'])
})

test('a revocation, an expiry and a transfer end a running download of the other organization only', async () => {
  const { storage } = world.platform
  const [read, stat] = [storage.read.bind(storage), storage.stat.bind(storage)]
  // A file that never ends.
  storage.stat = async (key) => ({ ...(await stat(key))!, sizeBytes: 40_000_000_000 })
  storage.read = async () => {
    const file = new Readable({ read() {} })
    file.push(Buffer.alloc(1_024))
    return file
  }
  const begin = async (user: TestUser) => {
    const abort = new AbortController()
    const response = await fetch(`${world.baseUrl}/api/recordings/${granted.recordingId}/file`, {
      headers: { Authorization: `Bearer ${user.token}` },
      signal: abort.signal,
    })
    expect(response.status).toBe(200)
    const content = response.body!.getReader()
    await content.read()
    const ended = content.read().then(
      () => 'more',
      () => 'ended',
    )
    return { ended, abort }
  }
  const ends: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
    revocation: revoke,
    expiry: (id) => database.query('update data_grants set expires_at = now() where id = $1', [id]),
    transfer: () => database.query('update robots set owner_id = $2 where id = $1', [granted.id, reader.id]),
  }
  const own = await begin(owner)
  for (const [name, end] of Object.entries(ends)) {
    const { status, body } = await grant(['recordings'])
    expect([name, status]).toEqual([name, 201])
    const running = await begin(reader)
    await end(body.id)
    expect([name, await running.ended]).toEqual([name, 'ended'])
    await waitFor(async () => expect((await database.query('select from data_grants')).rowCount).toBe(0))
  }
  expect(world.platform.downloads.size).toBe(1)
  // The earlier owner keeps what the robot recorded.
  await waitFor(async () =>
    expect(await statusOf(reader, `/api/recordings/${granted.recordingId}`)).toBe(404),
  )
  own.abort.abort()
  await own.ended
  Object.assign(storage, { read, stat })
})
