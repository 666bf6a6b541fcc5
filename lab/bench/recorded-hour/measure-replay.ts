import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { PICTURE } from './encode-pictures.ts'

const SPEED = 8
const SAMPLE_EVERY_MS = 15_000
/** How much slower than that a playback may be on a busy machine before it counts as stuck. */
const MAX_SLOWNESS = 4
/** Share of the playback after which caches are full. */
const WARM_SHARE = 0.2

/** Creates in the page a promise of the time when a camera shows its first picture, since the start of the navigation. */
const FIRST_PICTURE = `window.firstPictureMs = new Promise((shown) => {
  const look = () => {
    const canvas = document.querySelector('figure canvas')
    const isDrawn = canvas?.width === ${PICTURE.width} && canvas.getContext('2d').getImageData(9, 9, 1, 1).data[3] === 255
    if (isDrawn) shown(performance.now())
    else requestAnimationFrame(look)
  }
  look()
})`

/** Opens the replay at a moment. Returns the time from the start of the navigation to the first picture. */
async function firstPictureMs(page: Page, url: string, atSeconds: number): Promise<number> {
  await page.goto(`${url}?t=${atSeconds}`, { waitUntil: 'commit' })
  return Number(await page.evaluate('window.firstPictureMs'))
}

export interface Openings {
  /** In a new browser context, without a cache. */
  readonly coldMs: readonly number[]
  /** With the console in the browser's cache. */
  readonly warmMs: readonly number[]
}

/** Opens the replay several times at moments that are spread over the recording. */
export async function measureOpenings(
  browser: Browser,
  { state, url, seconds, count }: Target & { readonly count: number },
): Promise<Openings> {
  const [coldMs, warmMs]: [number[], number[]] = [[], []]
  for (let run = 0; run < count; run++) {
    const context = await openContext(browser, state)
    const page = await context.newPage()
    const atSeconds = Math.floor(((run + 0.5) / count) * seconds)
    coldMs.push(await firstPictureMs(page, url, atSeconds))
    warmMs.push(await firstPictureMs(page, url, (atSeconds + Math.floor(seconds / 3)) % seconds))
    await context.close()
  }
  return { coldMs, warmMs }
}

interface Target {
  /** The cookies of the user. */
  readonly state: Awaited<ReturnType<BrowserContext['storageState']>>
  readonly url: string
  readonly seconds: number
}

async function openContext(browser: Browser, storageState: Target['state']): Promise<BrowserContext> {
  const size = { viewport: { width: 1_440, height: 900 }, locale: 'en-GB' }
  const context = await browser.newContext({ ...size, storageState })
  await context.addInitScript(FIRST_PICTURE)
  return context
}

export interface PageMemory {
  readonly atSeconds: number
  /** Scripts' objects on the main thread, after a collection. */
  readonly heapBytes: number
  /** Resident memory of the process of the page, with its workers, decoders and canvases. */
  readonly residentBytes: number
}

/** Plays the whole recording, eight times as fast. Returns memory when caches are full and from then on. */
export async function measurePlayback(browser: Browser, target: Target): Promise<PageMemory[]> {
  const context = await openContext(browser, target.state)
  const page = await context.newPage()
  await firstPictureMs(page, target.url, 0)
  const readMemory = await memoryReader(browser, page)
  await page.getByLabel('Playback speed').selectOption(String(SPEED))
  await page.getByLabel('Playback speed').blur()
  await page.keyboard.press(' ')
  const samples: PageMemory[] = []
  const position = async () =>
    Number(await page.getByRole('slider', { name: 'Position' }).getAttribute('aria-valuenow'))
  const limitMs = performance.now() + (MAX_SLOWNESS * target.seconds * 1_000) / SPEED
  for (;;) {
    await delay(Math.min(SAMPLE_EVERY_MS, (target.seconds * 1_000) / SPEED / 10))
    const atSeconds = await position()
    if (atSeconds >= target.seconds - SPEED) break
    if (performance.now() > limitMs) throw new Error(`The playback is at ${atSeconds} s only.`)
    if (atSeconds >= target.seconds * WARM_SHARE) samples.push({ atSeconds, ...(await readMemory()) })
  }
  await context.close()
  return samples
}

/** Returns a function that reads the memory of a page. */
async function memoryReader(browser: Browser, page: Page) {
  const [pageDebugger, browserDebugger] = await Promise.all([
    page.context().newCDPSession(page),
    browser.newBrowserCDPSession(),
  ])
  return async () => {
    await pageDebugger.send('HeapProfiler.collectGarbage')
    const { usedSize } = await pageDebugger.send('Runtime.getHeapUsage')
    const { processInfo } = await browserDebugger.send('SystemInfo.getProcessInfo')
    const renderers = processInfo.filter(({ type }) => type === 'renderer')
    const resident = await Promise.all(renderers.map(({ id }) => residentBytes(id)))
    return { heapBytes: usedSize, residentBytes: Math.max(0, ...resident) }
  }
}

/** Returns the resident memory of a process, from Linux; NaN on other systems. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) * 1_024
}
