import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../../support/browser/console.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
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

test('the robot page shows battery and log, filters the log by level and edits the report settings', async () => {
  const owner = await world.client()
  await owner.patch('/api/client/profile', { contact_email: `${owner.name}@test.local` })
  const robot = await world.robot(owner, { name: 'Logger' })
  const link = (await world.connect(robot)).beat()
  link.send({ type: 'heartbeat', battery: 0.83 })
  for (let n = 1; n <= 60; n++)
    link.send({ type: 'log', level: n === 7 ? 'error' : 'info', message: `line ${n}` })
  await waitFor(async () => {
    const { logs } = (await owner.get(`/api/client/robots/${robot.id}/logs?limit=200`)).body
    expect(logs).toHaveLength(60)
  })

  const { page } = await browser.enter(owner, `/dashboard/robots/${robot.id}`)
  await heading(page, 'Logger')
  await page.getByText('83 %').or(page.getByText('83%')).first().waitFor()
  const logs = page.getByRole('region', { name: 'Logs' })
  await logs.getByRole('row', { name: /Info line 60$/ }).waitFor()
  const firstRow = logs.getByRole('row').nth(1)
  expect(await firstRow.textContent()).toContain('line 60')
  await logs.getByRole('button', { name: 'Older lines' }).click()
  await logs.getByRole('row', { name: /Info line 1$/ }).waitFor()
  link.send({ type: 'log', level: 'warn', message: 'wheel 2 slips' })
  await logs.getByRole('row', { name: /Warning wheel 2 slips/ }).waitFor()
  await logs.getByText('Errors', { exact: true }).click()
  await logs.getByRole('row', { name: /Error line 7$/ }).waitFor()
  expect(await logs.getByRole('row').count()).toBe(2)
  await expectAccessibleLayout(page, 'a robot with a log')

  await page.getByRole('tab', { name: 'Settings' }).click()
  const settings = page.getByRole('region', { name: 'Settings' })
  await settings.getByLabel('Low battery').fill('35')
  await settings.getByLabel('Log lines as events').selectOption('warn')
  await settings.getByRole('button', { name: 'Save' }).click()
  await settings.getByText('Saved').waitFor()
  expect((await owner.get(`/api/client/robots/${robot.id}`)).body).toMatchObject({
    low_battery_threshold: 0.35,
    log_event_level: 'warn',
  })
})

test('the session page shows battery and log live', async () => {
  const { client, link, id } = await openSessionFixture(world)
  await client.patch('/api/client/profile', { contact_email: `${client.name}@test.local` })
  const { page } = await browser.enter(client, `/dashboard/sessions/${id}`)
  await page.getByRole('tab', { name: 'Log' }).click()
  const log = page.getByRole('region', { name: 'Robot log' })
  await log.getByText('No log lines since').waitFor()
  // The session page shows only lines that arrive after it has connected.
  await waitFor(async () => {
    link.send({ type: 'log', level: 'error', message: 'motor 3 is hot' })
    expect(await log.getByText('motor 3 is hot').count()).toBeGreaterThan(0)
  })
  link.send({ type: 'heartbeat', battery: 0.42 })
  await expectAccessibleLayout(page, 'a session with a log')
  await page.getByRole('tab', { name: 'Cost' }).click()
  await page.getByText(/^42\s?%$/).waitFor()
})
