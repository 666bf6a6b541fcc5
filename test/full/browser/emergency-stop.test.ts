import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type CockpitFixture,
  forgiveSlowStops,
  leaveCockpit,
  openCockpit,
} from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole } from '../../support/browser/console.ts'
import { createWebProxy } from '../../support/network/web-proxy.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld()
  browser = await openConsole(world.baseUrl)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

const routes = ['gateway', 'hub', 'rest'] as const
type Route = (typeof routes)[number]

/** Returns the address prefix of a stop route. */
const addressOf = (route: Route) => {
  const { host } = new URL(
    route === 'gateway' ? world.gatewayUrl : route === 'hub' ? world.hubUrl : world.baseUrl,
  )
  return route === 'rest' ? `http://${host}/api/` : `connect://${host}`
}

/** Opens a cockpit with a moving robot behind its own proxy. */
async function driving() {
  const network = await createWebProxy()
  const fixture = await openCockpit(world, browser, { page: { proxy: { server: network.server } } })
  await fixture.page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  return {
    ...fixture,
    network,
    trigger: () => fixture.page.getByRole('button', { name: /^STOP/ }).click(),
    bar: fixture.page.getByTestId('stop-banner'),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      await network[Symbol.asyncDispose]()
    },
  }
}

const waitUntilRecorded = ({ read, operator }: CockpitFixture) =>
  waitFor(async () => expect((await read()).control.stop?.by).toBe(operator.id))
const stopCount = async ({ owner, sessionId }: CockpitFixture) => {
  const { events } = (await owner.get(`/api/sessions/${sessionId}/events`)).body
  return events.filter(({ type }: { type: string }) => type === 'session.stopped').length
}

test.concurrent.each(routes)('the stop is recorded when only the %s is reachable', async (openRoute) => {
  await using fixture = await driving()
  const { network, page, bar } = fixture
  network.cutOff(routes.filter((route) => route !== openRoute).map(addressOf))
  if (openRoute !== 'hub')
    await page
      .getByTestId('speed')
      .getByText(/^No connection/)
      .waitFor()
  if (openRoute !== 'gateway') await page.getByText('Connection to the robot lost').waitFor()
  await fixture.trigger()
  await waitUntilRecorded(fixture)
  await fixture.expectHalted()
  // The page shows the stop, whichever route it took.
  await bar.getByText(/^(You stopped|The stop is recorded)/).waitFor()
  expect(await stopCount(fixture)).toBe(1)
})

test('a stop requested without a network is recorded once the network is back, even after the user opened another page', async () => {
  await using fixture = await driving()
  const { network, page, bar } = fixture
  network.cutOff(routes.map(addressOf))
  await page.getByText('Connection to the robot lost').waitFor()
  await fixture.trigger()
  await bar.getByText('Stop sent, not confirmed').waitFor()
  await leaveCockpit(page, { asks: false })
  expect((await fixture.read()).control.stop).toBeNull()
  network.restore()
  await waitUntilRecorded(fixture)
  expect(await stopCount(fixture)).toBe(1)
})

test.concurrent.each(routes)(
  'a stop arrives although the tab closes immediately and only the %s is reachable',
  async (openRoute) => {
    await using fixture = await driving()
    const { network, page } = fixture
    network.cutOff(routes.filter((route) => route !== openRoute).map(addressOf))
    await page.evaluate(`
      [...document.querySelectorAll('button')].find((button) => button.textContent.startsWith('STOP')).click()
      location.replace('about:blank')`)
    // Chromium may take half a minute to close a context whose page is navigating.
    await page.waitForURL('about:blank')
    await waitUntilRecorded(fixture)
    await fixture.expectHalted()
  },
)
