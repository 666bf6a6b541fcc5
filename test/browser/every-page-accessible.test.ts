import { existsSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { forgiveSlowStops } from '../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole, seriousIssues } from '../support/browser/console.ts'
import { type ConsoleData, createConsoleData } from '../support/browser/console-data.ts'
import {
  DIALOGS_OF_OTHER_TESTS,
  dialogSources,
  dialogsOf,
  openDialog,
} from '../support/browser/console-dialogs.ts'
import { openPage, pagesOf, VIEWERS, type Viewer } from '../support/browser/console-pages.ts'
import { LANGUAGES, labelsIn, localeOf } from '../support/browser/languages.ts'
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

async function enterAs(viewer: Viewer, language: string): Promise<Page> {
  const options = { locale: localeOf(language) }
  if (viewer !== 'visitor') return (await browser.enter(data[viewer], '/dashboard', options)).page
  const { page } = await browser.visit(options)
  await page.goto(`${world.baseUrl}/dashboard`)
  return page
}

/**
 * Returns the issues of what the page shows in light mode, and of its colours in dark mode. Colours do not depend on the
 * language, so only the first one is checked in dark mode.
 */
async function issuesOf(page: Page, what: string, language: string): Promise<string[]> {
  const issues: string[] = []
  const schemes = language === LANGUAGES[0] ? (['dark', 'light'] as const) : (['light'] as const)
  for (const colorScheme of schemes) {
    const coloursOnly = colorScheme === 'dark'
    await page.emulateMedia({ colorScheme })
    // The page for visitors follows the browser without a script.
    if ((await page.locator('html[data-mantine-color-scheme]').count()) > 0)
      await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
    for (const issue of await seriousIssues(page, { coloursOnly }))
      issues.push(`${what}, ${colorScheme}: ${issue}`)
  }
  return issues
}

test('the tables name every file that renders a dialog', () => {
  const named = [...dialogsOf(data).map(({ source }) => source), ...Object.keys(DIALOGS_OF_OTHER_TESTS)]
  expect([...new Set(named)].sort()).toEqual(dialogSources().sort())
  for (const file of Object.values(DIALOGS_OF_OTHER_TESTS))
    expect(existsSync(new URL(file, import.meta.url)), file).toBe(true)
})

describe.each(LANGUAGES)('in the language %s', (language) => {
  test.each(VIEWERS)('every page is accessible: %s', async (viewer) => {
    const page = await enterAs(viewer, language)
    const issues: string[] = []
    for (const entry of pagesOf(data)[viewer]) {
      await openPage(page, entry)
      issues.push(...(await issuesOf(page, entry.path, language)))
    }
    expect(issues).toEqual([])
  })

  test.each(['owner', 'operator', 'admin'] as const)('every dialog is accessible: %s', async (viewer) => {
    const page = await enterAs(viewer, language)
    const label = labelsIn(language)
    const issues: string[] = []
    for (const dialog of dialogsOf(data).filter((entry) => entry.viewer === viewer)) {
      await page.goto(`${world.baseUrl}/dashboard${dialog.path}`)
      const what = `${dialog.path}, ${dialog.press.join(', ')}`
      await openDialog(page, dialog, label).catch((cause: unknown) => {
        throw new Error(`Did not open: ${what}`, { cause })
      })
      issues.push(...(await issuesOf(page, what, language)))
    }
    expect(issues).toEqual([])
  })
})
