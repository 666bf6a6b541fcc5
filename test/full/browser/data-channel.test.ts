import { afterAll, beforeAll, expect, test } from 'vitest'
import { forgiveSlowStops, openCockpit, openDetails } from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole } from '../../support/browser/console.ts'
import { channelProcesses } from '../../support/gateway/test-channel.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld({ env: { GATEWAY_UDP_PORT: '' } })
  browser = await openConsole(world.baseUrl)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

test('a browser drives over a data channel, and over its WebSocket after the channel has ended', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, robot } = fixture
  const transport = page.getByRole('region', { name: 'Status' })
  await openDetails(page)
  await page.keyboard.down('ArrowUp')
  await transport.getByText('data channel (UDP)').waitFor()
  await waitFor(async () => {
    const before = await fixture.commands()
    const { xM } = robot.state
    await waitFor(() => expect(robot.state.xM).not.toBe(xM))
    expect(await fixture.commands()).toEqual(before) // none over the WebSocket
  })
  await fixture.expectMoving()

  const [pid] = channelProcesses()
  process.kill(pid as number, 'SIGKILL')
  await transport.getByText('WebSocket').waitFor()
  await fixture.expectMoving()
  await page.keyboard.up('ArrowUp')
  await fixture.expectHalted()
})
