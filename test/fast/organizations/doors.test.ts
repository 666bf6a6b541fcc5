import { afterAll, beforeAll, expect, test } from 'vitest'
import { RobotLink } from '../../../packages/sdk/index.ts'
import { SESSION_EXPORTS } from '../../../src/modules/sessions/stored-exports/stored-export.service.ts'
import { connectTo } from '../../support/database/sql.ts'
import { attempt } from '../../support/gateway/upgrade.ts'
import { connectMcp } from '../../support/mcp/mcp-client.ts'
import { recordEpisodes } from '../../support/recordings/recorded-episodes.ts'
import { TestViewer } from '../../support/video/test-viewer.ts'
import { runCamera } from '../../support/video/video-fixture.ts'
import { addMember, createTeam, teamRobot } from '../../support/world/organizations.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// One sample of each answer at each door. test/fast/contract/permissions.test.ts has every route, role and scope.

let world: World
let owner: TestUser
let teamId: string
let robotId: string
let sessionId: string
let recordingId: string
/** The keys by which each sample asks. */
let keys: Record<Sample, string>
const closers: (() => unknown)[] = []
beforeAll(async () => {
  world = await createWorld({ bus: 'redis', env: { ROLES: 'api,hub,gateway,media' } }) // no worker: jobs run when a test says so
  world.tolerateErrors('The media server did not answer in time')
  const founder = await world.client()
  teamId = await createTeam(founder)
  owner = await founder.actingFor(teamId)
  const [here, there] = await Promise.all(['Here', 'There'].map(group))
  const robot = await teamRobot(owner, { group_id: here })
  robotId = robot.id
  const url = `${world.gatewayUrl.replace(/\/$/, '')}/robots/${robotId}/control`
  const link = new RobotLink({ url, token: robot.token, PeerConnection: null })
  await link.connect()
  const camera = runCamera(link)
  closers.push(
    () => link.close(),
    () => camera.stop(),
  )
  const driver = await member('operator')
  sessionId = await waitFor(async () => {
    const reply = await driver.post('/api/sessions', { robotId })
    expect(reply.status, JSON.stringify(reply.body)).toBe(201)
    return reply.body.sessionId as string
  })
  recordingId = await recordingOf(robotId)
  await waitFor(async () =>
    expect((await owner.get(`/api/client/robots/${robotId}/cameras`)).body.cameras[0]?.live).toBe(true),
  )
  const other = await world.client()
  const stranger = await other.actingFor(await createTeam(other))
  const removed = await member('supervisor')
  const expired = await (await member('supervisor')).key()
  keys = {
    own: (await (await member('supervisor', [here!])).key()).key,
    'other group': (await (await member('supervisor', [there!])).key()).key,
    'other organization': (await stranger.key()).key,
    'removed member': (await removed.key()).key,
    'expired key': expired.key,
    'missing scope': await keyFor('billing'),
  }
  expect((await owner.delete(`/api/organizations/${teamId}/members/${removed.id}`)).status).toBe(204)
  await world.platform.core.db
    .updateTable('api_keys')
    .set({ expires_at: new Date(Date.now() - 1_000) })
    .where('id', '=', expired.id)
    .execute()
})
afterAll(async () => {
  await owner?.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  for (const close of closers.toReversed()) await close()
  await world?.[Symbol.asyncDispose]()
})

type Sample =
  | 'own'
  | 'other group'
  | 'other organization'
  | 'removed member'
  | 'expired key'
  | 'missing scope'

async function member(role: 'operator' | 'supervisor', groupIds: string[] | null = null) {
  const user = await world.newUser()
  await addMember(world, teamId, user, role, groupIds)
  return await user.actingFor(teamId)
}

const group = async (name: string): Promise<string> =>
  (await owner.post(`/api/organizations/${teamId}/groups`, { name })).body.id

async function keyFor(scope: string): Promise<string> {
  const reply = await owner.post('/api/auth/api-keys', { name: 'test', scopes: [scope] })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.key
}

/** Stores a finished recording of a robot of the team. */
async function recordingOf(id: string): Promise<string> {
  const content = { startMs: Date.parse('2026-11-20T09:00:00Z'), telemetry: [{ atMs: 0, data: { x: 1 } }] }
  const episode = { fromMs: 0, toMs: 1_000 }
  return (await recordEpisodes(world, { ...owner, id: teamId }, id, content, [episode])).recordingId
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })

/** The doors beside REST and the sockets, each with the status that it answers a key. */
const doors: Record<string, (key: string) => Promise<number>> = {
  MCP: async (key) => {
    try {
      await using mcp = await connectMcp(world.baseUrl, key)
      return (await mcp.use('get_robot', { robotId })).status
    } catch (cause) {
      if (String(cause).includes('HTTP 401')) return 401
      throw cause
    }
  },
  'WHEP video': async (token) => {
    const viewer = new TestViewer()
    try {
      const url = `${world.baseUrl}/api/client/robots/${robotId}/whep/front`
      return (await viewer.watch({ url, token })).status
    } finally {
      viewer.close()
    }
  },
  Foxglove: async (key) => {
    const address = new URL((await owner.post(`/api/sessions/${sessionId}/foxglove`)).body.url)
    address.search = ''
    return (await attempt(String(address), { headers: bearer(key), protocols: ['foxglove.sdk.v1'] })).status
  },
  'a download of a recording': async (key) => {
    const response = await fetch(`${world.baseUrl}/api/recordings/${recordingId}/file`, {
      headers: bearer(key),
    })
    await response.arrayBuffer()
    return response.status
  },
}
const success: Record<string, number> = { 'WHEP video': 201, Foxglove: 101 }

test.each(Object.keys(doors))('%s answers as REST does', async (door) => {
  const answers: Record<string, number> = {}
  for (const [sample, key] of Object.entries(keys)) answers[sample] = await doors[door]!(key)
  expect(answers).toEqual({
    own: success[door] ?? 200,
    'other group': 404,
    'other organization': 404,
    'removed member': 401,
    'expired key': 401,
    'missing scope': 403,
  })
})

test('a link to a recording ends with the membership of the one who made it', async () => {
  const author = await member('supervisor')
  const reply = await author.post(`/api/recordings/${recordingId}/shares`)
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  const path = `/api/shared/recordings/${reply.body.url.split('/').at(-1)}/file`
  const read = async () => {
    const response = await fetch(world.baseUrl + path)
    await response.arrayBuffer()
    return response.status
  }
  expect(await read()).toBe(200)
  await owner.delete(`/api/organizations/${teamId}/members/${author.id}`)
  expect(await read()).toBe(404)
})

test('an export that is being written when its member is removed is not handed out', async () => {
  const user = await member('supervisor')
  const { key } = await user.key()
  const made = await user.post('/api/session-exports', { format: 'csv' })
  expect(made.status, JSON.stringify(made.body)).toBe(202)
  const path = `/api/session-exports/${made.body.id}`
  await using database = await connectTo(world.database.url)
  await database.query('begin')
  await database.query('lock table session_export_chunks in access exclusive mode')
  const written = world.platform.core.jobs.runDue(SESSION_EXPORTS)
  await waitFor(async () => expect((await user.get(path)).body.status).toBe('RUNNING'))
  expect((await owner.delete(`/api/organizations/${teamId}/members/${user.id}`)).status).toBe(204)
  await database.query('commit')
  await written
  await waitFor(async () => {
    const row = await world.platform.core.db
      .selectFrom('session_exports')
      .select('status')
      .where('id', '=', made.body.id)
      .executeTakeFirstOrThrow()
    expect(row.status).toBe('READY')
  })
  const self = await user.actingFor(user.id)
  for (const part of ['', '/download']) {
    expect((await user.get(path + part)).status).toBe(404)
    expect((await self.get(path + part)).status).toBe(404)
    expect((await user.request('GET', path + part, undefined, key)).status).toBe(401)
  }
  // With another role there, it is not what the member may see now.
  await addMember(world, teamId, user, 'operator')
  expect((await user.get(`${path}/download`)).status).toBe(404)
})
