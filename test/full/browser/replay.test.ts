import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  openConsole,
  type PageOptions,
} from '../../support/browser/console.ts'
import { fieldFocusedBy } from '../../support/browser/keyboard.ts'
import {
  encodeCodedH264,
  encodeCodedJpegs,
  encodeCodedPictures,
  shownNumber,
} from '../../support/recordings/coded-picture.ts'
import { type FileServer, startFileServer } from '../../support/recordings/file-server.ts'
import { testPart } from '../../support/recordings/replay-mocks.ts'
import {
  createEndedSession,
  openReplayPage,
  positionOf,
  type ServedRecording,
  serveRecording,
} from '../../support/recordings/replay-page.ts'
import { framesOf, poseAt, type TestMessage, writeTestFile } from '../../support/recordings/test-recording.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SECONDS = 40
const FPS = 15
const GUTTER_PX = 112
const END_PX = 44

let world: World
let browser: ConsoleBrowser
let server: FileServer
let session: Awaited<ReturnType<typeof createEndedSession>>
let recorded: ServedRecording
beforeAll(async () => {
  world = await createWorld()
  browser = await openConsole(world.baseUrl)
  server = await startFileServer()
  session = await createEndedSession(world)
  recorded = await serveRecording(server, { seconds: SECONDS, fps: FPS })
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

interface Options {
  readonly search?: string
  readonly mocks?: ServedRecording['mocks']
  readonly page?: PageOptions
  readonly user?: { readonly token: string }
}

/** Opens the replay of the recording. The mocks are copies, so that tests do not share changes. */
async function open({
  search = '',
  mocks = recorded.mocks,
  page: options,
  user = session.owner,
}: Options = {}) {
  const copy = structuredClone(mocks)
  const page = await openReplayPage({
    browser,
    baseUrl: world.baseUrl,
    user,
    path: session.path + search,
    mocks: copy,
    ...(options && { page: options }),
  })
  return { page, mocks: copy }
}

const shows = (page: Page, number: number) =>
  waitFor(async () => expect(await shownNumber(page), 'the shown picture').toBe(number))
const isAt = (page: Page, ms: number) => waitFor(async () => expect(await positionOf(page)).toBe(ms))

/** Returns the newest message of a topic up to a time. */
const newestAt = ({ startMs, messages }: ServedRecording, topic: string, ms: number) =>
  messages.findLast((message) => message.topic === topic && message.atMs <= startMs + ms)

/** Waits until the page has drawn what it was asked to. */
const FRAMES = `new Promise((drawn) => {
  let frames = 4
  const next = () => (frames-- > 0 ? requestAnimationFrame(next) : drawn())
  next()
})`

/** Presses on the time axis. Returns the position in milliseconds. */
async function pressAxis(page: Page, share: number): Promise<number> {
  const box = await page.getByRole('slider').boundingBox()
  if (!box) throw new Error('the axis is not shown')
  await page.mouse.click(box.x + GUTTER_PX + (box.width - GUTTER_PX - END_PX) * share, box.y + 12)
  await page.evaluate(FRAMES)
  return await positionOf(page)
}

test('after twenty random jumps picture, pose and chat are those of the recording', async () => {
  const { page } = await open()
  await page.getByRole('tab', { name: 'Log' }).click()
  await shows(page, 0)
  const map = page.getByTestId('path')
  let random = 7
  for (let jump = 0; jump < 20; jump++) {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648
    const ms = await pressAxis(page, random / 2_147_483_648)
    // The position of the axis is rounded to a millisecond.
    const near = [ms - 1, ms, ms + 1].map((at) => newestAt(recorded, '/camera/front', at)?.value)
    await waitFor(async () => expect(near, `picture at ${ms} ms`).toContain(await shownNumber(page)))
    const sample = newestAt(recorded, '/telemetry', ms)
    const { x_m, y_m } = poseAt(((sample?.atMs ?? 0) - recorded.startMs - 7) / 1_000)
    const position = `${x_m.toFixed(1)} m, ${y_m.toFixed(1)} m`
    await waitFor(async () =>
      expect(await map.getAttribute('aria-label'), `pose at ${ms} ms`).toContain(position),
    )
    const message = newestAt(recorded, '/chat', ms)
    const body = message ? (message.value as { body: string }).body : 'started the session'
    await page.locator('[data-testid=log] [aria-current=true]').getByText(body).waitFor()
  }
})

test('keys play, step, jump, zoom and mark', async () => {
  const { page, mocks } = await open({
    search: '?t=10',
    page: { permissions: ['clipboard-read', 'clipboard-write'] },
  })
  await shows(page, 10 * FPS)
  await isAt(page, 10_000)
  await page.keyboard.press('.')
  await shows(page, 10 * FPS + 1)
  await isAt(page, 10_067)
  await page.keyboard.press(',')
  await shows(page, 10 * FPS)
  await page.keyboard.press('ArrowRight')
  await shows(page, 11 * FPS)
  await page.keyboard.press('Shift+ArrowRight')
  await isAt(page, 21_000)
  await page.keyboard.press('ArrowLeft')
  await isAt(page, 20_000)
  await page.keyboard.press('End')
  await isAt(page, SECONDS * 1_000)
  await page.keyboard.press('Home')
  await shows(page, 0)

  await page.keyboard.press(']')
  await page.getByLabel('Playback speed').and(page.locator('select')).waitFor()
  expect(await page.getByLabel('Playback speed').inputValue()).toBe('2')
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await waitFor(async () => expect(await positionOf(page)).toBeGreaterThan(1_500))
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Play' }).waitFor()

  // A letter that follows at once is text, and does not move the replay.
  expect(await fieldFocusedBy(page, 'b')).toBe('Label of a new bookmark')
  await page.keyboard.type('Near the shelf')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Near the shelf' }).first().waitFor()
  expect(mocks.bookmarks).toHaveLength(1)
  const bookmarkedMs = Date.parse(mocks.bookmarks[0]!.at) - recorded.startMs
  await page.keyboard.press('End')
  await isAt(page, SECONDS * 1_000)
  await page.getByRole('button', { name: 'Near the shelf' }).first().click()
  await isAt(page, bookmarkedMs)

  await page.keyboard.press('c')
  const link = new URL(
    await waitFor(() => page.evaluate('navigator.clipboard.readText()') as Promise<string>),
  )
  expect(link.pathname).toBe(session.path)
  expect(Number(link.searchParams.get('t'))).toBeCloseTo(bookmarkedMs / 1_000, 1)
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await expectAccessibleLayout(page, 'keyboard shortcuts')
})

test('a link to a moment opens it, in seconds or as a time', async () => {
  const { page } = await open({ search: '?t=24.5' })
  await shows(page, Math.floor(24.5 * FPS) % 300)
  await isAt(page, 24_500)
  const at = new Date(recorded.startMs + 7_000).toISOString()
  const { page: other } = await open({ search: `?at=${encodeURIComponent(at)}` })
  await shows(other, 7 * FPS)
  const { page: invalid } = await open({ search: '?t=soon' })
  await shows(invalid, 0)
})

test('dragging scrubs, the wheel zooms, and the whole comes back', async () => {
  const { page } = await open()
  await shows(page, 0)
  const box = (await page.getByRole('slider').boundingBox())!
  const x = (second: number) => box.x + GUTTER_PX + ((box.width - GUTTER_PX - END_PX) * second) / SECONDS
  await page.mouse.move(x(5), box.y + 12)
  await page.mouse.down()
  for (let second = 6; second <= 30; second += 4) await page.mouse.move(x(second), box.y + 12)
  await page.mouse.up()
  const ms = await positionOf(page)
  expect(Math.abs(ms - 30_000)).toBeLessThan(200)
  await waitFor(async () =>
    expect([ms - 1, ms, ms + 1].map((near) => Math.floor((near / 1_000) * FPS) % 300)).toContain(
      await shownNumber(page),
    ),
  )
  for (let turn = 0; turn < 8; turn++) await page.mouse.wheel(0, -120)
  await page.evaluate(FRAMES)
  // A tenth of the axis is less time than before.
  const before = await pressAxis(page, 0.5)
  const zoomed = (await pressAxis(page, 0.6)) - before
  expect(zoomed).toBeGreaterThan(0)
  expect(zoomed).toBeLessThan(SECONDS * 100 * 0.5)
  await page.keyboard.press('0')
  expect(Math.abs((await pressAxis(page, 0.25)) - SECONDS * 250)).toBeLessThan(50)
})

test('a picture that could not be loaded is loaded later, also without another move', async () => {
  // So many parts that those in the middle are not read before they are shown.
  const periods = Array.from({ length: SECONDS }, (_, second) => servePeriod(recorded, second, second + 1))
  const served = await Promise.all(periods)
  const parts = served.flat()
  const [pictures] = served[20]!
  const { page } = await open({
    mocks: { ...recorded.mocks, parts: { parts, complete: true, truncated: false } },
  })
  await shows(page, 0)
  const serveAgain = server.hide(new URL(pictures!.url).pathname)
  const ms = await pressAxis(page, 20.5 / SECONDS)
  await page.getByText('The video cannot be loaded').waitFor()
  serveAgain()
  await shows(page, Math.floor((ms / 1_000) * FPS) % 300)
})

test('the tip on the axis has exact values and reasons', async () => {
  const { page } = await open()
  await shows(page, 0)
  await page.getByRole('region', { name: 'Speed' }).waitFor()
  const box = (await page.getByRole('slider').boundingBox())!
  const x = box.x + GUTTER_PX + ((box.width - GUTTER_PX - END_PX) * 12.5) / SECONDS
  // The track of the link is the fourth.
  await waitFor(async () => {
    await page.mouse.move(x, box.y + 86)
    await page.mouse.move(x + 1, box.y + 86)
    expect(await page.locator('[data-tip]').innerText()).toMatch(/dropped: .*latency|dropped: .*late/i)
  })
  const plot = (await page.locator('[data-plot=speed]').boundingBox())!
  await page.mouse.move(x, plot.y + 40)
  await waitFor(async () =>
    expect(await page.locator('[data-tip]').innerText()).toMatch(/Measured 0\.\d+ m\/s/),
  )
})

test('cameras with VP8, H.264 and pictures play at the same time', async () => {
  const { page: encoder } = await browser.visit()
  await encoder.goto(`${world.baseUrl}/docs`)
  const seconds = 8
  const { startMs, messages, mocks } = await serveRecording(server, { seconds, fps: FPS })
  const h264 = await encodeCodedH264(encoder, seconds * FPS, 30)
  const jpegs = await encodeCodedJpegs(seconds * FPS)
  const timing = { startMs, fps: FPS }
  const all = [
    ...messages,
    ...framesOf('pictures', 'jpeg', jpegs, timing),
    ...(h264 ? framesOf('side', 'h264', h264, timing) : []),
  ].sort((a, b) => a.atMs - b.atMs)
  const file = await writeTestFile(all)
  mocks.parts = {
    parts: [testPart(server.add('/codecs.mcap', file), file, startMs, [0, seconds])],
    complete: true,
    truncated: false,
  }
  const { page } = await open({ mocks, search: '?t=5.5' })
  for (const key of h264 ? ['1', '2', '3'] : ['1', '2']) {
    await page.keyboard.press(key)
    await shows(page, Math.floor(5.5 * FPS))
  }
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Play' }).waitFor()
  for (const key of h264 ? ['3', '2', '1'] : ['2', '1']) {
    await page.keyboard.press(key)
    await shows(page, seconds * FPS - 1)
  }
  expect(h264, 'this Chromium encodes H.264').toBeDefined()
})

test('a camera that is published again with another codec is shown throughout', async () => {
  const { page: encoder } = await browser.visit()
  await encoder.goto(`${world.baseUrl}/docs`)
  const seconds = 6
  const { startMs, messages, mocks } = await serveRecording(server, { seconds, fps: FPS, cameras: [] })
  const h264 = await encodeCodedH264(encoder, seconds * FPS, 2 * FPS)
  if (!h264) throw new Error('this Chromium does not encode H.264')
  const vp8 = await encodeCodedPictures(seconds * FPS, 2 * FPS)
  const section = (format: 'vp8' | 'h264', frames: readonly Uint8Array[], second: number) =>
    framesOf('front', format, frames.slice(second * FPS, (second + 2) * FPS), {
      startMs: startMs + second * 1_000,
      fps: FPS,
    })
  const frames = [...section('vp8', vp8, 0), ...section('h264', h264, 2), ...section('vp8', vp8, 4)]
  const file = await writeTestFile([...messages, ...frames].sort((a, b) => a.atMs - b.atMs))
  mocks.parts = {
    parts: [testPart(server.add('/changing.mcap', file), file, startMs, [0, seconds])],
    complete: true,
    truncated: false,
  }
  const { page } = await open({ mocks, search: '?t=3' })
  // A camera that fails tries again, and would be shown later.
  const failures: string[] = []
  page.on('console', (message) => {
    if (message.text().startsWith('replay:')) failures.push(message.text())
  })
  await shows(page, 3 * FPS)
  await page.keyboard.press('Home')
  await shows(page, 0)
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Play' }).waitFor()
  await shows(page, seconds * FPS - 1)
  expect(failures).toEqual([])
})

test('the page of the session leads to the replay, and says what was recorded', async () => {
  const page = await openReplayPage({
    browser,
    baseUrl: world.baseUrl,
    user: session.operator,
    path: `/dashboard/sessions/${session.sessionId}`,
    mocks: recorded.mocks,
  })
  await page.getByText('control, telemetry and video, 12.3 MB').waitFor()
  await page.getByRole('link', { name: 'Open replay' }).click()
  await shows(page, 0)
  await page.getByRole('link', { name: 'Back to the session' }).click()
  await page.getByRole('heading', { name: /^Session on/ }).waitFor()
})

test('a gap is named on the picture, and the last one before it is marked as old', async () => {
  const iso = (startMs: number, second: number) => new Date(startMs + second * 1_000).toISOString()
  const { mocks } = await serveRecording(server, { seconds: 30, fps: FPS, gaps: [[10, 16]] }, (startMs) => ({
    gaps: [{ from: iso(startMs, 10), to: iso(startMs, 16), reason: 'storage_unavailable' }],
  }))
  const { page } = await open({ mocks, search: '?t=9' })
  await shows(page, 9 * FPS)
  await page.getByText('1 gap').waitFor()
  for (let second = 10; second <= 14; second++) await page.keyboard.press('ArrowRight')
  await page.getByText('Not recorded: the storage does not respond').waitFor()
  for (let second = 15; second <= 17; second++) await page.keyboard.press('ArrowRight')
  await shows(page, 17 * FPS)
  expect(await page.getByText('Not recorded').isVisible()).toBe(false)
})

test('sessions without a recording, with a failed one, and with nothing yet say so', async () => {
  const nothing = { ...recorded.mocks, parts: { parts: [], complete: false, truncated: false } }
  const recording = recorded.mocks.recording!
  const { page: none } = await open({ mocks: { ...recorded.mocks, recording: null } })
  await none.getByText('This session was not recorded').waitFor()
  const failed = { ...recording, status: 'FAILED' as const, file_url: null }
  const { page: lost } = await open({ mocks: { ...nothing, recording: failed } })
  await lost.getByText('The recording failed').waitFor()
  const running = { ...recording, status: 'RECORDING' as const, ended_at: null, file_url: null }
  const { page: begun } = await open({ mocks: { ...nothing, recording: running } })
  await begun.getByText('Nothing is stored yet').waitFor()
  // The parts that were stored before the failure can be seen.
  const { page: partial } = await open({ mocks: { ...recorded.mocks, recording: failed } })
  await partial.getByText('The recording could not be finished.').waitFor()
  await shows(partial, 0)
})

/** Serves the messages of a period as the recorder stores them: one part for each source. */
async function servePeriod({ startMs, messages }: ServedRecording, from: number, to: number) {
  const isWithin = ({ atMs }: TestMessage) => atMs >= startMs + from * 1_000 && atMs < startMs + to * 1_000
  const own = messages.filter(isWithin).filter(({ topic }) => topic !== '/events' && topic !== '/chat')
  return await Promise.all(
    [true, false].map(async (isCamera) => {
      const file = await writeTestFile(own.filter(({ topic }) => topic.startsWith('/camera') === isCamera))
      const url = server.add(`/segments/${crypto.randomUUID()}`, file)
      return testPart(url, file, startMs, [from, to])
    }),
  )
}

test('a running recording scrubs back, grows, and becomes the finished file under the viewer', async () => {
  const mocks = structuredClone(recorded.mocks)
  const finished = { recording: mocks.recording, parts: mocks.parts }
  mocks.recording = { ...mocks.recording!, status: 'RECORDING', ended_at: null, file_url: null }
  const first = [...(await servePeriod(recorded, 0, 10)), ...(await servePeriod(recorded, 10, 20))]
  mocks.parts = { parts: first, complete: false, truncated: false }
  const page = await openReplayPage({
    browser,
    baseUrl: world.baseUrl,
    user: session.owner,
    path: session.path,
    mocks,
  })
  // It begins shortly before the end.
  await waitFor(async () => expect(await positionOf(page)).toBe(5_000))
  await shows(page, 5 * FPS)
  await page.getByRole('button', { name: 'Live' }).click()
  await waitFor(async () => expect(await positionOf(page)).toBeGreaterThanOrEqual(20_000))
  mocks.parts = {
    parts: [...first, ...(await servePeriod(recorded, 20, 30))],
    complete: false,
    truncated: false,
  }
  await page.getByText('of 0:30.0').waitFor()
  await waitFor(async () => expect(await positionOf(page)).toBeGreaterThan(20_500))
  await page.keyboard.press('ArrowLeft')
  // The button that was clicked has the focus. The key pauses all the same.
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: /^Play/ }).waitFor()
  await page.keyboard.press('Home')
  await shows(page, 0)
  // The session is over: the segments are replaced.
  for (const { url } of mocks.parts.parts) server.remove(new URL(url).pathname)
  mocks.recording = finished.recording
  mocks.parts = finished.parts
  await page.getByText(`of 0:${SECONDS}.0`).waitFor()
  await page.getByRole('link', { name: /^MCAP/ }).waitFor()
  await page.keyboard.press('End')
  await shows(page, (SECONDS * FPS - 1) % 300)
})

test('an owner shares with an expiring link, revokes it, sees downloads, and deletes', async () => {
  const { page, mocks } = await open()
  await shows(page, 0)
  await page.getByRole('button', { name: 'Share' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Expires after').selectOption({ label: '7 days' })
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.getByText('https://hub.example/replay/').waitFor()
  await expectAccessibleLayout(page, 'share dialog')
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await dialog.getByText(/revoked/).waitFor()
  await dialog.getByLabel('Start at').check()
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.getByText(/hub\.example\/replay\/[\w-]+\?t=0\.0/).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Downloads' }).click()
  await page.getByRole('cell', { name: 'Olive' }).waitFor()
  await page.getByRole('cell', { name: 'With a link' }).waitFor()
  await expectAccessibleLayout(page, 'downloads dialog')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete recording' }).click()
  await page.getByRole('dialog').getByText('You cannot undo this.').waitFor()
  await expectAccessibleLayout(page, 'remove dialog')
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('heading', { name: /^Session on/ }).waitFor()
  expect(mocks.removed).toBe(true)
})

test('the operator cannot share or delete', async () => {
  const { page } = await open({ user: session.operator })
  await shows(page, 0)
  expect(await page.getByRole('button', { name: 'Share' }).count()).toBe(0)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Downloads' }).waitFor()
  await expectAccessibleLayout(page, 'menu of a recording')
  expect(await page.getByRole('menuitem', { name: 'Delete recording' }).count()).toBe(0)
})

test('a link shows the recording without a sign-in', async () => {
  const options = { browser, baseUrl: world.baseUrl, path: '/replay/aB3_x-9?t=12', mocks: recorded.mocks }
  const page = await openReplayPage(options)
  await shows(page, 12 * FPS)
  await page.getByText('Shared').waitFor()
  expect(await page.getByRole('button', { name: 'Add a bookmark' }).count()).toBe(0)
  await page.getByRole('tab', { name: 'Log' }).click()
  await page.getByText('Message at 5 s').waitFor()
  await expectAccessibleLayout(page, 'shared replay')
  const expired = await openReplayPage({ ...options, mocks: { ...recorded.mocks, recording: null } })
  await expired.getByText('This link is not valid.').waitFor()
})

test.each(['en-GB', 'de-DE'])('the replay is accessible, also on a phone (%s)', async (locale) => {
  const { page } = await open({ page: { locale } })
  await shows(page, 0)
  for (const tab of await page.getByRole('tab').all()) {
    await tab.click()
    await expectAccessibleLayout(page, `replay, ${await tab.innerText()}`)
  }
  await page.getByRole('button', { name: /^(Plots|Diagramme)$/ }).click()
  await page.getByRole('checkbox').first().waitFor()
  await expectAccessibleLayout(page, 'choice of plots')
})

test('playing holds a bounded number of pictures and bytes', async () => {
  const { page } = await open({ search: '?t=0' })
  await shows(page, 0)
  const before = server.requests.length
  await page.getByLabel('Playback speed').selectOption('8')
  await page.getByLabel('Playback speed').blur()
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Play' }).waitFor()
  await isAt(page, SECONDS * 1_000)
  // Played from the cache: nothing is read twice.
  const size = recorded.mocks.parts.parts[0]!.size_bytes
  const read = server.requests.slice(before).reduce((sum, { bytes }) => sum + bytes, 0)
  expect(read).toBeLessThanOrEqual(2 * size)
})
