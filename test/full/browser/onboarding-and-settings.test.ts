import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  chooseAccount,
  openConsole,
  seriousIssues,
} from '../../support/browser/console.ts'
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

/** Signs in an operator with a complete account and opens a page. */
async function operatorAt(path: string, options: Parameters<ConsoleBrowser['signIn']>[2] = {}) {
  const operator = await world.operator()
  await operator.post('/api/operator/profile', { headline: 'Steady hands', timezone: 'Europe/Berlin' })
  const email = (await operator.get('/api/auth/profile')).body.email as string
  return { operator, email, ...(await browser.signIn(email, path, options)) }
}

const GREETING = /^Good (morning|afternoon|evening), /
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name }).waitFor()

test('a new operator completes onboarding and arrives at the requested page', async () => {
  const { page } = await browser.signIn('new-operator@test.local', '/dashboard/settings')
  await page.getByRole('heading', { name: ', new-operator' }).waitFor()
  expect(await seriousIssues(page)).toEqual([])
  await page.getByRole('button', { name: 'Continue as operator' }).click()
  await page.getByLabel('Headline').fill('Steady hands')
  expect(await seriousIssues(page)).toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()

  await heading(page, 'Settings')
  expect(new URL(page.url()).pathname).toBe('/dashboard/settings')
  expect(await page.getByLabel('Headline').inputValue()).toBe('Steady hands')
  // Routine is not sent to new users.
  const box = (group: string) => page.getByRole('checkbox', { name: `${group}: E-mail`, exact: true })
  await box('Remote stops').waitFor()
  expect(await box('Remote stops').isChecked()).toBe(true)
  expect(await box('Money').isChecked()).toBe(true)
  expect(await box('Sessions').isChecked()).toBe(false)
  expect(await box('Pauses').isChecked()).toBe(false)
})

test('a new owner enters contact data', async () => {
  const { page } = await browser.signIn('new-owner@test.local')
  await page.getByRole('button', { name: 'Continue as owner' }).click()
  await heading(page, 'How can operators reach you?')
  expect(await page.getByLabel('Contact e-mail').inputValue()).toBe('new-owner@test.local')
  await page.getByRole('combobox', { name: 'Country' }).fill('Germany')
  await page.getByRole('option', { name: 'Germany (DE)', exact: true }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: ', new-owner' }).waitFor()
})

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
] as const)('pages are accessible: %s, %i pixels wide', async (colorScheme, width) => {
  const { page } = await operatorAt('/dashboard', { colorScheme, viewport: { width, height: 800 } })
  for (const [path, title] of [
    ['/dashboard', GREETING],
    ['/dashboard/settings', 'API keys'],
    ['/dashboard/nothing', undefined],
  ] as const) {
    await page.goto(world.baseUrl + path)
    await (title ? heading(page, title) : page.getByText('Page not found').waitFor())
    expect(await seriousIssues(page), path).toEqual([])
    const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
    expect(overflow, path).toBeLessThanOrEqual(0)
  }
  await page.goto(`${world.baseUrl}/dashboard`)
  await page.getByRole('button', { name: 'Notifications' }).click()
  await page.getByText('No notifications yet').waitFor()
  expect(await seriousIssues(page), 'the drawer').toEqual([])
})

test('sessions are the first page after home for all users', async () => {
  const { page } = await operatorAt('/dashboard')
  const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
  await links.getByText('Settings').waitFor()
  const names = await links.allInnerTexts()
  expect([...names.slice(0, 2), names.at(-1)]).toEqual(['Home', 'Sessions', 'Settings'])
})

test('a user changes name, picture and notification preferences in the settings', async () => {
  const { page, operator } = await operatorAt('/dashboard/settings')
  await page.getByLabel('Display name').fill('Grace')
  const account = page.getByRole('region', { name: 'Account' })
  await account.getByRole('button', { name: 'Save' }).click()
  await account.getByText('Saved').waitFor()
  await page.getByRole('button', { name: 'Account of Grace' }).waitFor()
  await page.getByLabel('E-mail notifications').click()
  const picture = await sharp({ create: { width: 20, height: 20, channels: 3, background: 'teal' } })
  await page.locator('input[type=file]').setInputFiles({
    name: 'me.png',
    mimeType: 'image/png',
    buffer: await picture.png().toBuffer(),
  })
  await waitFor(async () => {
    const { body } = await operator.get('/api/auth/profile')
    expect(body).toMatchObject({
      display_name: 'Grace',
      notification_preferences: { email: false, push: true },
    })
    expect(await page.getByAltText('Your picture').getAttribute('src')).toBe(body.avatar_url)
    expect(body.avatar_url).toContain('/media/avatars/')
  })
})

test.each(['light', 'dark'] as const)('a user chooses channels and quiet hours: %s', async (colorScheme) => {
  const { page, operator } = await operatorAt('/dashboard/settings', { colorScheme })
  const mail = page.getByRole('checkbox', { name: 'Money: E-mail' })
  expect(await mail.isChecked()).toBe(true)
  await mail.click() // the state changes with the request, not within the event, which `uncheck` expects
  await waitFor(async () => {
    const { body } = await operator.get('/api/notifications/settings')
    expect(body.matrix.money).toMatchObject({ in_app: true, mail: false })
  })
  const form = page.getByRole('form', { name: 'Quiet hours' })
  await form.getByRole('switch', { name: 'Quiet hours' }).click()
  await form.getByLabel('Start').fill('21:30')
  await form.getByRole('checkbox', { name: 'Sunday' }).uncheck()
  await form.getByRole('switch', { name: 'Remote stops and lost robots pass' }).click()
  expect(await seriousIssues(page)).toEqual([])
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Saved').waitFor()

  await page.reload()
  await form.getByLabel('Start').waitFor()
  expect(await form.getByLabel('Start').inputValue()).toBe('21:30')
  expect(await form.getByRole('checkbox', { name: 'Sunday' }).isChecked()).toBe(false)
  expect(await form.getByRole('switch', { name: 'Remote stops and lost robots pass' }).isChecked()).toBe(
    false,
  )
  expect(await page.getByRole('checkbox', { name: 'Money: E-mail' }).isChecked()).toBe(false)
  const { body } = await operator.get('/api/notifications/settings')
  expect(body.quiet_hours).toMatchObject({ start: '21:30', end: '07:00', days: [1, 2, 3, 4, 5, 6] })
})

test('an API key is shown once, works, and stops working after revocation', async () => {
  const { page, operator } = await operatorAt('/dashboard/settings')
  await page.getByRole('button', { name: 'Create API key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('laboratory')
  expect(await seriousIssues(page), 'the dialog').toEqual([])
  await dialog.getByRole('button', { name: 'Create' }).click()
  const key = (await dialog.locator('pre').textContent()) ?? ''
  const status = async () => (await operator.request('GET', '/api/operator/profile', undefined, key)).status
  expect(await status()).toBe(200)

  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await page.content()).not.toContain(key)
  const row = page.getByRole('row', { name: /laboratory/ })
  await waitFor(async () => {
    const { api_keys: apiKeys } = (await operator.get('/api/auth/api-keys')).body
    expect(apiKeys).toMatchObject([{ last_used_at: expect.any(String) }])
  })
  await page.reload()
  await row.getByText(/^just now$|^\d+ minutes? ago$/).waitFor()
  await row.getByRole('button', { name: 'Revoke laboratory' }).click()
  expect(await status()).toBe(200)
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await row.getByText('Revoked').waitFor()
  expect(await status()).toBe(401)
})

test('an expired session is renewed in a second window, and the pending form is saved', async () => {
  const { context, page, operator, email } = await operatorAt('/dashboard/settings')
  await page.getByLabel('Headline').fill('Typed before the session ended')
  await context.clearCookies({ name: '__session' })
  await page.getByRole('region', { name: 'Operator profile' }).getByRole('button', { name: 'Save' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.waitFor()
  expect(await seriousIssues(page)).toEqual([])
  const [second] = await Promise.all([
    context.waitForEvent('page'),
    dialog.getByRole('button', { name: 'Sign in again' }).click(),
  ])
  const closed = second.waitForEvent('close')
  await chooseAccount(second, email)
  await closed

  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('region', { name: 'Operator profile' }).getByText('Saved').waitFor()
  expect(await page.getByLabel('Headline').inputValue()).toBe('Typed before the session ended')
  const { body } = await operator.get('/api/operator/profile')
  expect(body.headline).toBe('Typed before the session ended')
})

test('a different user who signs in gets a fresh page, and the pending form is not saved', async () => {
  const { context, page, email } = await operatorAt('/dashboard/settings')
  const secondUser = await world.operator()
  await secondUser.post('/api/operator/profile', { headline: 'Mine', timezone: 'Europe/Berlin' })
  await page.getByLabel('Headline').fill(`Typed by ${email}`)
  await context.clearCookies()
  await page.getByRole('region', { name: 'Operator profile' }).getByRole('button', { name: 'Save' }).click()
  const [second] = await Promise.all([
    context.waitForEvent('page'),
    page.getByRole('button', { name: 'Sign in again' }).click(),
  ])
  await chooseAccount(second, `${secondUser.name}@test.local`)

  await page.getByRole('button', { name: `Account of ${secondUser.name}` }).waitFor()
  expect(await page.getByLabel('Headline').inputValue()).toBe('Mine')
  expect((await secondUser.get('/api/operator/profile')).body.headline).toBe('Mine')
})

test('scripts cannot read the session cookie, and the page has no inline scripts', async () => {
  const { context, page } = await operatorAt('/dashboard')
  await page.getByRole('status').getByText('Connected', { exact: true }).waitFor()
  const session = (await context.cookies()).find(({ name }) => name === '__session')
  expect(session).toMatchObject({ httpOnly: true })
  const readable = await page.evaluate(
    'JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])',
  )
  expect(readable).not.toContain('__session')
  expect(readable).not.toMatch(/eyJ[\w-]+\./) // the prefix of every JWT

  const answer = await page.goto(`${world.baseUrl}/dashboard`)
  const policy = answer?.headers()['content-security-policy'] ?? ''
  expect(policy).toMatch(/(^|; )script-src 'self'(;|$)/)
  expect(policy).toMatch(/(^|; )default-src 'none'(;|$)/)
  expect(policy).toContain("frame-ancestors 'none'")
  expect(await page.locator('script:not([src])').count()).toBe(0)
})

test('notifications arrive live, are counted and can be marked as read', async () => {
  const { page, operator } = await operatorAt('/dashboard')
  await page.getByRole('status').getByText('Connected', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Notifications', exact: true }).click()
  const drawer = page.getByRole('dialog', { name: 'Notifications' })
  await drawer.getByText('No notifications yet').waitFor() // what the loaded list contains does not pop up
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'hidden' })
  const admin = await world.admin()
  const { id } = (await operator.post('/api/operator/certifications', { robot_type: 'testbot' })).body
  expect((await admin.post(`/api/admin/certifications/${id}/approve`)).status).toBe(200)

  await page.getByRole('alert').getByText('You are certified').waitFor()
  await page.getByRole('button', { name: 'Notifications, 1 unread' }).click()
  await drawer.getByText('You are certified').waitFor()
  await drawer.getByRole('button', { name: 'Mark all as read' }).click()
  await drawer.getByRole('button', { name: 'Mark all as read' }).waitFor({ state: 'hidden' })
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
})

test('the page shows when the network is down and up', async () => {
  const { context, page } = await operatorAt('/dashboard')
  const status = page.getByRole('status')
  await status.getByText('Connected', { exact: true }).waitFor()
  await context.setOffline(true)
  await status.getByText('Offline').waitFor()
  await context.setOffline(false)
  await status.getByText('Connected', { exact: true }).waitFor()
})

test('a keyboard user skips to the content, opens the account menu and signs out', async () => {
  const { page, context } = await operatorAt('/dashboard')
  await heading(page, GREETING)
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.id')).toBe('main')

  await page.getByRole('button', { name: /^Account of/ }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Settings' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'Sign in' }).waitFor()
  expect((await context.cookies()).map(({ name }) => name)).not.toContain('__session')
})
