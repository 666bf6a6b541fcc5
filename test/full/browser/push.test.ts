import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { chromiumWithNotifications } from '../../support/browser/chromium.ts'
import { type ConsoleBrowser, expectAccessibleLayout, openConsole } from '../../support/browser/console.ts'
import { SUBSCRIBED_KEY, subscribeAt } from '../../support/browser/push-manager.ts'
import { type FakePushService, startPushService } from '../../support/network/push-service.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const SUBSCRIPTIONS = '/api/notifications/push/subscriptions'

let world: World
let chromium: Browser
let browser: ConsoleBrowser
let service: FakePushService
beforeAll(async () => {
  service = await startPushService()
  world = await createWorld({ env: { WEBHOOK_ALLOW_LOOPBACK: 'true' } })
  chromium = await chromiumWithNotifications()
  browser = await openConsole(world.baseUrl, chromium)
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await chromium?.close()
  await world?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

const devicesOf = async (user: TestUser) => (await user.get(SUBSCRIPTIONS)).body.subscriptions
const section = (page: Page) => page.getByRole('region', { name: 'Notifications' })
const turnOn = (page: Page) => section(page).getByRole('button', { name: 'Turn on browser notifications' })
const turnOff = (page: Page) => section(page).getByRole('button', { name: 'Turn off browser notifications' })

/** Creates an operator with a complete account. */
async function newOperator(): Promise<TestUser> {
  const operator = await world.operator()
  await operator.post('/api/operator/profile', { headline: 'Steady hands', timezone: 'Europe/Berlin' })
  return operator
}

/** Opens the settings of a new operator in a browser that can subscribe. */
async function settings() {
  const operator = await newOperator()
  const { context, page } = await browser.visit()
  const device = service.browser()
  await subscribeAt(context, device.subscription)
  await enter(context, page, operator)
  return { operator, context, page, device }
}

async function enter(context: BrowserContext, page: Page, { token }: TestUser): Promise<void> {
  await context.addCookies([{ name: '__session', value: token, url: world.baseUrl, httpOnly: true }])
  await page.goto(`${world.baseUrl}/dashboard/settings`)
}

test('a browser is turned on, shows what is pushed to it, and is turned off', async () => {
  const { operator, context, page, device } = await settings()
  await turnOn(page).click()
  await section(page).getByText('This browser', { exact: true }).waitFor()
  await expectAccessibleLayout(page, 'settings of a browser that receives notifications')
  const { body: key } = await operator.get('/api/notifications/push/key')
  expect(await page.evaluate(SUBSCRIBED_KEY)).toBe(key.public_key)
  expect(await devicesOf(operator)).toEqual([
    expect.objectContaining({
      endpoint: device.subscription.endpoint,
      label: expect.stringMatching(/^Chrome/),
    }),
  ])

  const admin = await world.admin()
  const { id } = (await operator.post('/api/operator/certifications', { robot_type: 'testbot' })).body
  expect((await admin.post(`/api/admin/certifications/${id}/approve`)).status).toBe(200)
  await waitFor(() => expect(device.messages()).toHaveLength(1))
  await deliver(context, page, JSON.stringify(device.messages()[0]))
  await waitFor(async () =>
    expect(await shownIn(page)).toEqual([
      expect.objectContaining({ title: expect.stringContaining('certified') }),
    ]),
  )

  await turnOff(page).click()
  await turnOn(page).waitFor()
  expect(await page.evaluate(SUBSCRIBED_KEY)).toBeNull()
  expect(await devicesOf(operator)).toEqual([])
})

test('a click on a notification opens its page in a new window, or focuses the window that shows it', async () => {
  const { context, page } = await settings()
  await turnOn(page).click()
  await turnOff(page).waitFor()
  const worker = context.serviceWorkers()[0]!
  const click = (path: unknown) =>
    worker.evaluate(
      `(async () => {
        const opened = []
        clients.openWindow = async (url) => void opened.push('opened ' + url)
        WindowClient.prototype.focus = async function () { opened.push('focused ' + new URL(this.url).pathname) }
        await registration.showNotification('Any', { tag: 'any', data: { path: ${JSON.stringify(path)} } })
        const [notification] = await registration.getNotifications({ tag: 'any' })
        const event = new NotificationEvent('notificationclick', { notification })
        const work = []
        event.waitUntil = (promise) => work.push(promise)
        dispatchEvent(event)
        await Promise.all(work)
        const left = await registration.getNotifications({ tag: 'any' })
        return [...opened, left.length]
      })()`,
    )
  expect(await click('/dashboard/exports?export=1')).toEqual(['opened /dashboard/exports?export=1', 0])
  expect(await click('https://other.example/')).toEqual(['opened /dashboard', 0])
  expect(await click('/dashboard/settings')).toEqual(['focused /dashboard/settings', 0])
})

test('another device is removed, and receives nothing more', async () => {
  const { operator, page } = await settings()
  const other = service.browser()
  expect((await operator.post(SUBSCRIPTIONS, other.subscription)).status).toBe(201)
  await page.reload()
  await turnOn(page).waitFor()
  await section(page)
    .getByRole('button', { name: /^Remove: / })
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await expectAccessibleLayout(page, 'the removal of a browser')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await waitFor(async () => expect(await devicesOf(operator)).toEqual([]))
})

test('a sign-out removes this browser first', async () => {
  const { operator, page } = await settings()
  await turnOn(page).click()
  await turnOff(page).waitFor()
  await page.getByRole('button', { name: /^Account of / }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
  expect(await page.evaluate(SUBSCRIBED_KEY)).toBeNull()
  expect(await devicesOf(operator)).toEqual([])
})

test('the next user of a browser receives nothing of the one before', async () => {
  const { context, page } = await settings()
  await turnOn(page).click()
  await turnOff(page).waitFor()
  const next = await newOperator()
  await enter(context, page, next)
  await turnOn(page).waitFor()
  await waitFor(async () => expect(await page.evaluate(SUBSCRIBED_KEY)).toBeNull())
  expect(await devicesOf(next)).toEqual([])
})

test.each([
  [
    'blocks notifications',
    `Object.defineProperty(Notification, 'permission', { value: 'denied' })`,
    'Your browser blocks',
  ],
  ['has no push service', 'delete window.PushManager', 'This browser cannot receive'],
  [
    'loaded the page over HTTP',
    `Object.defineProperty(window, 'isSecureContext', { value: false })`,
    'only over HTTPS',
  ],
])('a browser that %s says so', async (_, script, text) => {
  const operator = await newOperator()
  const { context, page } = await browser.visit()
  await context.grantPermissions(['notifications'])
  await context.addInitScript(script)
  await enter(context, page, operator)
  await section(page).getByText(text).waitFor()
  expect(await turnOn(page).count()).toBe(0)
})

/** Delivers a message to the service worker, as a push service does. */
async function deliver(context: BrowserContext, page: Page, data: string): Promise<void> {
  const devtools = await context.newCDPSession(page)
  const registered = new Promise<string>((resolve) => {
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [registration] = registrations
      if (registration) resolve(registration.registrationId)
    })
  })
  await devtools.send('ServiceWorker.enable')
  const registrationId = await registered
  await devtools.send('ServiceWorker.deliverPushMessage', { origin: world.baseUrl, registrationId, data })
}

const shownIn = (page: Page) =>
  page.evaluate(`navigator.serviceWorker.ready
    .then((registration) => registration.getNotifications())
    .then((shown) => shown.map(({ title, body, tag }) => ({ title, body, tag })))`)
