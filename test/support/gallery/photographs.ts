import type { Browser, Page } from 'playwright-core'
import { serveFolder } from '../browser/chromium.ts'
import { launchChromium } from '../browser/launch-chromium.ts'
import { chromium } from '../programs/external-programs.ts'
import { buildGallery } from './gallery-build.ts'

const SCHEMES = ['light', 'dark'] as const
export type ColorScheme = (typeof SCHEMES)[number]

/** The time of all pictures. */
const NOW = '2026-11-20T09:30:00Z'
const VIEWPORT = { width: 1_520, height: 1_000 }
const TIMEOUT_MS = 30_000

/** Independent of the screen and of the settings of the machine. */
const FLAGS = [
  '--disable-lcd-text',
  '--font-render-hinting=none',
  '--force-color-profile=srgb',
  '--force-device-scale-factor=1',
]

/** A state of the gallery, as the page describes it. */
interface ShownState {
  readonly id: string
  readonly schemes: readonly string[]
  readonly opensDialog: boolean
  readonly readyText: string | undefined
}

const STATES = `[...document.querySelectorAll('[data-gallery-state]')].map(({ dataset }) => ({
  id: dataset.galleryState,
  schemes: dataset.schemes.split(' '),
  opensDialog: dataset.opensDialog === 'true',
  readyText: dataset.readyText,
}))`

/** Resolves when all weights of the font are loaded: pictures are taken with it only. */
const FONT_LOADED = `Promise.all([400, 500, 600, 700, 800].map((weight) => document.fonts.load(weight + ' 16px Inter')))`

/** Resolves when fonts are loaded and the latest change was painted. */
const PAINTED = `document.fonts.ready.then(() => new Promise((settle) => {
  requestAnimationFrame(() => requestAnimationFrame(settle))
}))`

/** Builds the gallery and opens it in a separate Chromium. */
export async function openGallery() {
  const server = await serveFolder(await buildGallery())
  const browser = await launchChromium(await chromium(), FLAGS)
  return {
    /** The major version of Chromium. */
    chromium: Number.parseInt(browser.version(), 10),
    /** Opens the gallery in one colour scheme. */
    open: (scheme: ColorScheme) => openScheme(browser, server.origin, scheme),
    async [Symbol.asyncDispose]() {
      await browser.close()
      await server[Symbol.asyncDispose]()
    },
  }
}
export type OpenGallery = Awaited<ReturnType<typeof openGallery>>

async function openScheme(browser: Browser, origin: string, colorScheme: ColorScheme) {
  const context = await browser.newContext({
    colorScheme,
    viewport: VIEWPORT,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(TIMEOUT_MS)
  const problems: string[] = []
  context.on('weberror', (error) => problems.push(String(error.error())))
  const page = await context.newPage()
  await page.clock.setFixedTime(NOW)
  await page.goto(`${origin}/gallery.html`)
  await page.getByRole('heading', { name: 'Gallery' }).waitFor()
  await page.evaluate(FONT_LOADED)
  const all = (await page.evaluate(STATES)) as ShownState[]
  return {
    page,
    /** Errors that scripts of the page have thrown. */
    problems,
    /** The states that look different in this scheme. */
    states: all.filter(({ schemes }) => schemes.includes(colorScheme)),
    photograph: (state: ShownState) => photograph(page, state),
    [Symbol.asyncDispose]: () => context.close(),
  }
}

/** Returns a PNG of one state, which is then the only one on the page. */
async function photograph(page: Page, { id, opensDialog, readyText }: ShownState): Promise<Buffer> {
  // Nothing lies under the pointer.
  await page.mouse.move(VIEWPORT.width - 1, VIEWPORT.height - 1)
  await page.evaluate(`location.hash = ${JSON.stringify(id)}`)
  const state = page.locator(`[data-gallery-state="${id}"]`)
  await page.getByRole('heading', { name: 'Gallery' }).waitFor({ state: 'detached' })
  await state.waitFor()
  if (readyText !== undefined) await state.getByText(readyText).first().waitFor()
  if (opensDialog) {
    await state.getByRole('button').focus()
    await page.keyboard.press('Enter')
  }
  const subject = opensDialog ? page.getByRole('dialog') : state
  await subject.waitFor()
  await page.evaluate(PAINTED)
  return await subject.screenshot({ animations: 'disabled' })
}

/** Photographs all states, in each scheme in which they look different. */
export async function* photographs(gallery: OpenGallery) {
  for (const scheme of SCHEMES) {
    const shown = await gallery.open(scheme)
    try {
      for (const state of shown.states)
        yield { name: `${state.id}-${scheme}`, picture: await shown.photograph(state) }
      if (shown.problems.length > 0) throw new Error(`The gallery has errors: ${shown.problems.join('\n')}`)
    } finally {
      await shown[Symbol.asyncDispose]()
    }
  }
}
