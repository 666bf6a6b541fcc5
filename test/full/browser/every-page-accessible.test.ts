import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { issuesInBothSchemes } from '../../support/browser/accessibility.ts'
import { openPage, pagesOf, VIEWERS } from '../../support/browser/console-pages.ts'
import { type ConsoleWorld, createConsoleWorld } from '../../support/browser/console-world.ts'

let fixture: ConsoleWorld
beforeAll(async () => {
  fixture = await createConsoleWorld()
})
afterEach(() => fixture.browser.closePages())
afterAll(() => fixture?.[Symbol.asyncDispose]())

test.each(VIEWERS)('every page is accessible: %s', async (viewer) => {
  const page = await fixture.enterAs(viewer)
  const issues: string[] = []
  for (const entry of pagesOf(fixture.data)[viewer]) {
    await openPage(page, entry)
    issues.push(...(await issuesInBothSchemes(page, entry.path)))
  }
  expect(issues).toEqual([])
})
