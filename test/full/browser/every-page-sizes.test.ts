import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { consoleRoutes, openPage, pagesOf, VIEWERS } from '../../support/browser/console-pages.ts'
import { type ConsoleWorld, createConsoleWorld } from '../../support/browser/console-world.ts'
import { LANGUAGES } from '../../support/browser/languages.ts'
import { layoutProblems, NARROW_VIEWPORTS, VIEWPORTS } from '../../support/browser/page-layout.ts'

let fixture: ConsoleWorld
beforeAll(async () => {
  fixture = await createConsoleWorld()
})
afterEach(() => fixture.browser.closePages())
afterAll(() => fixture?.[Symbol.asyncDispose]())

test('the table of pages has all routes of the console', async () => {
  const page = await fixture.enterAs('owner')
  await page.getByRole('main').waitFor()
  const listed = Object.values(pagesOf(fixture.data)).flatMap((pages) => pages.map(({ route }) => route))
  expect([...new Set(listed)].sort()).toEqual((await consoleRoutes(page)).sort())
})

describe.each(LANGUAGES)('in the language %s', (language) => {
  const sizes = language === 'en' ? VIEWPORTS : NARROW_VIEWPORTS
  test.each(VIEWERS)(`every page fits ${sizes.length} sizes: %s`, async (viewer) => {
    const page = await fixture.enterAs(viewer, language)
    // The page for visitors is in English only.
    if (viewer !== 'visitor') await page.locator(`html[lang^=${language}]`).waitFor()
    await page.locator('h1').first().waitFor()
    const problems: string[] = []
    for (const entry of pagesOf(fixture.data)[viewer]) {
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
