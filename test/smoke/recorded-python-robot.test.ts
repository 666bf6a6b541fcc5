import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { OperatorLink, ticketsOf } from '../../packages/sdk/index.ts'
import { type ConsoleBrowser, openConsole } from '../support/browser/console.ts'
import { readyOwner } from '../support/browser/ready-users.ts'
import { startPythonRobot } from '../support/examples/example-robots.ts'
import type { Sample } from '../support/examples/scripted-robot-gateway.ts'
import { downloadDataset, duckdb } from '../support/recordings/dataset-files.ts'
import { exportDataset } from '../support/recordings/recorded-episodes.ts'
import { download, readMcap } from '../support/recordings/recording-fixture.ts'
import { startPython } from '../support/video/python-programs.ts'
import { performAction, start, tolerateLatency } from '../support/world/session-fixtures.ts'
import type { TestUser } from '../support/world/test-user.ts'
import { waitFor } from '../support/world/wait.ts'
import { createWorld, type World } from '../support/world/world.ts'

// Follows one session of the Python example: driven and watched live, then as a recording, a replay and a dataset.

const FRAME_MS = 40
const cameraProgram = fileURLToPath(new URL('../../examples/python/camera.py', import.meta.url))
const viewerProgram = fileURLToPath(new URL('../support/video/whep_viewer.py', import.meta.url))

let world: World
let browser: ConsoleBrowser
let owner: TestUser
/** The session of the first test; the others look at what remains of it. */
let sessionId: string | undefined
beforeAll(async () => {
  world = await createWorld({ env: { ROLES: 'api,hub,gateway,worker,media,recorder' } })
  browser = await openConsole(world.baseUrl)
  owner = await readyOwner(world)
  // The camera program tries again.
  world.tolerateErrors('The media server did not answer in time')
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

test('the robot sends its camera, obeys commands, and halts by itself when they cease', async () => {
  const operator = await world.operator()
  const { id, token } = await world.robot(owner)
  await owner.patch(`/api/client/robots/${id}`, { recording: 'video' })
  await tolerateLatency(world, id)
  const url = `${world.gatewayUrl}/robots/${id}/control`
  await using _robot = await startPythonRobot(async () => ({ url, token }))
  const whip = { WHIP_URL: `${world.baseUrl}/api/robots/${id}/whip`, ROBOT_TOKEN: token }
  await using _camera = await startPython(cameraProgram, { args: ['front'], env: whip })
  const session = await waitFor(() => start(operator, id))
  const path = `/api/sessions/${session}`
  await waitFor(async () => {
    expect((await operator.get(`${path}/cameras`)).body.cameras[0]).toMatchObject({ live: true })
    expect((await owner.get(`${path}/recording`)).body).toMatchObject({ status: 'RECORDING' })
  })

  const { ticket } = (await operator.post(`${path}/ticket`, { part: 'control' })).body
  const whep = { WHEP_URL: `${world.baseUrl}${path}/whep/front`, TICKET: ticket }
  await using viewer = await startPython(viewerProgram, { env: whep })
  await waitFor(() => expect(viewer.output().match(/"width": 640/g)?.length ?? 0).toBeGreaterThan(10))

  let sample: Sample | undefined
  const link = new OperatorLink({
    getTicket: ticketsOf({
      baseUrl: world.baseUrl,
      sessionId: session,
      part: 'control',
      token: operator.token,
    }),
    PeerConnection: null,
    onTelemetry: (data) => {
      sample = data as Sample
    },
  })
  onTestFinished(() => link.close())
  await link.connect()
  const mark = async (action: string) => {
    const reply = await operator.post(`${path}/episodes`, { action, task: 'Drive on' })
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  }
  await mark('start')
  const timer = setInterval(() => link.control({ linear_mps: 0.4, angular_radps: 0 }), FRAME_MS)
  try {
    await waitFor(() => expect(sample?.pose.x_m).toBeGreaterThan(0.3))
  } finally {
    clearInterval(timer)
  }
  await waitFor(() => expect(sample?.standing).toBe(true))
  await mark('success')
  expect(link.state).toMatchObject({ status: 'ACTIVE', stop: { reason: 'deadman', latched: false } })
  await performAction(owner, session, 'end')
  sessionId = session
})

test('the recording is an MCAP file with its commands, telemetry and pictures', async ({ skip }) => {
  skip(sessionId === undefined, 'no session was driven')
  const recording = await waitFor(async () => {
    const { body } = await owner.get(`/api/sessions/${sessionId}/recording`)
    expect(body).toMatchObject({ status: 'READY', gaps: [] })
    return body
  })
  const mcap = await readMcap((await download(world, owner, recording.file_url)).bytes)
  expect(mcap.of('/control')[0]?.json?.data).toMatchObject({ linear_mps: 0.4 })
  expect(mcap.of('/telemetry').length).toBeGreaterThan(10)
  expect(new Set(mcap.of('/camera/front').map(({ schema }) => schema))).toEqual(
    new Set(['foxglove.CompressedVideo']),
  )
  expect(mcap.of('/camera/front').length).toBeGreaterThan(10)
})

test('the replay shows the recorded picture: a dark bar on a bright ground', async ({ skip }) => {
  skip(sessionId === undefined, 'no session was driven')
  const { page } = await browser.enter(owner, `/dashboard/sessions/${sessionId}/replay`)
  await page.getByRole('button', { name: 'Play' }).waitFor()
  await page.keyboard.press('End')
  const shades = () =>
    page.evaluate(`(() => {
      const canvas = document.querySelector('figure canvas')
      if (canvas?.width !== 640) return []
      const { data } = canvas.getContext('2d').getImageData(0, canvas.height / 2, canvas.width, 1)
      const green = data.filter((_, index) => index % 4 === 1)
      return [Math.min(...green), Math.max(...green)]
    })()`) as Promise<[darkest: number, brightest: number]>
  await waitFor(async () => {
    const [darkest, brightest] = await shades()
    expect(darkest).toBeLessThan(120)
    expect(brightest).toBeGreaterThan(180)
  })
})

test('the marked episode becomes a dataset that DuckDB reads', async ({ skip }) => {
  skip(sessionId === undefined, 'no session was driven')
  const { episodes } = (await owner.get(`/api/sessions/${sessionId}/episodes`)).body
  const ready = await exportDataset(world, owner, { episode_ids: [episodes[0].id] })
  expect(ready).toMatchObject({ episodes: 1, error: null })
  await using dataset = await downloadDataset(world, owner, ready.base_url)
  expect(dataset.paths).toContain('videos/observation.images.front/chunk-000/file-000.mp4')
  const rows = await duckdb(
    `select * from '${dataset.path('data/chunk-000/file-000.parquet')}' order by index`,
  )
  expect(rows).toHaveLength(ready.frames)
  const speeds = rows.map(({ action }) => Math.max(...(action as number[])))
  expect([speeds[0], Math.max(...speeds)]).toEqual([0, expect.closeTo(0.4)])
})
