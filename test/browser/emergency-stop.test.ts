import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type CockpitFixture, forgiveSlowStops, openCockpit } from '../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole } from '../support/browser/console.ts'
import { createWebProxy } from '../support/network/web-proxy.ts'
import { createWorld, type World } from '../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld()
  browser = await openConsole(world.baseUrl)
}, 120_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

const LONG_MS = 120_000
const WAIT = { timeout: 25_000, interval: 50 }
const ways = ['gateway', 'hub', 'rest'] as const
type Way = (typeof ways)[number]

/** Where each way of a stop leads. */
const addressOf = (way: Way) => {
  const { host } = new URL(
    way === 'gateway' ? world.gatewayUrl : way === 'hub' ? world.hubUrl : world.baseUrl,
  )
  return way === 'rest' ? `http://${host}/api/` : `connect://${host}`
}

/** A cockpit whose robot moves, at a network of its own. */
async function driving() {
  const network = await createWebProxy()
  const fixture = await openCockpit(world, browser, { page: { proxy: { server: network.server } } })
  await fixture.page.keyboard.down('ArrowUp')
  await fixture.moving()
  return {
    ...fixture,
    network,
    trigger: () => fixture.page.getByRole('button', { name: /^STOP/ }).click(),
    bar: fixture.page.getByRole('region', { name: 'Emergency stop' }),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]()
      await network[Symbol.asyncDispose]()
    },
  }
}

const recorded = ({ read, operator }: CockpitFixture) =>
  vi.waitFor(async () => expect((await read()).control.stop?.by).toBe(operator.id), WAIT)
const stops = async ({ owner, sessionId }: CockpitFixture) => {
  const { events } = (await owner.get(`/api/sessions/${sessionId}/events`)).body
  return events.filter(({ type }: { type: string }) => type === 'session.stopped').length
}

test.concurrent.each(ways)(
  'the stop is recorded when the only way left is the %s',
  async (left) => {
    await using fixture = await driving()
    const { network, page, bar } = fixture
    network.cutOff(ways.filter((way) => way !== left).map(addressOf))
    if (left !== 'hub') await page.getByText('Reconnecting', { exact: true }).first().waitFor()
    if (left !== 'gateway') await page.getByText('The link to the robot is lost').waitFor()
    await fixture.trigger()
    await recorded(fixture)
    await fixture.expectHalted()
    // The page knows, whichever way it went.
    await bar.getByText(/^Stopped[:.] (stopped from the cockpit|The stop is recorded)/).waitFor()
    expect(await stops(fixture)).toBe(1)
  },
  LONG_MS,
)

test(
  'a stop that is pressed without any network is recorded once there is one, though another page was opened',
  async () => {
    await using fixture = await driving()
    const { network, page, bar } = fixture
    network.cutOff(ways.map(addressOf))
    await page.getByText('The link to the robot is lost').waitFor()
    await fixture.trigger()
    await bar.getByText('Stop pressed.').waitFor()
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByRole('heading', { name: /^Welcome/ }).waitFor()
    expect((await fixture.read()).control.stop).toBeNull()
    network.restore()
    await recorded(fixture)
    expect(await stops(fixture)).toBe(1)
  },
  LONG_MS,
)

test.concurrent.each(ways)(
  'a stop that was just pressed arrives though the tab is closed at once; the only way is the %s',
  async (left) => {
    await using fixture = await driving()
    const { network, page } = fixture
    network.cutOff(ways.filter((way) => way !== left).map(addressOf))
    await page.evaluate(`
      [...document.querySelectorAll('button')].find((one) => one.textContent.startsWith('STOP')).click()
      location.replace('about:blank')`)
    // Its context is not closed before: one that is closed while its page leaves may take Chromium half a minute.
    await page.waitForURL('about:blank')
    await recorded(fixture)
    await fixture.expectHalted()
  },
  LONG_MS,
)
