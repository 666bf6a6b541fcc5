import type { Page, Request } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createHlsCamera, createTestCamera, createWhepCamera } from '../../support/browser/cameras.ts'
import { leaveCockpit, openCockpit } from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole } from '../../support/browser/console.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld()
  browser = await openConsole(world.baseUrl)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

test.concurrent.each([[true], [false]])('an MJPEG stream is shown, with CORS: %s', async (readable) => {
  await using camera = await createTestCamera({ readable })
  await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const { page } = fixture
  const video = page.getByRole('region', { name: /^Camera of/ })
  const picture = video.getByRole('img')
  await picture.waitFor()
  await waitFor(async () => {
    const width = await picture.evaluate((it) =>
      'naturalWidth' in it ? it.naturalWidth : (it as HTMLCanvasElement).width,
    )
    expect(width).toBe(64)
  })
  if (readable) {
    await untilLive(page)
    camera.freeze(true)
    await video.locator('[data-testid="freshness-overlay"][data-state="BLIND"]').waitFor()
    camera.freeze(false)
    await untilLive(page)
  }
  expect(camera.destinations.has('image')).toBe(!readable)
  await leaveCockpit(page)
  await waitFor(() => expect(camera.viewers()).toBe(0))
})

test.concurrent('a camera that sends nothing at first is retried by the player that knows the age', async () => {
  await using camera = await createTestCamera()
  camera.freeze(true)
  await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const video = fixture.page.getByRole('region', { name: /^Camera of/ })
  await video.getByText('The camera sent no picture in time.').waitFor()
  camera.freeze(false)
  await untilLive(fixture.page)
  // An `<img>` would show the picture, but not its age.
  expect([...camera.destinations]).toEqual(['empty'])
})

test('a WHEP stream is shown, and its session is deleted when the viewer leaves', async () => {
  await using camera = await createWhepCamera(browser)
  await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const { page } = fixture
  await untilLive(page)
  expect(camera.open()).toBe(1)
  await leaveCockpit(page)
  await waitFor(() => expect(camera.open()).toBe(0))
})

test('an address that an owner names makes no page use the cookie of its viewer', async () => {
  const requests: { method: string; url: string; hasCookie: boolean }[] = []
  const record = async (request: Request) => {
    if (!/api|target/.test(new URL(request.url()).pathname) || request.method() === 'GET') return
    const headers = await request.allHeaders().catch(() => undefined)
    if (!headers) return // its page has been closed
    const hasCookie = 'cookie' in headers
    requests.push({ method: request.method(), url: request.url(), hasCookie })
  }
  const target = `${world.baseUrl}/api/operator/target`
  {
    // A server that names a resource of the platform as its own.
    await using camera = await createWhepCamera(browser, { location: target })
    await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
    fixture.page.on('request', record)
    await untilLive(fixture.page)
    await leaveCockpit(fixture.page)
  }
  {
    // A stream whose address is one of the platform.
    await using fixture = await openCockpit(world, browser, { robot: { stream_url: target } })
    fixture.page.on('request', record)
    await fixture.page.getByRole('button', { name: 'Retry now' }).click()
    await waitFor(() => expect(requests.filter(({ url }) => url === target)).not.toEqual([]))
    await leaveCockpit(fixture.page)
  }
  const sent = requests.filter(({ url }) => url === target)
  expect(sent.map(({ method, hasCookie }) => [method, hasCookie])).toEqual(sent.map(() => ['POST', false]))
})

test.concurrent('a live HLS stream is shown with its delay, and requests stop when the viewer leaves', async () => {
  await using camera = await createHlsCamera(browser)
  await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
  const { page } = fixture
  const video = page.getByRole('region', { name: /^Camera of/ })
  await video
    .getByTestId('freshness-age')
    .getByText(/^[1-9]\d*(\.\d)? s$/)
    .waitFor()
  expect(await video.locator('video').evaluate((it: HTMLVideoElement) => it.videoWidth)).toBeGreaterThan(0)
  // More segments than the first playlist lists.
  await waitFor(() => expect(camera.requests.segment).toBeGreaterThan(3))
  await leaveCockpit(page)
  const requestCounts = { ...camera.requests }
  const newest = camera.newest()
  await waitFor(() => expect(camera.newest()).toBeGreaterThan(newest + 1))
  expect(camera.requests).toEqual(requestCounts)
})

test.concurrent('a missing video shows a message and is retried', async () => {
  await using fixture = await openCockpit(world, browser)
  await fixture.page.getByText('This robot has no video.').waitFor()
  const { url } = await withCamera(async (camera) => camera)
  await using unreachable = await openCockpit(world, browser, { robot: { stream_url: url } })
  await unreachable.page.getByText('Camera unreachable', { exact: true }).waitFor()
  await unreachable.page.getByRole('button', { name: 'Retry now' }).waitFor()
})

/** Waits until the cockpit knows that the picture is new. */
const untilLive = (page: Page) => page.locator('[data-testid="freshness"][data-state="LIVE"]').waitFor()

async function withCamera<T>(use: (camera: Awaited<ReturnType<typeof createTestCamera>>) => Promise<T>) {
  await using camera = await createTestCamera()
  return await use(camera)
}
