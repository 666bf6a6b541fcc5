import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestCamera } from '../../support/browser/cameras.ts'
import { forgiveSlowStops } from '../../support/browser/cockpit.ts'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../../support/browser/console.ts'
import { readyOwner } from '../../support/browser/ready-users.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
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
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

test('the robot page shows picture, state, operator, position and stop live', async () => {
  await using camera = await createTestCamera()
  const [owner, operator] = [await readyOwner(world), await world.operator()]
  const robot = await world.robot(owner, { name: 'Runner', stream_url: camera.url })
  const { page } = await browser.enter(owner, `/dashboard/robots/${robot.id}`)
  await heading(page, 'Runner')
  await page.getByText('Offline', { exact: true }).waitFor()
  const link = (await world.connect(robot)).beat()
  await page.getByText('Ready', { exact: true }).waitFor()
  // The owner sees the picture without a session.
  await page.getByRole('region', { name: 'Camera of Runner' }).waitFor()
  expect(await page.getByTestId('stop').count()).toBe(0)

  const sessionId = await start(operator, robot.id)
  await page.getByText('Driving', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Watch in full view' }).waitFor()
  await waitFor(async () => {
    link.send({ type: 'telemetry', data: { pose: { x_m: 1.5, y_m: 2, heading_rad: 0 } } })
    expect(await page.getByRole('img', { name: /^Map: the robot is at/ }).count()).toBe(1)
  })
  await expectAccessibleLayout(page, 'the live tab')
  for (const [tab, path] of [
    ['Sessions', 'sessions'],
    ['Health', 'health'],
  ] as const) {
    await page.getByRole('tab', { name: tab }).click()
    await waitFor(() => expect(new URL(page.url()).searchParams.get('tab')).toBe(path))
    await page.getByTestId('stop').waitFor()
  }
  await page.keyboard.press('Escape')
  await page.getByText('Stopped', { exact: true }).first().waitFor()
  // Robots and pages learn of a stop before the database does.
  await waitFor(async () =>
    expect((await owner.get(`/api/sessions/${sessionId}`)).body.control.stop?.by).toBe(owner.id),
  )
  await page.getByRole('row', { name: new RegExp(`Stopped ${owner.name}`) }).waitFor()
  await page.reload()
  await page.getByRole('tab', { name: 'Health', selected: true }).waitFor()

  await performAction(owner, sessionId, 'end')
  await page.getByTestId('stop').waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: 'Overview' }).click()
  await page.getByText('Ready', { exact: true }).waitFor()
})

test('health shows connection, battery and incidents of the last day', async () => {
  const owner = await readyOwner(world)
  const robot = await world.robot(owner, { name: 'Sampled' })
  const link = (await world.connect(robot)).beat()
  link.send({ type: 'heartbeat', battery: 0.62 })
  await waitFor(async () =>
    expect((await owner.get(`/api/client/robots/${robot.id}`)).body.battery).toBe(0.62),
  )
  await world.platform.robots.robotHealth.sample()
  const { page } = await browser.enter(owner, `/dashboard/robots/${robot.id}?tab=health`)
  const health = page.getByRole('region', { name: 'Last 24 hours' })
  await health
    .getByText(/^62\s?%$/)
    .first()
    .waitFor()
  await page.getByText('No stops and no losses').waitFor()
  await expectAccessibleLayout(page, 'the health of a robot')
})

test('an owner holds a robot, sees who may drive it, and releases the hold', async () => {
  const owner = await readyOwner(world)
  const robot = await world.robot(owner, { name: 'Held' })
  ;(await world.connect(robot)).beat()
  const { page } = await browser.enter(owner, `/dashboard/robots/${robot.id}?tab=access`)
  await page.getByText('All operators').waitFor()
  await page.getByText('No scheduled sessions').waitFor()
  await expectAccessibleLayout(page, 'the access to a robot')
  await page.getByRole('button', { name: 'Hold robot' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Hold', exact: true }).click()
  await page.getByText('On hold', { exact: true }).waitFor()
  expect((await owner.get(`/api/client/robots/${robot.id}`)).body.on_hold).toBe(true)
  await page.getByRole('button', { name: 'Release hold' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Release', exact: true }).click()
  await page.getByRole('button', { name: 'Hold robot' }).waitFor()
  expect((await owner.get(`/api/client/robots/${robot.id}`)).body.on_hold).toBe(false)
})

test('data and connection have their own tabs', async () => {
  const owner = await readyOwner(world)
  const robot = await world.robot(owner, { name: 'Recorder', hardware_id: 'board-of-the-recorder' })
  const { page } = await browser.enter(owner, `/dashboard/robots/${robot.id}?tab=data`)
  await page.getByText('No episodes yet').waitFor()
  await page.getByRole('tab', { name: 'Connect' }).click()
  await page.getByText('board-of-the-recorder').waitFor()
  await page.getByRole('button', { name: 'Replace token' }).waitFor()
  await expectAccessibleLayout(page, 'the connection of a robot')
})
