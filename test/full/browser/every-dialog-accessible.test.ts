import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { issuesInBothSchemes } from '../../support/browser/accessibility.ts'
import {
  DIALOGS_OF_OTHER_TESTS,
  dialogSources,
  dialogsOf,
  openDialog,
} from '../../support/browser/console-dialogs.ts'
import { type ConsoleWorld, createConsoleWorld } from '../../support/browser/console-world.ts'

let fixture: ConsoleWorld
beforeAll(async () => {
  fixture = await createConsoleWorld()
})
afterEach(() => fixture.browser.closePages())
afterAll(() => fixture?.[Symbol.asyncDispose]())

test('the tables name every file that renders a dialog', () => {
  const named = [
    ...dialogsOf(fixture.data).map(({ source }) => source),
    ...Object.keys(DIALOGS_OF_OTHER_TESTS),
  ]
  expect([...new Set(named)].sort()).toEqual(dialogSources().sort())
  for (const file of Object.values(DIALOGS_OF_OTHER_TESTS))
    expect(existsSync(new URL(file, import.meta.url)), file).toBe(true)
})

test.each(['owner', 'team', 'operator', 'admin'] as const)(
  'every dialog is accessible: %s',
  async (viewer) => {
    const page = await fixture.enterAs(viewer)
    const issues: string[] = []
    for (const dialog of dialogsOf(fixture.data).filter((entry) => entry.viewer === viewer)) {
      await page.goto(`${fixture.world.baseUrl}/dashboard${dialog.path}`)
      const what = `${dialog.path}, ${dialog.press.join(', ')}`
      await openDialog(page, dialog).catch((cause: unknown) => {
        throw new Error(`Did not open: ${what}`, { cause })
      })
      issues.push(...(await issuesInBothSchemes(page, what)))
    }
    expect(issues).toEqual([])
  },
)
