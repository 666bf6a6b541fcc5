import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { SimulatedRobot } from '../../../packages/sdk/index.ts'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../../support/browser/console.ts'
import { readyOperator, readyOwner } from '../../support/browser/ready-users.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
let owner: TestUser
const robots: SimulatedRobot[] = []
beforeAll(async () => {
  world = await createWorld()
  browser = await openConsole(world.baseUrl)
  owner = await readyOwner(world)
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  for (const robot of robots) await robot.close()
  await world?.[Symbol.asyncDispose]()
})

async function registered(name: string, fields: Record<string, unknown> = {}) {
  const robot = await world.robot(owner, {
    name,
    robot_type: 'diffdrive-demo',
    require_certification: false,
    ...fields,
  })
  return {
    ...robot,
    async connect() {
      const url = `${world.gatewayUrl}/robots/${robot.id}/control`
      const simulated = new SimulatedRobot({ url, token: robot.token })
      robots.push(simulated)
      await simulated.start()
      return simulated
    },
  }
}

const driveNow = (page: Page) => page.getByRole('button', { name: 'Drive now' })

/** Replaces the gamepads of the browser. */
const CONNECT_PAD = `
  window.pad = {
    id: 'Test pad', index: 1, mapping: 'standard', connected: true, axes: [0, 0, 0, 0],
    buttons: Array.from({ length: 8 }, () => ({ pressed: false })),
  }
  navigator.getGamepads = () => [null, window.pad]`

test('an operator checks a robot and drives off by keyboard only, the next time without the checks', async () => {
  const robot = await registered('Checked')
  await owner.patch(`/api/client/robots/${robot.id}`, { operator_notes: 'Mind the cat\non the shelf' })
  await robot.connect()
  const operator = await readyOperator(world)
  const { page } = await browser.enter(operator, '/dashboard/available')
  await page.getByRole('link', { name: 'Checked', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/dashboard/available/${robot.id}`)
  await heading(page, 'Checked')
  await page.getByText('Ready', { exact: true }).waitFor()
  await page.getByText('Mind the cat').waitFor()
  await page
    .getByText(/^\d+ ms$/)
    .first()
    .waitFor()
  await page.getByText('Good: the robot moves at full speed.').waitFor()
  await page.getByText('€0.35 per started minute').waitFor()
  await page.getByText('None. You drive by the map.').waitFor()
  await page.getByText('Commands, terms and model').click()
  await page.getByText('Not required', { exact: true }).waitFor()
  await page.getByText(/^Drives with keys, stick and gamepad/).waitFor()
  await expectAccessibleLayout(page, 'pre-flight')

  const keyboard = page.getByRole('status', { name: 'Keyboard' })
  await keyboard.getByText('Press W A S D or an arrow key.').waitFor()
  await page.keyboard.press('KeyW')
  await keyboard.getByText('Works: forward').waitFor()
  await page.keyboard.press('ArrowRight')
  await keyboard.getByText('Works: right').waitFor()
  await page.evaluate(CONNECT_PAD)
  await page.getByText('Test pad. Move its stick.').waitFor()
  await page.evaluate('window.pad.axes = [-1, -1]')
  await page.getByRole('status', { name: 'Gamepad' }).getByText('Works: forward, left').waitFor()
  // Nothing was sent: the robot has no session.
  expect(robots.at(-1)?.state).toMatchObject({ leftMps: 0, rightMps: 0 })

  await driveNow(page).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/dashboard/drive/*')
  await page.getByTestId('cockpit-picture').waitFor()
  const { sessions } = (await operator.get('/api/sessions')).body
  expect(sessions).toMatchObject([{ status: 'ACTIVE', robot_name: 'Checked' }])
  await operator.patch(`/api/sessions/${sessions[0].id}`, { action: 'end' })

  await page.goto(`${world.baseUrl}/dashboard/available`)
  await page.getByRole('button', { name: 'Drive now: Checked' }).click()
  await page.waitForURL('**/dashboard/drive/*')
  const again = (await operator.get('/api/sessions')).body.sessions
  await operator.patch(`/api/sessions/${again[0].id}`, { action: 'end' })
})

test('the page says live why a robot cannot be driven, and what to do', async () => {
  const robot = await registered('Reluctant')
  const [operator, rival] = [await readyOperator(world), await readyOperator(world)]
  const { page } = await browser.enter(operator, `/dashboard/available/${robot.id}`)
  await page.getByText('The robot is offline').waitFor()
  expect(await driveNow(page).isDisabled()).toBe(true)
  await robot.connect()
  await waitFor(async () => expect(await driveNow(page).isEnabled()).toBe(true))
  const { sessionId } = (await rival.post('/api/sessions', { robotId: robot.id })).body
  await page.getByText('The robot is in a session').waitFor()
  await rival.patch(`/api/sessions/${sessionId}`, { action: 'end' })
  await waitFor(async () => expect(await driveNow(page).isEnabled()).toBe(true))
  await owner.patch(`/api/client/robots/${robot.id}`, { on_hold: true })
  await page.getByText('The robot is on hold').waitFor()

  const guarded = await registered('Guarded', { require_certification: true })
  await guarded.connect()
  await owner.patch(`/api/client/robots/${guarded.id}`, { operator_notes: 'The key is below the mat' })
  await page.goto(`${world.baseUrl}/dashboard/available/${guarded.id}`)
  await page
    .getByText('Only operators with a certification for diffdrive-demo may drive this robot.')
    .waitFor()
  await page.getByRole('link', { name: 'View certifications' }).waitFor()
  expect(await page.getByText('The key is below the mat').count()).toBe(0)
  await expectAccessibleLayout(page, 'without a certification')

  await page.goto(`${world.baseUrl}/dashboard/available/00000000-0000-4000-8000-000000000000`)
  await page.getByText('Robot not found').waitFor()
})

test('a start that another operator wins says so on the page', async () => {
  const robot = await registered('Contested')
  await robot.connect()
  const [operator, rival] = [await readyOperator(world), await readyOperator(world)]
  const { page } = await browser.enter(operator, `/dashboard/available/${robot.id}`)
  const taken = Promise.withResolvers<string>()
  await page.route('**/api/sessions', async (route) => {
    taken.resolve((await rival.post('/api/sessions', { robotId: robot.id })).body.sessionId)
    await taken.promise
    await route.continue()
  })
  await driveNow(page).click()
  await page.getByRole('alert').getByText('The robot is not available').waitFor()
  await rival.patch(`/api/sessions/${await taken.promise}`, { action: 'end' })
})

test('an owner writes notes for operators in the settings of the robot', async () => {
  const robot = await registered('Noted')
  const { page } = await browser.enter(owner, `/dashboard/robots/${robot.id}?tab=settings`)
  await page.getByLabel('Notes for operators').fill('Keep left')
  await page.getByRole('button', { name: 'Save' }).click()
  await waitFor(async () =>
    expect((await owner.get(`/api/client/robots/${robot.id}`)).body.operator_notes).toBe('Keep left'),
  )
})
