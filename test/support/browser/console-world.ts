import type { Page } from 'playwright-core'
import { createWorld } from '../world/world.ts'
import { forgiveSlowStops } from './cockpit.ts'
import { openConsole } from './console.ts'
import { createConsoleData } from './console-data.ts'
import type { Viewer } from './console-pages.ts'
import { localeOf } from './languages.ts'

export type ConsoleWorld = Awaited<ReturnType<typeof createConsoleWorld>>

/** Creates a platform with data for every page of the console, and a browser. */
export async function createConsoleWorld() {
  const world = await createWorld({ env: { WEBHOOK_ALLOW_LOOPBACK: 'true' } })
  const browser = await openConsole(world.baseUrl)
  const data = await createConsoleData(world)
  return {
    world,
    browser,
    data,

    /** Opens the console's first page as a viewer who reads a language. */
    async enterAs(viewer: Viewer, language = 'en'): Promise<Page> {
      const options = { locale: localeOf(language) }
      if (viewer === 'team') {
        const { context, page } = await browser.enter(data.owner, '/dashboard', options)
        await context.addCookies([
          { name: 'wheelhouse_organization', value: data.team.id, url: world.baseUrl },
        ])
        await page.reload()
        return page
      }
      if (viewer !== 'visitor') return (await browser.enter(data[viewer], '/dashboard', options)).page
      const { page } = await browser.visit(options)
      await page.goto(`${world.baseUrl}/dashboard`)
      return page
    },

    async [Symbol.asyncDispose]() {
      await browser[Symbol.asyncDispose]()
      await data[Symbol.asyncDispose]()
      forgiveSlowStops(world)
      await world[Symbol.asyncDispose]()
    },
  }
}
