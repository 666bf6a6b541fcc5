import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestCamera } from '../../support/browser/cameras.ts'
import { forgiveSlowStops, openCockpit, SLOW_RELOADS } from '../../support/browser/cockpit.ts'
import { COCKPIT_SIZES, expectFreeStick, expectLayout } from '../../support/browser/cockpit-layout.ts'
import { type ConsoleBrowser, openConsole } from '../../support/browser/console.ts'
import { layoutProblems } from '../../support/browser/page-layout.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld({ env: SLOW_RELOADS })
  browser = await openConsole(world.baseUrl)
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

test.each([
  ['en', '0.00', 'Delayed'],
  ['de', '0,00', 'Verzögert'],
])(
  'at six sizes the words for a late picture and a pause fit their places: %s',
  async (language, speed, word) => {
    await using camera = await createTestCamera({ everyMs: 800 })
    await using fixture = await openCockpit(world, browser, { robot: { stream_url: camera.url } })
    const { page, owner, sessionId } = fixture
    await page.evaluate(`localStorage.setItem('wheelhouse-language', '${language}')`)
    await page.reload()
    await page.getByTestId('speed').getByText(speed).waitFor()
    await page.getByTestId('freshness').getByText(word).waitFor()
    const problems: string[] = []
    const collect = async (state: string) => {
      for (const [width, height, share] of COCKPIT_SIZES) {
        await page.setViewportSize({ width, height })
        await expectLayout(page, share)
        await expectFreeStick(page)
        const found = await layoutProblems(page)
        problems.push(...found.map((problem) => `${state}, ${width} × ${height}: ${problem}`))
      }
    }
    await collect('driving')
    await owner.patch(`/api/sessions/${sessionId}`, { action: 'pause' })
    await page.getByTestId('resume').waitFor()
    await collect('paused')
    expect(problems).toEqual([])
  },
)
