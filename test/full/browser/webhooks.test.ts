import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../../support/browser/console.ts'
import { ok, type Receiver, startReceiver, status, verify } from '../../support/network/webhook-receiver.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld({ env: { WEBHOOK_ALLOW_LOOPBACK: 'true' } })
  browser = await openConsole(world.baseUrl)
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
/** Locates the rows of the delivery log, without expanded details. */
const deliveries = (page: Page) => page.locator('[data-delivery]')

/** Opens the settings as an owner. */
async function settings() {
  const owner = await world.client()
  const email = `${owner.name}@test.local`
  await owner.patch('/api/client/profile', { company_name: 'Works', contact_email: email })
  return { owner, ...(await browser.enter(owner, '/dashboard/settings')) }
}

/** Adds a webhook in the dialog and returns the shown secret. */
async function add(page: Page, receiver: Receiver, family?: string): Promise<string> {
  await button(page, 'Add webhook').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address').fill(receiver.url)
  if (family) {
    await dialog.getByRole('combobox', { name: 'Events' }).press('Backspace')
    await dialog.getByRole('combobox', { name: 'Events' }).fill(family)
    await page.getByRole('option', { name: family, exact: true }).click()
    await dialog.getByLabel('Description').fill('Doors')
  }
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  const secret = (await dialog.locator('pre').textContent()) ?? ''
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'hidden' })
  return secret
}

/** Opens the page of a webhook from the list. */
async function open(page: Page, receiver: Receiver): Promise<void> {
  await page.getByRole('link', { name: receiver.url }).click()
  await heading(page, /^Webhook to 127\.0\.0\.1/)
}

test('an owner adds a webhook with a filter, and its secret is shown once and signs deliveries', async () => {
  // Delays the response so that the test sees the page during the attempt.
  const held = Promise.withResolvers<void>()
  await using receiver = await startReceiver((response, received) =>
    received.event.type === 'webhook.test'
      ? held.promise.then(() => ok(response, received))
      : ok(response, received),
  )
  const { page, owner } = await settings()
  await button(page, 'Add webhook').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address').fill('http://10.0.0.1/inside')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText(/Must|Its host/).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'hidden' })

  const secret = await add(page, receiver, 'robot.*')
  expect(secret).toMatch(/^whsec_/)
  expect(await page.content()).not.toContain(secret)
  await page.getByRole('row', { name: /robot\.\* Enabled none yet$/ }).waitFor()
  await expectAccessibleLayout(page, 'the settings with a webhook')

  await open(page, receiver)
  await button(page, 'Send test').click()
  await waitFor(() => expect(receiver.types()).toEqual(['webhook.test']))
  verify(secret, receiver.received[0] as never)
  await deliveries(page).getByText('sending', { exact: true }).waitFor()
  await page.getByRole('status').getByText('Sending test…').waitFor()
  held.resolve()
  await page
    .getByRole('status')
    .getByText(/^Test delivered: 200, \d+ ms\.$/)
    .waitFor()
  await deliveries(page)
    .getByText(/^200, \d+ ms$/)
    .waitFor()
  // Events outside of the filter are not sent.
  const robot = await world.robot(owner)
  ;(await world.connect(robot)).beat()
  await waitFor(() => expect(receiver.types()).toEqual(['webhook.test', 'robot.status']))
  await page.getByRole('button', { name: 'Show webhook.test' }).click()
  await page.getByText('thanks').waitFor()
  await page.getByText(/"type": "webhook\.test"/).waitFor()
  await expectAccessibleLayout(page, 'the page of a webhook')
})

test('failed deliveries are shown and can be resent', async () => {
  await using receiver = await startReceiver(status(503))
  const { page, owner } = await settings()
  await add(page, receiver)
  await open(page, receiver)
  await button(page, 'Send test').click()
  await page
    .getByRole('status')
    .getByText(/^Test failed: 503/)
    .waitFor()
  await deliveries(page).getByText('Failed').waitFor()
  await deliveries(page).getByText(/^503/).waitFor()
  receiver.answerWith(ok)
  await page.getByRole('button', { name: 'Show webhook.test' }).click()
  await button(page, 'Resend').click()
  await deliveries(page).getByText('Delivered').waitFor()
  expect(new Set(receiver.ids()).size).toBe(1)

  await page.getByText('Failed', { exact: true }).first().click()
  await waitFor(async () => expect(await deliveries(page).count()).toBe(1))

  // An event that was missed while the webhook was disabled is resent by time range.
  const robot = await world.robot(owner)
  await button(page, 'Disable').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByText(/^You have disabled it/).waitFor()
  ;(await world.connect(robot)).beat()
  await waitFor(async () => {
    const { events } = (await owner.get('/api/events')).body
    expect(events.map(({ type }: { type: string }) => type)).toContain('robot.status')
  })
  expect(receiver.types()).not.toContain('robot.status')
  await button(page, 'Enable').click()
  await button(page, 'Resend missed events').click()
  const dialog = page.getByRole('dialog')
  await expectAccessibleLayout(page, 'the dialog')
  await dialog.getByRole('button', { name: 'Resend', exact: true }).click()
  await dialog.getByText(/^Resending \d+ events?/).waitFor()
  await waitFor(() => expect(receiver.types()).toContain('robot.status'))
})

test('an owner replaces the secret, edits the endpoint and removes the webhook', async () => {
  await using receiver = await startReceiver()
  const { page, owner } = await settings()
  const old = await add(page, receiver)
  await open(page, receiver)
  await button(page, 'Replace secret').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('checkbox').uncheck()
  await dialog.getByRole('button', { name: 'Replace', exact: true }).click()
  const secret = (await dialog.locator('pre').textContent()) ?? ''
  await dialog.getByRole('button', { name: 'Done' }).click()
  expect(secret).not.toBe(old)
  await button(page, 'Send test').click()
  await waitFor(() => expect(receiver.received).toHaveLength(1))
  verify(secret, receiver.received[0] as never)
  expect(() => verify(old, receiver.received[0] as never)).toThrow()

  const form = region(page, 'Endpoint')
  await form.getByLabel('Description').fill('Warehouse')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Saved').waitFor()
  expect((await owner.get('/api/webhooks')).body.webhooks).toMatchObject([{ description: 'Warehouse' }])

  await button(page, 'Remove webhook').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('No webhooks yet').waitFor()
  expect((await owner.get('/api/webhooks')).body.webhooks).toEqual([])
})

test('a webhook whose address returns 410 is disabled with a reason, and a keyboard user enables it again', async () => {
  await using receiver = await startReceiver(status(410))
  const { page, owner } = await settings()
  const { keyboard } = page
  const isFocused = (name: string) =>
    waitFor(async () => expect(await page.evaluate('document.activeElement.textContent')).toContain(name))
  await button(page, 'Add webhook').focus()
  await keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await waitFor(async () => expect(await page.evaluate('document.activeElement.type')).toBe('url'))
  await keyboard.type(receiver.url)
  await keyboard.press('Enter')
  await isFocused('You will not see it again')
  await keyboard.press('Escape') // an accidental Escape must not lose the secret
  for (const name of ['Copy', 'Done']) {
    await keyboard.press('Tab')
    await isFocused(name)
  }
  await keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })

  await page.getByRole('link', { name: receiver.url }).focus()
  await keyboard.press('Enter')
  await button(page, 'Send test').focus()
  await keyboard.press('Enter')
  await page.getByText(/^The platform disabled it because the address answered 410 Gone/).waitFor()
  expect((await owner.get('/api/webhooks')).body.webhooks).toMatchObject([{ disabled_reason: 'gone' }])
  expect(await button(page, 'Send test').count()).toBe(0)
  await page.getByRole('button', { name: 'Show webhook.test' }).focus()
  await keyboard.press('Enter')
  await page.getByText('Enable the webhook to resend this event.').waitFor()
  await expectAccessibleLayout(page, 'a disabled webhook')

  receiver.answerWith(ok)
  await button(page, 'Enable').focus()
  await keyboard.press('Enter')
  await button(page, 'Resend').focus()
  await keyboard.press('Enter')
  await deliveries(page).getByText('Delivered').waitFor()
})

test('a failed query shows an error with a retry button, and an unknown webhook is not found', async () => {
  const { page } = await settings()
  await page.goto(`${world.baseUrl}/dashboard/settings/webhooks/${crypto.randomUUID()}`)
  await heading(page, 'Webhook')
  await page.getByText('Webhook not found').waitFor()
  await page.getByRole('link', { name: 'All webhooks' }).click()
  await heading(page, 'Settings')
  await page.getByText('No webhooks yet').waitFor()

  await page.route('**/api/webhooks', (route) =>
    route.fulfill({ status: 400, json: { error: 'Not just now' } }),
  )
  await page.reload()
  const webhooks = region(page, 'Webhooks')
  await webhooks.getByRole('alert').getByText('Not just now').waitFor()
  // Only then do requests succeed: the page also polls, and the error would be gone before the click.
  const repeated = page.waitForRequest('**/api/webhooks')
  await webhooks.getByRole('button', { name: 'Try again' }).click()
  await repeated
  await page.unroute('**/api/webhooks')
  await webhooks.getByText('No webhooks yet').waitFor()
})
