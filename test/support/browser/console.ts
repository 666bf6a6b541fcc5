import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { expect } from 'vitest'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'
import { waitFor } from '../world/wait.ts'
import { sharedChromium } from './chromium.ts'
import { rawTexts } from './raw-texts.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const { resolve } = createRequire(import.meta.url)

/** Options of a browser context: viewport, colour scheme, proxy. */
export type PageOptions = NonNullable<Parameters<Browser['newContext']>[0]>

let built: Promise<unknown> | undefined

/** Builds the console unless the last build is up to date, once in this process. */
export async function ensureConsole(): Promise<void> {
  built ??= promisify(execFile)(process.execPath, ['tools/scripts/ensure-console.mjs'], { cwd: root })
  await built
}

/**
 * Opens the console at `baseUrl`. Disposing it fails the test if a page had an error.
 * @param started the browser; by default the shared one
 */
export async function openConsole(baseUrl: string, started?: Browser) {
  await ensureConsole()
  const browser = started ?? (await sharedChromium())
  const problems: string[] = []
  const contexts = new Set<BrowserContext>()
  /** Uses reduced motion by default, so that no check sees a half-faded element. */
  const open = async (options: PageOptions) => {
    const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
    contexts.add(context)
    context.once('close', () => contexts.delete(context))
    // The failure names the awaited element.
    context.setDefaultTimeout(WAIT_LIMIT_MS)
    watch(context, problems)
    return { context, page: await context.newPage() }
  }
  return {
    browser,
    /** Errors thrown by page scripts, and content security policy violations. */
    problems,

    /** Opens an empty page without a session, in a new browser context. */
    visit: async (options: PageOptions = {}) => await open(options),

    /** Signs in through the page of the built-in provider and opens `path`, in a new browser context. */
    async signIn(email: string, path = '/dashboard', options: PageOptions = {}) {
      const { context, page } = await open(options)
      await page.goto(baseUrl + path)
      await page.getByRole('link', { name: 'Sign in' }).click()
      await chooseAccount(page, email)
      await page.waitForURL((url) => url.pathname.startsWith('/dashboard'))
      return { context, page }
    },

    /** Opens `path` with an existing session, for the team that the user acts for, in a new browser context. Faster than `signIn`. */
    async enter(
      { token, organizationId }: { token: string; organizationId?: string | undefined },
      path = '/dashboard',
      options: PageOptions = {},
    ) {
      const { context, page } = await open(options)
      const secure = baseUrl.startsWith('https:')
      const name = secure ? '__Host-session' : '__session'
      await context.addCookies([{ name, value: token, url: baseUrl, httpOnly: true, secure }])
      if (organizationId !== undefined)
        await context.addCookies([{ name: 'wheelhouse_organization', value: organizationId, url: baseUrl }])
      await page.goto(baseUrl + path)
      return { context, page }
    },

    /** Closes all pages, because each of them keeps rendering: call it after each test. */
    closePages: async () => void (await Promise.all([...contexts].map(closeContext))),

    async [Symbol.asyncDispose]() {
      await this.closePages()
      expect(problems, 'page errors').toEqual([])
    },
  }
}

/** Closes pages whose routes may still wait for an answer of the platform: their handlers then fail unnoticed. */
export async function closeContext(context: BrowserContext): Promise<void> {
  await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })))
  await context.close()
}

export type ConsoleBrowser = Awaited<ReturnType<typeof openConsole>>

/** Chooses an account on the page of the built-in provider. */
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

/** Resolves with the number of finite running animations, after the latest change was painted. */
const ANIMATIONS_RUNNING = `new Promise((settle) => {
  const count = () => document.getAnimations().filter((item) => Number.isFinite(item.effect.getComputedTiming().endTime)).length
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
 * Finds controls that the Tab key cannot reach. Excludes members of composite widgets, which arrow keys reach, and
 * hidden duplicates.
 */
const OUT_OF_REACH = `[...document.querySelectorAll(
    'button, a[href], input, select, textarea, summary, [role=button], [role=link], [role=switch], [role=slider]'
  )]
  .filter((item) => item.tabIndex < 0 && !item.disabled && item.checkVisibility({ visibilityProperty: true }))
  .filter((item) => !item.closest('[aria-hidden=true], [inert], [role=tablist], [role=menu], [role=listbox]'))
  .map((item) => 'not reachable by keyboard: ' + item.outerHTML.slice(0, 200))`

/**
 * Returns serious and critical axe issues of a page, controls that the keyboard cannot reach, and raw codes in visible
 * text, one line each.
 * @param options.codes whether the page may name codes in its text, as guides for programmers do
 * @param options.coloursOnly checks only contrast, which another colour scheme changes
 */
export async function seriousIssues(
  page: Page,
  { codes = false, coloursOnly = false } = {},
): Promise<string[]> {
  // Elements that fade in have intermediate colours.
  await waitFor(async () => expect(await page.evaluate(ANIMATIONS_RUNNING)).toBe(0))
  // Evaluation through the debugger bypasses the content security policy. A document keeps the script.
  const isLoaded = await page.evaluate('"axe" in window')
  if (!isLoaded) await page.evaluate(await readFile(resolve('axe-core/axe.min.js'), 'utf8'))
  const run = coloursOnly ? 'axe.run({ runOnly: ["color-contrast"] })' : 'axe.run()'
  const { violations } = (await page.evaluate(run)) as AxeResult
  const issues = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary}`))
  if (coloursOnly) return issues
  return [
    ...issues,
    ...((await page.evaluate(OUT_OF_REACH)) as string[]),
    ...(codes ? [] : await rawTexts(page)),
  ]
}

/** Returns how many pixels the page is wider than its window. */
const overflow = (page: Page) => page.evaluate('document.documentElement.scrollWidth - window.innerWidth')

/**
 * Checks a page for accessibility issues in light mode on a desktop and in dark mode on a phone, and for horizontal
 * overflow on the phone.
 */
export async function expectAccessibleLayout(page: Page, what: string, options: { codes?: boolean } = {}) {
  const desktopViewport = page.viewportSize()
  expect(await seriousIssues(page, options), what).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  // Pages outside the console follow the browser without a script.
  if ((await page.locator('html[data-mantine-color-scheme]').count()) > 0)
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await seriousIssues(page, options), `${what}, dark, on a phone`).toEqual([])
  expect(await overflow(page), what).toBeLessThanOrEqual(0)
  await page.emulateMedia({ colorScheme: 'light' })
  if (desktopViewport) await page.setViewportSize(desktopViewport)
}

/** Waits for the title of a page. */
export const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { name, level: 1 }).waitFor()

/** Lets the gateway of a page be reached through a network that can be silenced. */
export async function throughNetwork(context: BrowserContext, url: string): Promise<void> {
  await context.route('**/ticket', async (route) => {
    const response = await route.fetch().catch(() => undefined)
    if (!response?.ok()) return await route.abort().catch(() => undefined) // the page may be gone
    const body = await response.json()
    const gateway = new URL(body.url)
    gateway.host = new URL(url).host
    await route.fulfill({ response, json: { ...body, url: gateway.href } })
  })
}
