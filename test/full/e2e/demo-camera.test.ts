import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OperatorLink, ticketsOf } from '../../../packages/sdk/index.ts'
import { freePort } from '../../../src/core/database/embedded-postmaster.ts'
import { MAX_VIEWERS } from '../../../tools/demo/camera/camera.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { type Answer, ask } from '../../support/network/http-request.ts'
import { imageDifference, openMjpegStream } from '../../support/network/mjpeg-client.ts'
import { type Serving, startWheelhouse, type Wheelhouse } from '../../support/processes/processes.ts'
import { waitFor } from '../../support/world/wait.ts'

// The program as users start it, seen through its cameras.

let database: TestDatabase
let dataDir: string
let app: Wheelhouse
let serving: Serving
let keys: { owner: string; operator: string }

const start = async (env: Record<string, string> = {}) => {
  app = startWheelhouse({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    DEMO: 'true',
    // A busy machine sends the heartbeats of the robots late.
    HEARTBEAT_TIMEOUT_MS: '60000',
    PORT: String(await freePort()),
    ...env,
  })
  serving = await app.serving()
}

beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-camera-'))
  await start()
  keys = JSON.parse(await readFile(join(dataDir, 'demo-keys.json'), 'utf8'))
})
afterAll(async () => {
  await app?.[Symbol.asyncDispose]()
  await database?.drop()
  await rm(dataDir, { recursive: true, force: true })
})

const api = (path: string, token: string, method = 'GET', body?: unknown): Promise<Answer> =>
  ask(serving.baseUrl + path, { method, token, ...(body === undefined ? {} : { body }) })

async function robotNamed(name: string): Promise<{ id: string; stream_url: string }> {
  const { body } = await api('/api/client/robots', keys.owner)
  const found = body.find((robot: { name: string }) => robot.name === name)
  expect(found, JSON.stringify(body)).toBeDefined()
  return found
}

/** Drives as an operator that holds a key, until the test ends it. */
async function driveOn(sessionId: string, command: unknown) {
  const link = new OperatorLink({
    getTicket: ticketsOf({ baseUrl: serving.baseUrl, token: keys.operator, sessionId, part: 'control' }),
  })
  await link.connect()
  const timer = setInterval(() => link.control(command), 50)
  return async () => {
    clearInterval(timer)
    await link.close()
  }
}

// The encoder is installed on these systems only.
test.runIf(process.platform === 'linux' && process.arch === 'x64')(
  'the robots publish what they see over WebRTC, too',
  async () => {
    const { id } = await robotNamed('Ronja')
    await waitFor(async () => {
      const { cameras } = (await api(`/api/client/robots/${id}/cameras`, keys.owner)).body
      expect(cameras).toMatchObject([
        { name: 'front', source: 'webrtc', live: true, codec: 'H264' },
        { name: 'rear', source: 'webrtc', live: true, codec: 'H264' },
        { name: 'stream-url', source: 'stream_url' },
      ])
    })
  },
)

test('two viewers see the robot drive, and not move while a stop is latched', async () => {
  const robot = await robotNamed('Ronja')
  expect(new URL(robot.stream_url).origin).toBe(serving.baseUrl)
  const viewers = [await openMjpegStream(robot.stream_url), await openMjpegStream(robot.stream_url)] as const
  const [viewer] = viewers
  for (const { frames } of viewers) await waitFor(() => expect(frames.length).toBeGreaterThan(2))
  const fresh = async () => {
    const seen = viewer.frames.length
    await waitFor(() => expect(viewer.frames.length).toBeGreaterThan(seen + 1))
    return viewer.newest()
  }
  const first = await fresh()
  for (const item of viewers) {
    const { format, width, height } = await sharp(item.newest()).metadata()
    expect({ format, width, height }).toEqual({ format: 'jpeg', width: 1280, height: 720 })
  }
  expect(await imageDifference(first, await fresh()), 'the robot has halted').toBeLessThan(0.5)

  const { body } = await api('/api/sessions', keys.operator, 'POST', { robotId: robot.id })
  const session = `/api/sessions/${body.sessionId}`
  const release = await driveOn(body.sessionId, { linear_mps: 0.4, angular_radps: 0.5 })
  await waitFor(async () => expect(await imageDifference(first, viewer.newest())).toBeGreaterThan(8))
  await waitFor(async () => expect(await imageDifference(first, viewers[1].newest())).toBeGreaterThan(4))
  await release()
  // Halted again: two equal pictures.
  await waitFor(async () => expect(await imageDifference(await fresh(), await fresh())).toBeLessThan(0.5))
  const before = await fresh()

  expect((await api(session, keys.owner, 'PATCH', { action: 'emergency_stop' })).status).toBe(200)
  const releaseStopped = await driveOn(body.sessionId, { linear_mps: 0.4, angular_radps: 0.5 })
  for (let frames = 0; frames < 5; frames++)
    expect(await imageDifference(before, await fresh())).toBeLessThan(0.5)
  await releaseStopped()
  expect((await api(session, keys.owner, 'PATCH', { action: 'clear_stop' })).status).toBe(200)
  expect((await api(session, keys.operator, 'PATCH', { action: 'end' })).status).toBe(200)
  for (const item of viewers) await item.leave()
})

test('single pictures, HEAD, wrong methods, unknown robots, and the maximum number of viewers', async () => {
  const { stream_url } = await robotNamed('Bolt')
  const halted = await fetch(`${stream_url}.jpg`)
  expect([halted.status, halted.headers.get('Content-Type')]).toEqual([200, 'image/jpeg'])
  expect(halted.headers.get('Cross-Origin-Resource-Policy')).toBe('cross-origin')
  expect(halted.headers.get('Cache-Control')).toBe('no-store')
  expect((await sharp(Buffer.from(await halted.arrayBuffer())).metadata()).format).toBe('jpeg')

  for (const url of [stream_url, `${stream_url}.jpg`]) {
    const head = await ask(url, { method: 'HEAD' })
    expect([head.status, head.body]).toEqual([200, ''])
    expect(head.headers.get('Content-Type')).toMatch(
      /^(image\/jpeg|multipart\/x-mixed-replace; boundary=\w+)$/,
    )
    const post = await ask(url, { method: 'POST', body: {} })
    expect([post.status, post.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
    const unknown = await ask(url.replace('demo-board-2', 'demo-board-9'))
    expect([unknown.status, unknown.body]).toEqual([404, { error: 'Camera not found' }])
  }

  const viewers = await Promise.all(Array.from({ length: MAX_VIEWERS }, () => openMjpegStream(stream_url)))
  expect(viewers.map(({ status }) => status)).toEqual(viewers.map(() => 200))
  const late = await ask(stream_url)
  expect([late.status, late.body.error]).toEqual([
    503,
    'Too many viewers watch this camera. Try again later.',
  ])
  expect(late.headers.get('Retry-After')).toBe('1')
  for (const viewer of viewers) await viewer.leave()
  await waitFor(async () => {
    const next = await openMjpegStream(stream_url)
    await next.leave()
    expect(next.status).toBe(200)
  })
})

test('a shutdown with viewers is orderly, and a start on another port updates the address', async () => {
  const before = await robotNamed('Ronja')
  const own = 'https://cam.example.com/bolt'
  const bolt = await robotNamed('Bolt')
  await api(`/api/client/robots/${bolt.id}`, keys.owner, 'PATCH', { stream_url: own })
  const viewer = await openMjpegStream(before.stream_url)
  await waitFor(() => expect(viewer.frames.length).toBeGreaterThan(1))
  expect(await app.end('SIGTERM')).toMatchObject({ code: 0 })
  expect(await viewer.ended).toBe('complete')

  await start()
  const after = await robotNamed('Ronja')
  expect(after.id).toBe(before.id)
  expect(after.stream_url).not.toBe(before.stream_url)
  expect((await fetch(`${after.stream_url}.jpg`)).status).toBe(200)
  expect((await robotNamed('Bolt')).stream_url, "the owner's own video").toBe(own)

  await app.end('SIGTERM')
  await start({ DEMO: 'false' })
  const missing = await ask(`${serving.baseUrl}/demo/robots/demo-board-1/camera.jpg`)
  expect([missing.status, missing.body]).toEqual([404, { error: 'Route not found' }])
})
