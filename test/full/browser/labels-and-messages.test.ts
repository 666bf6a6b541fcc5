import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type ConsoleBrowser, heading, openConsole } from '../../support/browser/console.ts'
import { rawTexts } from '../../support/browser/raw-texts.ts'
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

/** Opens the settings of an operator with a complete account: without one, the console shows its onboarding. */
async function operatorSettings() {
  const operator = await world.operator()
  await operator.post('/api/operator/profile', { headline: 'Calm', timezone: 'Europe/Berlin' })
  return { operator, ...(await browser.enter(operator, '/dashboard/settings')) }
}

/** Chooses an option of a searchable select. */
async function choose(page: Page, label: string, typed: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).fill(typed)
  await page.getByRole('option', { name: option, exact: true }).click()
  await page.keyboard.press('Escape')
  await waitFor(async () => expect(await page.getByRole('option').count()).toBe(0))
}

test('a user chooses country and languages by name, and the profile stores codes', async () => {
  const { operator, page, context } = await operatorSettings()
  await choose(page, 'Country', 'Germany', 'Germany (DE)')
  await choose(page, 'Languages', 'Portug', 'Portuguese (pt)')
  const form = page.locator('form').filter({ has: page.getByLabel('Headline') })
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Saved').waitFor()
  expect((await operator.get('/api/operator/profile')).body).toMatchObject({
    country: 'DE',
    languages: ['pt'],
  })
  await page.reload()
  expect(await page.getByRole('combobox', { name: 'Country' }).inputValue()).toBe('Germany (DE)')
  expect(await rawTexts(page)).toEqual([])
  await context.close()
})

test('without a network, a form shows a message and keeps the input', async () => {
  const { page, context } = await operatorSettings()
  await page.getByLabel('Headline').fill('Steady hands')
  await page.route('**/api/**', (route) => route.abort())
  const form = page.locator('form').filter({ has: page.getByLabel('Headline') })
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Cannot reach the platform. Check your connection').first().waitFor()
  expect(await rawTexts(page)).toEqual([])
  expect(await page.getByLabel('Headline').inputValue()).toBe('Steady hands')
  await context.close()
})

test('an invalid field shows its error beside the field', async () => {
  const owner = await world.client()
  await owner.patch('/api/client/profile', { company_name: 'Works', contact_email: 'works@test.local' })
  const { page, context } = await browser.enter(owner, '/dashboard/settings')
  await page.getByLabel('Contact e-mail').fill('no address')
  await page.getByLabel('VAT number').fill('no digits')
  const form = page.locator('form').filter({ has: page.getByLabel('Contact e-mail') })
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Must be one e-mail address, such as ada@example.com').waitFor()
  await form.getByText('Must be a VAT number, such as DE123456789').waitFor()
  expect(await rawTexts(page)).toEqual([])
  await context.close()
})

test('session events and notifications appear as words, not codes', async () => {
  const [owner, operator] = [await world.client(), await world.operator()]
  await owner.patch('/api/client/profile', { contact_email: 'ada@example.com' })
  const { robot, sessionId } = await startSession(owner, operator)
  const { page, context } = await browser.enter(owner, `/dashboard/sessions/${sessionId}`)
  await heading(page, /.+/)
  expect((await operator.patch(`/api/sessions/${sessionId}`, { action: 'emergency_stop' })).status).toBe(200)
  await page.getByRole('tab', { name: 'Log' }).click()
  await page
    .getByText(/stopped the robot: remote stop/)
    .first()
    .waitFor()
  await page.getByRole('button', { name: /^Notifications/ }).click()
  await page.getByRole('dialog').getByText('The robot was stopped').first().waitFor()
  expect(await rawTexts(page)).toEqual([])
  await context.close()
  robot.close()
})

async function startSession(owner: Awaited<ReturnType<World['client']>>, operator: typeof owner) {
  const registered = await world.robot(owner)
  const robot = await world.connect(registered)
  robot.beat()
  await expect
    .poll(async () => (await owner.get(`/api/client/robots/${registered.id}`)).body.status)
    .toBe('AVAILABLE')
  const { body } = await operator.post('/api/sessions', { robotId: registered.id })
  return { robot, sessionId: body.sessionId as string }
}
