import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { forgiveSlowStops } from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, expectAccessibleLayout, openConsole } from '../../support/browser/console.ts'
import { readyOperator, readyOwner } from '../../support/browser/ready-users.ts'
import { costsOf } from '../../support/browser/session-costs.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
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
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

test('a new owner is led from the registration to the invitation', async () => {
  const [owner, operator] = [await readyOwner(world), await world.operator()]
  const { page } = await browser.enter(owner)
  const steps = page.getByRole('region', { name: 'First steps' })
  await steps.getByRole('link', { name: 'Register robot' }).waitFor()
  expect(await page.getByRole('region', { name: 'Needs attention' }).count()).toBe(0)
  await expectAccessibleLayout(page, 'the home of a new owner')

  const robot = await world.robot(owner, { name: 'First' })
  await steps.getByRole('link', { name: 'Open robots' }).waitFor()
  ;(await world.connect(robot)).beat()
  await steps.getByRole('link', { name: 'Add role' }).waitFor()
  await owner.post('/api/auth/profile', { role: 'operator' })
  await owner.post('/api/operator/profile', { headline: 'Both', timezone: 'UTC' })
  const own = await start(owner, robot.id)
  await steps.getByText(`${world.baseUrl}/dashboard`).waitFor()
  await performAction(owner, own, 'end')
  await start(operator, robot.id)
  await steps.waitFor({ state: 'detached' })
  await page.getByTestId('live-tile').filter({ hasText: 'First' }).waitFor()
})

test("an owner's home shows what needs attention, live robots with stops, states and costs", async () => {
  const [owner, operator] = [await readyOwner(world), await world.operator()]
  const [arm, cart, held] = [
    await world.robot(owner, { name: 'Arm' }),
    await world.robot(owner, { name: 'Cart' }),
    await world.robot(owner, { name: 'Held' }),
  ]
  const links = await Promise.all([arm, cart].map((robot) => world.connect(robot)))
  for (const link of links) link.beat()
  await owner.patch(`/api/client/robots/${held.id}`, { on_hold: true })
  const session = await start(operator, arm.id)
  const second = await start(await world.operator(), cart.id)
  const { page } = await browser.enter(owner)
  await page.getByRole('heading', { name: `, ${owner.name}` }).waitFor()
  const attention = page.getByRole('region', { name: 'Needs attention' })
  await attention.getByRole('listitem').filter({ hasText: 'Held' }).getByText('On hold').waitFor()
  expect(await attention.getByRole('listitem').count()).toBe(1)

  await page.getByText('1 thing needs you. 2 robots drive.').waitFor()
  await page.getByTestId('live-tile').filter({ hasText: 'Arm' }).waitFor()
  expect(await page.getByTestId('stop').count(), 'stops are on the wall').toBe(0)
  await performAction(owner, session, 'emergency_stop', 'Cat ahead')
  const stopped = attention.getByRole('listitem').filter({ hasText: 'Arm' })
  await stopped.getByText('Stopped', { exact: true }).waitFor()
  await stopped.getByText(`Stopped by ${owner.name}.`).waitFor()
  await performAction(owner, second, 'pause')
  await attention.getByRole('listitem').filter({ hasText: 'Cart' }).getByText('Paused').waitFor()
  links[1]!.close()
  await attention.getByRole('listitem').filter({ hasText: 'Cart' }).getByText('Lost').waitFor()
  await page
    .getByRole('region', { name: 'Sessions today' })
    .getByRole('listitem')
    .filter({ hasText: 'Arm' })
    .waitFor()
  await performAction(owner, session, 'end')
  const { charge } = costsOf((await owner.get(`/api/sessions/${session}`)).body)
  await page.getByRole('region', { name: 'Today' }).getByText(charge).first().waitFor()
  await expectAccessibleLayout(page, 'the home of an owner')
})

test("an operator's home resumes the open session, then shows the next one and robots to drive", async () => {
  const [owner, operator] = [await readyOwner(world), await readyOperator(world)]
  const [arm, cart] = [
    await world.robot(owner, { name: 'Op arm' }),
    await world.robot(owner, { name: 'Op cart' }),
  ]
  for (const robot of [arm, cart]) (await world.connect(robot)).beat()
  const { page } = await browser.enter(operator)
  const ready = page.getByRole('region', { name: 'Robots to drive', exact: true })
  await ready.getByText('Op cart').waitFor()
  await expectAccessibleLayout(page, 'the home of an operator')

  const scheduledFor = new Date(Date.now() + 3_600_000).toISOString()
  expect((await operator.post('/api/sessions', { robotId: cart.id, scheduledFor })).status).toBe(201)
  await page.reload()
  await page.getByRole('region', { name: 'Next' }).getByRole('link', { name: 'Op cart' }).first().waitFor()
  const session = await start(operator, arm.id)
  await page.reload()
  const open = page.getByRole('region', { name: 'Your open session' })
  await open.getByText('Op arm').waitFor()
  expect(await ready.count()).toBe(0)
  await open.getByRole('link', { name: 'Continue driving' }).click()
  await page.waitForURL(`**/dashboard/drive/${session}`)
  await performAction(operator, session, 'end')
})

test("an admin's home lists incidents", async () => {
  const [admin, owner, operator] = [await world.admin(), await readyOwner(world), await world.operator()]
  const robot = await world.robot(owner, { name: 'Incident arm', robot_type: 'so-101' })
  ;(await world.connect(robot)).beat()
  const { page } = await browser.enter(admin)
  const incidents = page.getByRole('region', { name: 'Incidents' })
  await incidents.waitFor()
  const session = await start(operator, robot.id)
  await performAction(owner, session, 'emergency_stop', 'Cat on the shelf')
  await operator.post('/api/operator/certifications', { robot_type: 'so-101' })
  await incidents.getByRole('listitem').filter({ hasText: 'Incident arm' }).getByText('Stopped').waitFor()
  await incidents.getByRole('link', { name: /^Certification requests: 1/ }).waitFor()
  await expectAccessibleLayout(page, 'the home of an admin')
  await performAction(owner, session, 'end')
})
