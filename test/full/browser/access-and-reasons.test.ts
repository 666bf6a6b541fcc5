import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../../support/browser/console.ts'
import { readyOperator, readyOwner } from '../../support/browser/ready-users.ts'
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
  await world?.[Symbol.asyncDispose]()
})

test('an operator without certifications drives a robot that requires none', async () => {
  const [owner, operator] = [await readyOwner(world), await readyOperator(world)]
  const open = await world.robot(owner, { name: 'Open arm', require_certification: false })
  const closed = await world.robot(owner, { name: 'Closed arm', require_certification: true })
  for (const robot of [open, closed]) (await world.connect(robot)).beat()
  const { page } = await browser.enter(operator, '/dashboard/available')
  await page.getByText('Open arm').waitFor()
  expect(await page.getByText('Closed arm').count()).toBe(0)
  await page.getByRole('button', { name: 'Drive now: Open arm' }).click()
  await page.waitForURL(`**/dashboard/available/${open.id}*`) // the first time, the pre-flight comes first
  await page.getByRole('button', { name: 'Drive now', exact: true }).click()
  await page.waitForURL('**/dashboard/drive/*')
  expect((await operator.post('/api/sessions', { robotId: closed.id })).status).toBe(403)
})

test('pages of another role explain that, without requests and without a useless retry', async () => {
  const [owner, operator] = [await readyOwner(world), await readyOperator(world)]
  for (const [user, path, title] of [
    [owner, 'available', 'This page is for operators'],
    [owner, 'schedule', 'This page is for operators'],
    [operator, 'robots/new', 'This page is for owners'],
    [operator, 'live', 'This page is for owners'],
  ] as const) {
    const { page, context } = await browser.enter(user, '/dashboard/sessions')
    await heading(page, 'Sessions')
    const refused: string[] = []
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(response.url())
    })
    await page.goto(`${world.baseUrl}/dashboard/${path}`)
    await page.getByText(title).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    expect(refused, path).toEqual([])
    if (path === 'available') await expectAccessibleLayout(page, 'a page of another role')
    await context.close()
  }
})

test('a country that is typed but not chosen is stored by its name, and never as another one', async () => {
  const operator = await readyOperator(world)
  const { page } = await browser.enter(operator, '/dashboard/settings')
  const country = page.getByRole('combobox', { name: 'Country' })
  const form = page.locator('form').filter({ has: page.getByLabel('Headline') })
  const stored = async () => (await operator.get('/api/operator/profile')).body.country
  await country.pressSequentially('Germany')
  await page.keyboard.press('Tab')
  await waitFor(async () => expect(await country.inputValue()).toBe('Germany (DE)'))
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Saved').waitFor()
  expect(await stored()).toBe('DE')

  await country.fill('Atlantis')
  await page.keyboard.press('Tab')
  await page.getByText('“Atlantis” is not a country of the list. Choose one.').waitFor()
  expect(await country.inputValue()).toBe('Germany (DE)')
})

test('the reason of a pause is that of the stop, once there is one', async () => {
  const [owner, operator] = [await readyOwner(world), await readyOperator(world)]
  const robot = await world.robot(owner)
  ;(await world.connect(robot)).beat()
  const sessionId = await start(operator, robot.id)
  await performAction(operator, sessionId, 'pause', 'coffee break')
  const { page } = await browser.enter(owner, `/dashboard/sessions/${sessionId}`)
  const status = page.getByRole('region', { name: 'Status' })
  await status.getByText(/coffee break/).waitFor()
  await performAction(owner, sessionId, 'emergency_stop', 'Cat on the shelf')
  await status.getByText(/Cat on the shelf/).waitFor()
  expect(await status.getByText(/coffee break/).count()).toBe(0)
  await performAction(owner, sessionId, 'end')
})
