import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { forgiveSlowStops } from '../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole } from '../support/browser/console.ts'
import { type ConsoleData, createConsoleData } from '../support/browser/console-data.ts'
import { consoleRoutes, openPage, pagesOf, VIEWERS, type Viewer } from '../support/browser/console-pages.ts'
import { LANGUAGES, localeOf } from '../support/browser/languages.ts'
import { layoutProblems, NARROW_VIEWPORTS, VIEWPORTS } from '../support/browser/page-layout.ts'
import { createWorld, type World } from '../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
let data: ConsoleData
beforeAll(async () => {
  world = await createWorld({ env: { WEBHOOK_ALLOW_LOOPBACK: 'true' } })
  browser = await openConsole(world.baseUrl)
  data = await createConsoleData(world)
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await data?.[Symbol.asyncDispose]()
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

async function enterAs(viewer: Viewer, language = 'en'): Promise<Page> {
  const options = { locale: localeOf(language) }
  if (viewer !== 'visitor') return (await browser.enter(data[viewer], '/dashboard', options)).page
  const { page } = await browser.visit(options)
  await page.goto(`${world.baseUrl}/dashboard`)
  return page
}

test('the table of pages has all routes of the console', async () => {
  const page = await enterAs('owner')
  await page.getByRole('main').waitFor()
  const listed = Object.values(pagesOf(data)).flatMap((pages) => pages.map(({ route }) => route))
  expect([...new Set(listed)].sort()).toEqual((await consoleRoutes(page)).sort())
})

describe.each(LANGUAGES)('in the language %s', (language) => {
  const sizes = language === 'en' ? VIEWPORTS : NARROW_VIEWPORTS
  test.each(VIEWERS)(`every page fits ${sizes.length} sizes: %s`, async (viewer) => {
    const page = await enterAs(viewer, language)
    // The page for visitors is in English only.
    if (viewer !== 'visitor') await page.locator(`html[lang^=${language}]`).waitFor()
    await page.locator('h1').first().waitFor()
    const problems: string[] = []
    for (const entry of pagesOf(data)[viewer]) {
      await openPage(page, entry)
      for (const size of sizes) {
        await page.setViewportSize(size)
        const at = `${entry.path} at ${size.width} × ${size.height}`
        for (const problem of await layoutProblems(page)) problems.push(`${at} ${problem}`)
      }
    }
    expect(problems).toEqual([])
  })
})
