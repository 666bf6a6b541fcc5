import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../support/browser/console.ts'
import { ok, type Receiver, startReceiver, status, verify } from '../support/network/webhook-receiver.ts'
import { createWorld, type World } from '../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld({ env: { WEBHOOK_ALLOW_LOOPBACK: 'true' } })
  browser = await openConsole(world.baseUrl)
}, 120_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

const LONG_MS = 120_000
const WAIT = { timeout: 25_000, interval: 50 }
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
/** Rows of the log, without those that show details. */
const deliveries = (page: Page) => page.locator('[data-delivery]')

/** An owner at the settings. */
async function settings() {
  const owner = await world.client()
  const email = `${owner.name}@test.local`
  await owner.patch('/api/client/profile', { company_name: 'Works', contact_email: email })
  return { owner, ...(await browser.enter(owner, '/dashboard/settings')) }
}

/** Adds a webhook in the dialog, and returns the secret that is shown. */
async function add(page: Page, receiver: Receiver, family?: string): Promise<string> {
  await button(page, 'Add a webhook').click()
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

/** The page of a webhook, from the list. */
async function open(page: Page, receiver: Receiver): Promise<void> {
  await page.getByRole('link', { name: receiver.url }).click()
  await heading(page, /^Webhook to 127\.0\.0\.1/)
}

test(
  'a webhook is added with a filter, its secret is shown once and signs what arrives',
  async () => {
    // The answer waits until the page has been seen while the attempt runs.
    const held = Promise.withResolvers<void>()
    await using receiver = await startReceiver((response, received) =>
      received.event.type === 'webhook.test'
        ? held.promise.then(() => ok(response, received))
        : ok(response, received),
    )
    const { page, owner } = await settings()
    await button(page, 'Add a webhook').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address').fill('http://10.0.0.1/inside')
    await dialog.getByRole('button', { name: 'Add', exact: true }).click()
    await dialog.getByText(/Must|Its host/).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })

    const secret = await add(page, receiver, 'robot.*')
    expect(secret).toMatch(/^whsec_/)
    expect(await page.content()).not.toContain(secret)
    await page.getByRole('row', { name: /robot\.\* On none yet$/ }).waitFor()
    await expectAccessibleLayout(page, 'the settings with a webhook')

    await open(page, receiver)
    await button(page, 'Send a test').click()
    await vi.waitFor(() => expect(receiver.types()).toEqual(['webhook.test']), WAIT)
    verify(secret, receiver.received[0] as never)
    await deliveries(page).getByText('being sent').waitFor()
    await page.getByRole('status').getByText('The test is on its way.').waitFor()
    held.resolve()
    await page
      .getByRole('status')
      .getByText(/^The test has arrived: 200, \d+ ms\.$/)
      .waitFor()
    await deliveries(page)
      .getByText(/^200, \d+ ms$/)
      .waitFor()
    // What it does not ask for is not sent.
    const robot = await world.robot(owner)
    ;(await world.connect(robot)).beat()
    await vi.waitFor(() => expect(receiver.types()).toEqual(['webhook.test', 'robot.status']), WAIT)
    await page.getByRole('button', { name: 'Show webhook.test' }).click()
    await page.getByText('thanks').waitFor()
    await page.getByText(/"type": "webhook\.test"/).waitFor()
    await expectAccessibleLayout(page, 'the page of a webhook')
  },
  LONG_MS,
)

test(
  'what did not arrive is shown as that, and sent again',
  async () => {
    await using receiver = await startReceiver(status(503))
    const { page, owner } = await settings()
    await add(page, receiver)
    await open(page, receiver)
    await button(page, 'Send a test').click()
    await page
      .getByRole('status')
      .getByText(/^The test did not arrive: 503/)
      .waitFor()
    await deliveries(page).getByText('Given up').waitFor()
    await deliveries(page).getByText(/^503/).waitFor()
    receiver.answerWith(ok)
    await page.getByRole('button', { name: 'Show webhook.test' }).click()
    await button(page, 'Send again').click()
    await deliveries(page).getByText('Arrived').waitFor()
    expect(new Set(receiver.ids()).size).toBe(1)

    await page.getByText('Given up', { exact: true }).first().click()
    await vi.waitFor(async () => expect(await deliveries(page).count()).toBe(1), WAIT)

    // An event that waits after a failure, missed while the webhook was off, is fetched by the span of time.
    const robot = await world.robot(owner)
    await button(page, 'Switch off').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Switch off' }).click()
    await page.getByText(/^You have disabled it/).waitFor()
    ;(await world.connect(robot)).beat()
    await vi.waitFor(async () => {
      const { events } = (await owner.get('/api/events')).body
      expect(events.map(({ type }: { type: string }) => type)).toContain('robot.status')
    }, WAIT)
    expect(receiver.types()).not.toContain('robot.status')
    await button(page, 'Switch on').click()
    await button(page, 'Send what was missed').click()
    const dialog = page.getByRole('dialog')
    await expectAccessibleLayout(page, 'the dialog')
    await dialog.getByRole('button', { name: 'Send', exact: true }).click()
    await dialog.getByText(/events? (is|are) sent again/).waitFor()
    await vi.waitFor(() => expect(receiver.types()).toContain('robot.status'), WAIT)
  },
  LONG_MS,
)

test(
  'the secret is replaced, the filter changed, and the webhook removed',
  async () => {
    await using receiver = await startReceiver()
    const { page, owner } = await settings()
    const old = await add(page, receiver)
    await open(page, receiver)
    await button(page, 'Replace the secret').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('checkbox').uncheck()
    await dialog.getByRole('button', { name: 'Replace', exact: true }).click()
    const secret = (await dialog.locator('pre').textContent()) ?? ''
    await dialog.getByRole('button', { name: 'Done' }).click()
    expect(secret).not.toBe(old)
    await button(page, 'Send a test').click()
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), WAIT)
    verify(secret, receiver.received[0] as never)
    expect(() => verify(old, receiver.received[0] as never)).toThrow()

    const form = region(page, 'What is sent where')
    await form.getByLabel('Description').fill('Warehouse')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Saved').waitFor()
    expect((await owner.get('/api/webhooks')).body.webhooks).toMatchObject([{ description: 'Warehouse' }])

    await button(page, 'Remove the webhook').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('No webhooks yet').waitFor()
    expect((await owner.get('/api/webhooks')).body.webhooks).toEqual([])
  },
  LONG_MS,
)

test(
  'one whose address is gone is off, says why, and is switched on again, by keyboard alone',
  async () => {
    await using receiver = await startReceiver(status(410))
    const { page, owner } = await settings()
    const { keyboard } = page
    const isFocused = (name: string) =>
      vi.waitFor(
        async () => expect(await page.evaluate('document.activeElement.textContent')).toContain(name),
        WAIT,
      )
    await button(page, 'Add a webhook').focus()
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await vi.waitFor(async () => expect(await page.evaluate('document.activeElement.type')).toBe('url'), WAIT)
    await keyboard.type(receiver.url)
    await keyboard.press('Enter')
    await isFocused('it cannot be shown again')
    await keyboard.press('Escape') // a slip, which must not lose the secret
    for (const name of ['Copy', 'Done']) {
      await keyboard.press('Tab')
      await isFocused(name)
    }
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })

    await page.getByRole('link', { name: receiver.url }).focus()
    await keyboard.press('Enter')
    await button(page, 'Send a test').focus()
    await keyboard.press('Enter')
    await page
      .getByText(/^The platform disabled it because the address answered 410 Gone/)
      .waitFor()
    expect((await owner.get('/api/webhooks')).body.webhooks).toMatchObject([{ disabled_reason: 'gone' }])
    expect(await button(page, 'Send a test').count()).toBe(0)
    await page.getByRole('button', { name: 'Show webhook.test' }).focus()
    await keyboard.press('Enter')
    await page.getByText('Once the webhook is switched on, this can be sent again.').waitFor()
    await expectAccessibleLayout(page, 'a webhook that is off')

    receiver.answerWith(ok)
    await button(page, 'Switch on').focus()
    await keyboard.press('Enter')
    await button(page, 'Send again').focus()
    await keyboard.press('Enter')
    await deliveries(page).getByText('Arrived').waitFor()
  },
  LONG_MS,
)

test(
  'what cannot be looked up is said, with a way to try again; a webhook of nobody is none',
  async () => {
    const { page } = await settings()
    await page.goto(`${world.baseUrl}/dashboard/settings/webhooks/${crypto.randomUUID()}`)
    await heading(page, 'Webhook')
    await page.getByText('There is no such webhook').waitFor()
    await page.getByRole('link', { name: 'All webhooks' }).click()
    await heading(page, 'Settings')
    await page.getByText('No webhooks yet').waitFor()

    await page.route('**/api/webhooks', (route) =>
      route.fulfill({ status: 400, json: { error: 'Not just now' } }),
    )
    await page.reload()
    const webhooks = region(page, 'Webhooks')
    await webhooks.getByRole('alert').getByText('Not just now').waitFor()
    await page.unroute('**/api/webhooks')
    await webhooks.getByRole('button', { name: 'Try again' }).click()
    await webhooks.getByText('No webhooks yet').waitFor()
  },
  LONG_MS,
)
