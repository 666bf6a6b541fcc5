import type { Page } from 'playwright-core'
import { seriousIssues } from './console.ts'

/** Pages with pictures of robots, which are dark in either mode. */
const ALWAYS_DARK = /^\/(live|drive|watch)\b|\/replay\b|^\/replays?\b/

/** Returns the accessibility issues of what the page shows in light mode, and of its colours in dark mode. */
export async function issuesInBothSchemes(page: Page, what: string): Promise<string[]> {
  const issues: string[] = []
  const isAlwaysDark = ALWAYS_DARK.test(what)
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    // The page for visitors follows the browser without a script.
    if (!isAlwaysDark && (await page.locator('html[data-mantine-color-scheme]').count()) > 0)
      await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
    for (const issue of await seriousIssues(page, { coloursOnly: colorScheme === 'dark' }))
      issues.push(`${what}, ${colorScheme}: ${issue}`)
  }
  return issues
}
