import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type CockpitStage, forgiveSlowStops, openCockpit } from './support/cockpit.ts'
import { type ConsoleBrowser, openConsole } from './support/console.ts'
import { createWebProxy } from './support/web-proxy.ts'
import { createWorld, type World } from './support/world.ts'

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
  const stage = await openCockpit(world, browser, { page: { proxy: { server: network.server } } })
  await stage.page.keyboard.down('ArrowUp')
  await stage.moving()
  return {
    ...stage,
    network,
    press: () => stage.page.getByRole('button', { name: /^STOP/ }).click(),
    bar: stage.page.getByRole('region', { name: 'Emergency stop' }),
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]()
      await network[Symbol.asyncDispose]()
    },
  }
}

const recorded = ({ read, operator }: CockpitStage) =>
  vi.waitFor(async () => expect((await read()).control.stop?.by).toBe(operator.id), WAIT)
const stops = async ({ owner, sessionId }: CockpitStage) => {
  const { events } = (await owner.get(`/api/sessions/${sessionId}/events`)).body
  return events.filter(({ type }: { type: string }) => type === 'session.stopped').length
}

test.concurrent.each(ways)(
  'the stop is recorded when the only way left is the %s',
  async (left) => {
    await using stage = await driving()
    const { network, page, bar } = stage
    network.cutOff(ways.filter((way) => way !== left).map(addressOf))
    if (left !== 'hub') await page.getByText('Reconnecting', { exact: true }).first().waitFor()
    if (left !== 'gateway') await page.getByText('The link to the robot is lost').waitFor()
    await stage.press()
    await recorded(stage)
    await stage.standing()
    // The page knows, whichever way it went.
    await bar.getByText(/^Stopped[:.] (stopped from the cockpit|The stop is recorded)/).waitFor()
    expect(await stops(stage)).toBe(1)
  },
  LONG_MS,
)

test(
  'a stop that is pressed without any network is recorded once there is one, though another page was opened',
  async () => {
    await using stage = await driving()
    const { network, page, bar } = stage
    network.cutOff(ways.map(addressOf))
    await page.getByText('The link to the robot is lost').waitFor()
    await stage.press()
    await bar.getByText('Stop pressed.').waitFor()
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByRole('heading', { name: /^Welcome/ }).waitFor()
    expect((await stage.read()).control.stop).toBeNull()
    network.heal()
    await recorded(stage)
    expect(await stops(stage)).toBe(1)
  },
  LONG_MS,
)

test.concurrent.each(ways)(
  'a stop that was just pressed arrives though the tab is closed at once; the only way is the %s',
  async (left) => {
    await using stage = await driving()
    const { network, page } = stage
    network.cutOff(ways.filter((way) => way !== left).map(addressOf))
    await page.evaluate(`
      [...document.querySelectorAll('button')].find((one) => one.textContent.startsWith('STOP')).click()
      location.replace('about:blank')`)
    // Its context is not closed before: one that is closed while its page leaves may take Chromium half a minute.
    await page.waitForURL('about:blank')
    await recorded(stage)
    await stage.standing()
  },
  LONG_MS,
)
