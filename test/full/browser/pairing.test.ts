import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  openConsole,
  seriousIssues,
} from '../../support/browser/console.ts'
import { readyOwner } from '../../support/browser/ready-users.ts'
import { start } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld()
  browser = await openConsole(world.baseUrl)
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

test('a phone opens the address of the QR code and becomes the robot, which the console shows live', async () => {
  const [owner, operator] = [await readyOwner(world), await world.operator()]
  const robot = await world.robot(owner, { name: 'Pocket', require_certification: false })
  await owner.patch(`/api/client/robots/${robot.id}`, { latency_limit_ms: 10_000 })
  const { page } = await browser.enter(owner, `/dashboard/robots/${robot.id}?tab=connect`)
  const pairing = page.getByRole('region', { name: 'Connect in one line' })
  await pairing.getByRole('button', { name: 'Create pairing code' }).click()
  await pairing.getByText(/^Works once, for another \d+:\d\d\.$/).waitFor()
  await pairing.getByText(`curl -fsS ${world.baseUrl}/api/pairing`).waitFor()
  await pairing.getByText('Waiting for Pocket to connect…').waitFor()
  for (const [tab, command] of [
    ['ROS', 'wheelhouse ros run'],
    ['Docker', 'docker run --rm -it'],
    ['Raspberry Pi', `--index-url ${world.baseUrl}/downloads/simple/`],
    ['Simulated', `curl -fsS ${world.baseUrl}/connect/robot.mjs`],
  ] as const) {
    await pairing.getByRole('tab', { name: tab }).click()
    await pairing.getByText(command).waitFor()
  }
  await expectAccessibleLayout(page, 'the code')
  await pairing.getByRole('tab', { name: 'Phone' }).click()
  await pairing.getByRole('img', { name: 'QR code with the address for your phone' }).waitFor()
  await pairing.getByText('This address is valid on this machine only').waitFor()
  await expectAccessibleLayout(page, 'the QR code')
  const address = (await pairing.getByText('/phone-robot#code=').textContent()) ?? ''

  const visitor = await world.newUser()
  const { page: phone } = await browser.enter(visitor, '/connect/style.css', {
    viewport: { width: 390, height: 844 },
  })
  await phone.goto(address)
  await phone.getByRole('heading', { name: 'Pocket' }).waitFor()
  await waitFor(async () => expect(await phone.textContent('#connection')).toBe('connected'))
  // The code does not stay in the address.
  expect(phone.url()).toBe(`${world.baseUrl}/connect/robot.html`)
  expect(await seriousIssues(phone)).toEqual([])
  await pairing.getByText('Pocket is connected').waitFor()

  const sessionId = await start(operator, robot.id)
  const driver = await world.drive(operator, sessionId)
  await waitFor(async () => {
    driver.control({ linear_mps: 0.5, angular_radps: 0 })
    const { data } = await driver.next('telemetry')
    expect(data.pose.x_m).toBeGreaterThan(0.02)
  })
  await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })

  // A reload of the tab connects again; the address of the QR code does not.
  await phone.reload()
  await waitFor(async () => expect(await phone.textContent('#connection')).toBe('connected'))
  const { page: second } = await browser.enter(visitor, '/connect/style.css')
  await second.goto(address)
  await second.getByRole('alert').getByText('This pairing code was used before').waitFor()
})
