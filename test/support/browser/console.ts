import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { launchChromium } from './chromium.ts'
import { rawTexts } from './raw-texts.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const { resolve } = createRequire(import.meta.url)

/** Less than a test may take, so that what was waited for is named. */
const TIMEOUT_MS = 25_000

/** Of a browser's context: width, colours, proxy. */
export type PageOptions = NonNullable<Parameters<Browser['newContext']>[0]>

/** Builds the console, unless the last build is of the same sources. */
export async function ensureConsole(): Promise<void> {
  await promisify(execFile)(process.execPath, ['tools/scripts/ensure-console.mjs'], { cwd: root })
}

/** A browser for tests of the console at `baseUrl`. Ending it fails the test if a page had an error of its own. */
export async function openConsole(baseUrl: string) {
  await ensureConsole()
  const browser = await launchChromium()
  const problems: string[] = []
  /** Asks for reduced motion unless told: nothing is caught half faded in. */
  const open = async (options: PageOptions) => {
    const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
    context.setDefaultTimeout(TIMEOUT_MS)
    watch(context, problems)
    return { context, page: await context.newPage() }
  }
  return {
    browser,
    /** What scripts of the pages threw, or were refused by the content policy. */
    problems,

    /** Somebody at a browser of their own, signed in through the built-in provider's page, at `path`. */
    async signIn(email: string, path = '/dashboard', options: PageOptions = {}) {
      const { context, page } = await open(options)
      await page.goto(baseUrl + path)
      await page.getByRole('link', { name: 'Sign in' }).click()
      await chooseAccount(page, email)
      await page.waitForURL((url) => url.pathname.startsWith('/dashboard'))
      return { context, page }
    },

    /** Somebody at a browser of their own, who has signed in before, at `path`: quicker than `signIn`. */
    async enter({ token }: { token: string }, path = '/dashboard', options: PageOptions = {}) {
      const { context, page } = await open(options)
      await context.addCookies([{ name: '__session', value: token, url: baseUrl, httpOnly: true }])
      await page.goto(baseUrl + path)
      return { context, page }
    },

    async [Symbol.asyncDispose]() {
      await browser.close()
      expect(problems, 'errors of the pages').toEqual([])
    },
  }
}
export type ConsoleBrowser = Awaited<ReturnType<typeof openConsole>>

/** Names an account on the built-in provider's page. */
export async function chooseAccount(page: Page, email: string): Promise<void> {
  await page.getByLabel('Any other e-mail address').fill(email)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

function watch(context: BrowserContext, problems: string[]): void {
  context.on('weberror', (error) => problems.push(String(error.error())))
  context.on('console', (message) => {
    if (/Content Security Policy/.test(message.text())) problems.push(message.text())
  })
}

/** Settles with how much still moves, once what was just changed has been painted. What turns for ever is not counted. */
const ANIMATIONS_RUNNING = `new Promise((settle) => {
  const count = () => document.getAnimations().filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime)).length
  requestAnimationFrame(() => requestAnimationFrame(() => settle(count())))
})`

interface AxeResult {
  readonly violations: readonly {
    readonly id: string
    readonly impact: string | null
    readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[]
  }[]
}

/**
 * What can be pressed or filled in and is on no way of the Tab key. Members of a group that arrow keys walk through are
 * reached by another; what is hidden from screen readers does what another part does too.
 */
const OUT_OF_REACH = `[...document.querySelectorAll(
    'button, a[href], input, select, textarea, summary, [role=button], [role=link], [role=switch], [role=slider]'
  )]
  .filter((one) => one.tabIndex < 0 && !one.disabled && one.checkVisibility({ visibilityProperty: true }))
  .filter((one) => !one.closest('[aria-hidden=true], [inert], [role=tablist], [role=menu], [role=listbox]'))
  .map((one) => 'out of the keyboard\\'s reach: ' + one.outerHTML.slice(0, 200))`

/**
 * Returns what axe calls serious or critical on a page as it is, what no keyboard reaches, and codes that a person reads,
 * one line each.
 */
export async function seriousIssues(page: Page): Promise<string[]> {
  // What is still fading in has colours of its own.
  await vi.waitFor(async () => expect(await page.evaluate(ANIMATIONS_RUNNING)).toBe(0), TIMEOUT_MS)
  // Through the debugger, which the page's content policy does not bind.
  await page.evaluate(await readFile(resolve('axe-core/axe.min.js'), 'utf8'))
  const { violations } = (await page.evaluate('axe.run()')) as AxeResult
  const issues = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary}`))
  return [...issues, ...((await page.evaluate(OUT_OF_REACH)) as string[]), ...(await rawTexts(page))]
}

/** By how much the page is wider than its window. */
const overflow = (page: Page) => page.evaluate('document.documentElement.scrollWidth - window.innerWidth')

/**
 * Checks the page as it stands: nothing serious for axe, in light on a desk and in dark on a phone, and no sideways
 * scroll there.
 */
export async function expectAccessibleLayout(page: Page, what: string) {
  const desktopViewport = page.viewportSize()
  expect(await seriousIssues(page), what).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await seriousIssues(page), `${what}, dark, on a phone`).toEqual([])
  expect(await overflow(page), what).toBeLessThanOrEqual(0)
  await page.emulateMedia({ colorScheme: 'light' })
  if (desktopViewport) await page.setViewportSize(desktopViewport)
}

/** Waits for the title of a page. */
export const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()
