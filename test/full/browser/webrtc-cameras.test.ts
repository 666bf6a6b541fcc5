import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PublishedCamera } from '../../../packages/sdk/camera/published-camera.ts'
import { type CockpitFixture, openCockpit } from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole } from '../../support/browser/console.ts'
import { childProcesses } from '../../support/processes/child-processes.ts'
import { vp8Frames } from '../../support/recordings/encoded-frames.ts'
import { startPython } from '../../support/video/python-programs.ts'
import { withMedia } from '../../support/video/video-fixture.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const cameraProgram = fileURLToPath(new URL('../../../examples/python/camera.py', import.meta.url))
const viewerProgram = fileURLToPath(new URL('../../support/video/whep_viewer.py', import.meta.url))

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld({ env: withMedia })
  browser = await openConsole(world.baseUrl)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

const whipUrl = (robotId: string) => `${world.baseUrl}/api/robots/${robotId}/whip`

/** Starts examples/python/camera.py. */
const startCamera = (fixture: CockpitFixture, name: string) =>
  startPython(cameraProgram, {
    args: [name],
    env: { WHIP_URL: whipUrl(fixture.robotId), ROBOT_TOKEN: fixture.robotToken },
  })

interface PageCamera {
  readonly name: string
  readonly codec: 'VP8' | 'H264'
  /** Whether the page also sends its picture in half of the width (simulcast). */
  readonly isLayered?: boolean
}

/** Publishes an animated canvas of 320 by 240 from a page, or of twice the size with layers. */
async function publishFromPage(fixture: CockpitFixture, camera: PageCamera): Promise<Page> {
  const { name, codec, isLayered = false } = camera
  const { page } = await browser.visit()
  await page.goto(`${world.baseUrl}/api/health`)
  const options = { url: `${whipUrl(fixture.robotId)}/${name}`, token: fixture.robotToken, codec, isLayered }
  await page.evaluate(async ({ url, token, codec, isLayered }) => {
    const canvas = document.createElement('canvas')
    const scale = isLayered ? 2 : 1
    canvas.width = 320 * scale
    canvas.height = 240 * scale
    const context = canvas.getContext('2d') as CanvasRenderingContext2D
    setInterval(() => {
      context.fillStyle = `hsl(${(performance.now() / 10) % 360} 80% 50%)`
      context.fillRect(0, 0, canvas.width, canvas.height)
    }, 50)
    const peer = new RTCPeerConnection()
    const [track] = canvas.captureStream(20).getVideoTracks()
    const transceiver = peer.addTransceiver(track as MediaStreamTrack, {
      direction: 'sendonly',
      ...(isLayered && { sendEncodings: [{ rid: 'l', scaleResolutionDownBy: 2 }, { rid: 'h' }] }),
    })
    const codecs = RTCRtpSender.getCapabilities('video')?.codecs ?? []
    transceiver.setCodecPreferences(codecs.filter(({ mimeType }) => mimeType === `video/${codec}`))
    await peer.setLocalDescription()
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp', Authorization: `Bearer ${token}` },
      body: peer.localDescription?.sdp ?? '',
    })
    if (response.status !== 201) throw new Error(await response.text())
    await peer.setRemoteDescription({ type: 'answer', sdp: await response.text() })
    Object.assign(window, { peer })
  }, options)
  return page
}

const pictureOf = (page: Page) => page.getByRole('region', { name: /^Camera of/ })

/** Returns the size of the shown picture. */
const widthOf = (page: Page) =>
  pictureOf(page)
    .locator('video')
    .evaluate((video) => (video as HTMLVideoElement).videoWidth)

test('the cockpit shows the camera of the Python example, and remains at it when it stops', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  {
    await using camera = await startCamera(fixture, 'front')
    await pictureOf(page).locator('video').waitFor()
    await waitFor(async () => expect(await widthOf(page)).toBe(640))
    await page.getByTestId('freshness').getByText('LIVE').waitFor()
    expect(camera.output()).toContain('camera front connected')
  }
  await pictureOf(page).getByText('The camera is not sending.').waitFor()
  await page.getByTestId('freshness').getByText('BLIND').waitFor()
  expect(await page.getByTestId('cockpit-picture').getAttribute('data-main')).toBe('camera')
})

test.each(['VP8', 'H264'] as const)('aiortc plays %s that Chromium publishes', async (codec) => {
  await using fixture = await openCockpit(world, browser)
  const publisher = await publishFromPage(fixture, { name: 'front', codec })
  try {
    const { operator, sessionId } = fixture
    await waitFor(async () => {
      const { cameras } = (await operator.get(`/api/sessions/${sessionId}/cameras`)).body
      expect(cameras[0]).toMatchObject({ live: true, codec })
    })
    const { ticket } = (await operator.post(`/api/sessions/${sessionId}/ticket`, { part: 'control' })).body
    const env = { WHEP_URL: `${world.baseUrl}/api/sessions/${sessionId}/whep/front`, TICKET: ticket }
    await using viewer = await startPython(viewerProgram, { env })
    await waitFor(() =>
      expect(viewer.output().match(/"width": \d+/g)?.length ?? 0, viewer.output()).toBeGreaterThan(10),
    )
  } finally {
    await publisher.context().close()
  }
})

test('a camera whose frames wait before they are sent is blind, and the robot does not move by it', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const frames = await vp8Frames({ frames: 60 })
  let [next, waitMs] = [0, 1_500]
  const options = { name: 'front', onKeyframeNeeded: () => (next = 0) }
  const address = { url: whipUrl(fixture.robotId), token: fixture.robotToken }
  const camera = new PublishedCamera(options, () => address)
  const timer = setInterval(() => {
    const frame = frames[next++ % frames.length] as Uint8Array
    camera.send(frame, Date.now() - waitMs)
  }, 33)
  try {
    await pictureOf(page).locator('video').waitFor()
    await page.keyboard.down('ArrowUp')
    await page.getByText('Picture frozen: driving held').waitFor()
    await page.getByTestId('freshness').getByText('BLIND').waitFor()
    await fixture.expectHalted()
    waitMs = 0
    await page.getByTestId('freshness').getByText('LIVE').waitFor()
    await fixture.expectMoving()
  } finally {
    clearInterval(timer)
    camera.close()
  }
})

test('a browser publishes its picture in two sizes, and the cockpit shows the larger one with its figures', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const publisher = await publishFromPage(fixture, { name: 'front', codec: 'VP8', isLayered: true })
  try {
    await waitFor(async () => expect(await widthOf(page)).toBe(640))
    const sentSizes = () =>
      publisher.evaluate(async () => {
        const { peer } = window as unknown as { peer: RTCPeerConnection }
        const stats = [...(await peer.getStats()).values()]
        return stats
          .filter(({ type, packetsSent }) => type === 'outbound-rtp' && packetsSent > 0)
          .map(({ frameWidth }) => frameWidth as number)
      })
    await waitFor(async () => expect((await sentSizes()).sort()).toEqual([320, 640]))
    await page.getByTestId('latency').click()
    const figures = page.locator('dl > div').filter({ hasText: 'Camera front' })
    await figures.getByText(/\d+ frames\/s · [\d.]+ Mbit\/s · [\d.]+ % lost · freezes: \d+/).waitFor()
  } finally {
    await publisher.context().close()
  }
})

test('one key shows the next camera, and a small picture becomes the large one', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const [front, rear] = [
    await publishFromPage(fixture, { name: 'front', codec: 'VP8' }),
    await publishFromPage(fixture, { name: 'rear', codec: 'VP8' }),
  ]
  try {
    await page.getByRole('button', { name: 'Show rear' }).click()
    await page.getByRole('button', { name: 'Show front' }).waitFor()
    await page.evaluate(() => (document.activeElement as HTMLElement).blur())
    await page.keyboard.press('v')
    await page.getByRole('button', { name: 'Show rear' }).waitFor()
    await waitFor(async () => expect(await widthOf(page)).toBe(320))
  } finally {
    await front.context().close()
    await rear.context().close()
  }
})

test('the picture returns after the forwarding process was killed', async () => {
  await using fixture = await openCockpit(world, browser)
  await using _camera = await startCamera(fixture, 'front')
  const { page } = fixture
  await waitFor(async () => expect(await widthOf(page)).toBe(640))
  for (const pid of childProcesses('media-process')) process.kill(pid, 'SIGKILL')
  await page.getByTestId('freshness').getByText('BLIND').waitFor()
  await page.getByTestId('freshness').getByText('LIVE').waitFor()
})
