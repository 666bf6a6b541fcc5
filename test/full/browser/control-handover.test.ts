import { PolicyLink } from '@wheelhouse/sdk'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  connectRobot,
  forgiveSlowStops,
  leaveCockpit,
  runCommand,
  SLOW_RELOADS,
} from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole, seriousIssues } from '../../support/browser/console.ts'
import { TWO_FRAMES } from '../../support/browser/gamepad.ts'
import { addMember, createTeam, teamRobot } from '../../support/world/organizations.ts'
import { start, tolerateLatency } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const closers: (() => unknown)[] = []
let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld({ env: SLOW_RELOADS })
  browser = await openConsole(world.baseUrl)
})
afterEach(async () => {
  await browser.closePages()
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

/** Creates a team with a supervisor. */
async function createCrew() {
  const founder = await world.client()
  const teamId = await createTeam(founder)
  const owner = await founder.actingFor(teamId)
  const member = async (role: 'operator' | 'supervisor') => {
    const user = await world.newUser()
    await addMember(world, teamId, user, role)
    return await user.actingFor(teamId)
  }
  return {
    supervisor: await member('supervisor'),

    /** Starts a session of a member with a robot. */
    async session(name = 'Crane') {
      const operator = await member('operator')
      const registered = await teamRobot(owner, { name })
      await tolerateLatency(world, registered.id)
      const robot = await connectRobot(world, registered)
      closers.push(() => robot.close())
      const id = await waitFor(() => start(operator, registered.id))
      const control = `/api/sessions/${id}/control`
      const holds = (user: Pick<TestUser, 'id'>, epoch: number) =>
        waitFor(async () =>
          expect((await owner.get(control)).body).toMatchObject({ epoch, holder: { user_id: user.id } }),
        )
      return { id, name, operator, robot, control, holds, path: `/dashboard/drive/${id}` }
    },

    /** Connects a program that accepts every offer of control. */
    async policy(sessionId: string) {
      const accounts = `/api/organizations/${teamId}/service-accounts`
      const { id } = (await owner.post(accounts, { name: 'Stacking policy', role: 'operator' })).body
      const input = { scopes: ['read', 'drive'], expiresInDays: 30 }
      const { key: token } = (await owner.post(`${accounts}/${id}/keys`, input)).body
      const link = new PolicyLink({ baseUrl: world.baseUrl, token, sessionId, offerPollMs: 50 })
      closers.push(() => link.close())
      await link.connect()
      return { id: id as string, link }
    },
  }
}

const other = (page: Page) => page.getByTestId('control-other')
const request = (page: Page) => page.getByTestId('control-request')

test('a key that drives takes control from a policy, but not from a person', async () => {
  const crew = await createCrew()
  const { supervisor } = crew
  const { id, operator, robot, control, holds, path } = await crew.session()
  await (await world.drive(operator, id)).state()
  const policy = await crew.policy(id)
  const { page } = await browser.enter(supervisor, path)
  await other(page).getByText(`${operator.name} controls the robot`).waitFor()
  await other(page).getByRole('button', { name: 'Take control' }).waitFor()
  const changes: string[] = []
  page.on('request', (sent) => {
    if (sent.method() === 'POST' && sent.url().endsWith(control)) changes.push(sent.url())
  })
  await page.keyboard.press('ArrowUp')
  await page.evaluate(TWO_FRAMES)
  expect(changes).toEqual([])

  await operator.post(control, { action: 'offer', to: policy.id })
  await other(page).getByText('Stacking policy controls the robot').waitFor()
  expect(changes).toEqual([])
  await page.keyboard.down('ArrowUp')
  await other(page).waitFor({ state: 'detached' })
  await holds(supervisor, 3)
  expect(changes).toHaveLength(1)
  await waitFor(() => expect(policy.link.holds).toBe(false))
  // The key that took over moves nothing until it is pressed again.
  await page.evaluate(TWO_FRAMES)
  expect(robot.state).toMatchObject({ leftMps: 0, rightMps: 0, xM: 50 })
  await page.keyboard.up('ArrowUp')
  await page.keyboard.down('ArrowUp')
  await waitFor(() => expect(robot.state.xM).toBeGreaterThan(50.05))
  await page.keyboard.up('ArrowUp')
})

test('the wall shows a robot that asks first, and T takes control of it and returns it', async () => {
  const crew = await createCrew()
  const { supervisor } = crew
  const [alpha, bravo] = [await crew.session('Alpha'), await crew.session('Bravo')]
  for (const { operator, id } of [alpha, bravo]) await (await world.drive(operator, id)).state()
  const { page } = await browser.enter(supervisor, '/dashboard/live')
  const tiles = page.getByTestId('live-tile')
  const tile = (name: string) => tiles.filter({ hasText: name })
  const names = () => tiles.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
  await waitFor(async () => expect(await names()).toEqual(['Alpha', 'Bravo']))
  expect(await tile('Bravo').getAttribute('data-section')).toBe('driving')

  await bravo.operator.post(bravo.control, { action: 'offer', reason: 'The gripper is stuck' })
  await waitFor(async () => expect(await names()).toEqual(['Bravo', 'Alpha']))
  expect(await tile('Bravo').getAttribute('data-section')).toBe('needs')
  await tile('Bravo').getByText(`${bravo.operator.name} asks for help`).waitFor()
  await tile('Bravo').getByRole('link', { name: 'Help' }).and(page.locator('[data-asked]')).waitFor()
  expect(await seriousIssues(page)).toEqual([])

  await tile('Bravo').hover()
  await page.keyboard.press('t')
  await page.waitForURL((url) => url.pathname === bravo.path)
  await bravo.holds(supervisor, 2)
  await page.getByText('You have taken control. T returns it.').waitFor()
  await leaveCockpit(page)
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Live', exact: true })
    .click()
  await tile('Bravo').getByText(`${supervisor.name} controls the robot`).waitFor()
  await waitFor(async () => expect(await names()).toEqual(['Alpha', 'Bravo']))

  // The key that moved the focus chooses the robot, not the pointer that rests on another one.
  await tile('Alpha').hover()
  const link = tile('Bravo').getByRole('link', { name: 'Bravo', exact: true })
  await waitFor(async () => {
    await page.keyboard.press('Tab')
    expect(await link.evaluate((element) => element.matches(':focus'))).toBe(true)
  })
  await page.keyboard.press('t')
  await bravo.holds(bravo.operator, 3)
  await tile('Bravo').getByText(`${bravo.operator.name} controls the robot`).waitFor()
  expect(new URL(page.url()).pathname).toBe('/dashboard/live')
  await alpha.holds(alpha.operator, 1)
})

test('calls for help, requests and their answers pass between cockpits, with the names of who asks', async () => {
  const crew = await createCrew()
  const { supervisor } = crew
  const { id, operator, holds, path } = await crew.session()
  const { page: driving } = await browser.enter(operator, path)
  const { page: helping } = await browser.enter(supervisor, path)
  await other(helping).getByText(`${operator.name} controls the robot`).waitFor()
  const needsHelp = request(helping).getByRole('heading', { name: `${operator.name} asks for help` })

  await runCommand(driving, 'help')
  await needsHelp.waitFor()
  expect(await seriousIssues(helping)).toEqual([])
  await request(helping).getByRole('button', { name: 'Decline' }).click()
  await request(helping).waitFor({ state: 'detached' })
  await holds(operator, 1)

  await runCommand(driving, 'help')
  await needsHelp.waitFor()
  await request(helping).getByRole('button', { name: 'Accept' }).click()
  await holds(supervisor, 2)
  await request(helping).waitFor({ state: 'detached' })
  expect(await other(helping).count()).toBe(0)
  await other(driving).getByText(`${supervisor.name} controls the robot`).waitFor()

  await driving.keyboard.press('t')
  await other(driving).getByText('Asked. Waiting for an answer.').waitFor()
  await request(helping)
    .getByRole('heading', { name: `${operator.name} asks for control` })
    .waitFor()
  await request(helping).getByRole('button', { name: 'Accept' }).click()
  await holds(operator, 3)
  await other(driving).waitFor({ state: 'detached' })
  await other(helping).getByText(`${operator.name} controls the robot`).waitFor()

  const policy = await crew.policy(id)
  await policy.link.requestControl('Ready to stack')
  await request(driving).getByRole('heading', { name: 'Stacking policy asks for control' }).waitFor()
  await request(driving).getByText('Ready to stack').waitFor()
  await request(driving).getByRole('button', { name: 'Accept' }).click()
  await holds(policy, 4)
  await waitFor(() => expect(policy.link.holds).toBe(true))
  await other(driving).getByText('Stacking policy controls the robot').waitFor()
})
