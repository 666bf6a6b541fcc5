import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { recordEpisodes } from '../../support/recordings/recorded-episodes.ts'
import { beginDownload as begin, sendSlowly } from '../../support/recordings/slow-downloads.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const START_MS = Date.parse('2026-11-20T09:00:00Z')
const content = { startMs: START_MS, telemetry: [{ atMs: 0, data: { x: 1 } }] }

let world: World
/** Another process that serves the API. */
let other: Awaited<ReturnType<World['addNode']>>
let otherUrl: string
let owner: TestUser
let recordingId: string
beforeAll(async () => {
  world = await createWorld({ bus: 'redis', env: { ROLES: 'api,hub,gateway' } })
  const port = await freePort()
  other = await world.addNode('api', { PORT: String(port) })
  otherUrl = `http://localhost:${port}`
  for (const node of [world.platform, other.platform]) sendSlowly(node.storage)
  owner = await world.client()
  const robot = await world.robot(owner)
  const episode = { fromMs: 0, toMs: 1_000, task: null, success: null }
  recordingId = (await recordEpisodes(world, owner, robot.id, content, [episode])).recordingId
})
afterAll(async () => await world?.[Symbol.asyncDispose]())

const filePath = () => `/api/recordings/${recordingId}/file`
async function share(): Promise<{ id: string; path: string }> {
  const { body } = await owner.post(`/api/recordings/${recordingId}/shares`)
  return { id: body.id, path: `/api/shared/recordings/${body.url.split('/').at(-1)}/file` }
}
const nothingRuns = () =>
  waitFor(() => expect([world.platform.downloads.size, other.platform.downloads.size]).toEqual([0, 0]))

test('a download ends on every node when its link is revoked, and those with other links continue', async () => {
  const [first, second] = [await share(), await share()]
  const ending = await Promise.all([begin(world.baseUrl + first.path), begin(otherUrl + first.path)])
  const continuing = await begin(world.baseUrl + second.path)
  expect((await owner.delete(`/api/recordings/${recordingId}/shares/${first.id}`)).status).toBe(204)
  await Promise.all(ending.map(({ ended }) => ended))
  await delay(1_000)
  expect(continuing.isRunning()).toBe(true)
  await continuing.stop()
  await nothingRuns()
})

test('a download ends on every node when its API key is revoked', async () => {
  const [first, second] = [await owner.key(), await owner.key()]
  const ending = await begin(otherUrl + filePath(), first.key)
  const continuing = await begin(otherUrl + filePath(), second.key)
  await owner.delete(`/api/auth/api-keys/${first.id}`)
  await ending.ended
  expect(continuing.isRunning()).toBe(true)
  await continuing.stop()
  await nothingRuns()
})

test('downloads beyond the limit of a key or of a link are refused, and those of others are not', async () => {
  const [first, second] = [await owner.key(), await owner.key()]
  const [link, otherLink] = [await share(), await share()]
  for (const [url, otherUrl, key, otherKey] of [
    [filePath(), filePath(), first.key, second.key],
    [link.path, otherLink.path, undefined, undefined],
  ] as const) {
    const running = await Promise.all(Array.from({ length: 32 }, () => begin(world.baseUrl + url, key)))
    const headers: Record<string, string> = key ? { Authorization: `Bearer ${key}` } : {}
    const refused = await fetch(world.baseUrl + url, { headers })
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1'])
    expect(await refused.json()).toEqual({ error: expect.stringContaining('32 downloads') })
    running.push(await begin(world.baseUrl + otherUrl, otherKey))
    await running.shift()?.stop()
    running.push(await waitFor(() => begin(world.baseUrl + url, key)))
    await Promise.all(running.map(({ stop }) => stop()))
  }
  await nothingRuns()
})

test('downloads of a suspended user and with their links end', async () => {
  const { path } = await share()
  const admin = await world.admin()
  const ending = [
    await begin(otherUrl + filePath(), owner.token),
    await begin(otherUrl + path),
    await begin(world.baseUrl + path),
  ]
  await admin.post(`/api/admin/users/${owner.id}/suspend`, { reason: 'test' })
  await Promise.all(ending.map(({ ended }) => ended))
  await admin.post(`/api/admin/users/${owner.id}/restore`)
  await nothingRuns()
})
