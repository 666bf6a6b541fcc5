import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  forgiveSlowStops,
  leaveCockpit,
  openCockpit,
  waitUntilDriving,
} from '../../support/browser/cockpit.ts'
import { type ConsoleBrowser, openConsole, seriousIssues } from '../../support/browser/console.ts'
import { fieldFocusedBy } from '../../support/browser/keyboard.ts'
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
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

test('Escape in the chat stops the robot and leaves the field', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const field = page.getByRole('textbox', { name: 'Message' })
  await page.keyboard.press('Enter')
  await field.focus()
  await page.keyboard.type('Mind the c')
  await page.keyboard.press('Escape')
  await page
    .getByTestId('stop-banner')
    .getByText(/^You stopped/)
    .waitFor()
  expect(await field.evaluate((it) => it === it.ownerDocument.activeElement)).toBe(false)
  expect(await field.inputValue()).toBe('Mind the c')
  await waitFor(async () => expect((await fixture.read()).control.stop?.by).toBe(fixture.operator.id))
})

test.each([
  ['Space with a modifier', 'Control+Space'],
  ['Escape with a modifier', 'Alt+Escape'],
])('%s stops the robot', async (_name, keys) => {
  await using fixture = await openCockpit(world, browser)
  await fixture.page.keyboard.press(keys)
  await fixture.page
    .getByTestId('stop-banner')
    .getByText(/^You stopped/)
    .waitFor()
})

test('Escape that closes a list of choices does not stop', async () => {
  const control_schema = {
    type: 'object',
    properties: { mode: { type: 'string', enum: ['fast', 'slow'], title: 'Mode' } },
    additionalProperties: false,
  }
  await using fixture = await openCockpit(world, browser, { settings: { control_schema } })
  const { page } = fixture
  await page.getByRole('combobox', { name: 'Mode' }).click()
  await page.getByRole('option', { name: 'slow' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('option', { name: 'slow' }).waitFor({ state: 'hidden' })
  expect((await fixture.read()).control.stop).toBeNull()
  await page.keyboard.press('Escape')
  await waitFor(async () => expect((await fixture.read()).control.stop?.by).toBe(fixture.operator.id))
})

test('a stop without a reason is shown in words, with who can clear it', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, owner, sessionId } = fixture
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'emergency_stop' })
  const banner = page.getByTestId('stop-banner')
  await banner.getByText('Stopped by the owner').waitFor()
  await banner.getByText(/remote stop\. Only the owner or an admin can clear this stop\./).waitFor()
  await banner.locator('time').first().waitFor()
  await page.getByRole('region', { name: 'Status' }).getByText('Stopped', { exact: true }).waitFor()
  expect(await rawTexts(page)).toEqual([])
})

test('the pause of an operator who was away gives way to the stop that is in force', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, owner, sessionId, path } = fixture
  await page.goto('about:blank')
  await waitFor(async () =>
    expect(await fixture.read()).toMatchObject({ status: 'PAUSED', pause_reason: 'operator_lost' }),
  )
  await page.goto(world.baseUrl + path)
  await page.getByText('Resume when you are ready.').waitFor()
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'emergency_stop', reason: 'cat' })
  await page.getByTestId('stop-banner').getByText('Stopped by the owner').waitFor()
  await page.getByText('Resume when you are ready.').waitFor({ state: 'detached' })
  expect(await page.getByText('the operator lost the connection').count()).toBe(0)
})

test('the last message stays in view, and quick replies need no typing', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, owner, sessionId } = fixture
  const last = page.getByTestId('chat-last')
  await owner.post(`/api/sessions/${sessionId}/messages`, { body: 'Mind the cat' })
  await last.getByText(/Mind the cat$/).waitFor()
  await page.keyboard.press('l')
  await page.getByRole('button', { name: 'Is the way clear?' }).click()
  await page.getByRole('log', { name: 'Chat' }).getByText('Is the way clear?').waitFor()
  await page.keyboard.press('l')
  await page.getByRole('textbox', { name: 'Message' }).waitFor({ state: 'detached' })
  await owner.post(`/api/sessions/${sessionId}/messages`, { body: 'It is' })
  await last.getByText(/It is$/).waitFor()
  await page.evaluate('document.activeElement.blur()')
  // A letter that follows at once is text, and does not drive.
  expect(await fieldFocusedBy(page, 'Enter')).toBe('Message')
  await page.keyboard.type('Thank you')
  await page.keyboard.press('Enter')
  // The dock was opened for this message, and the next key drives.
  await page.getByRole('textbox', { name: 'Message' }).waitFor({ state: 'detached' })
  await page.keyboard.press('l')
  await page.getByRole('log', { name: 'Chat' }).getByText('Thank you').waitFor()
})

test('the clock shows the planned end and warns before it; earnings follow the share of the operator', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, owner, operator, sessionId } = fixture
  const clock = page.getByTestId('session-clock')
  await clock.getByText(/^\d:\d\d$/).waitFor()
  expect(await clock.getAttribute('data-level')).toBe('good')
  const extend = async (additionalMinutes: number) => {
    await owner.post(`/api/sessions/${sessionId}/extend`, { additionalMinutes })
    await page.getByTestId('call').getByRole('button', { name: 'Accept' }).click()
    await page.getByTestId('call').waitFor({ state: 'detached' })
    await clock.getByText(`/ ${(await fixture.read()).planned_minutes}:00`).waitFor()
  }
  await extend(3)
  await waitFor(async () => expect(await clock.getAttribute('data-level')).toBe('fair'))
  expect(await clock.getAttribute('title')).toMatch(/^Planned end at \d/)
  await extend(30)
  await waitFor(async () => expect(await clock.getAttribute('data-level')).toBe('good'))
  const { operator_share_percent: share, rate_cents_per_minute: rate } = (
    await operator.get(`/api/sessions/${sessionId}`)
  ).body
  expect(await page.getByTestId('earnings').innerText()).toContain(((rate * share) / 10_000).toFixed(2))
  expect(await seriousIssues(page)).toEqual([])
})

test('notifications of other matters pass in one line, and none covers an instrument', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page, owner, operator, sessionId } = fixture
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'emergency_stop', reason: 'cat' })
  await page.getByTestId('stop-banner').getByText('Stopped by the owner').waitFor()
  const { id } = (await operator.post('/api/operator/certifications', { robot_type: 'crane' })).body
  const approved = await (await world.admin()).post(`/api/admin/certifications/${id}/approve`)
  expect(approved.status, JSON.stringify(approved.body)).toBe(200)
  await page.getByTestId('ticker').getByText(/crane/).waitFor()
  expect(await page.getByTestId('ticker').innerText()).not.toMatch(/stop/i)
  expect(await page.locator('.mantine-Notification-root').count()).toBe(0)
})

test('leaving asks while the robot can be driven, and every other page leads back', async () => {
  await using fixture = await openCockpit(world, browser, { robot: { name: 'Ronja' } })
  const { page, path } = fixture
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await page.getByRole('link', { name: 'Leave cockpit' }).click()
  await page.getByRole('dialog').getByText('Stop driving Ronja?').waitFor()
  await fixture.expectHalted()
  await page.keyboard.up('ArrowUp')
  await page.getByRole('dialog').getByRole('button', { name: 'Keep driving' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe(path)
  await page.keyboard.down('ArrowUp')
  await fixture.expectMoving()
  await page.keyboard.up('ArrowUp')
  await leaveCockpit(page)
  const bar = page.getByTestId('driving-bar')
  await bar.getByText(/^You are driving Ronja · \d:\d\d$/).waitFor()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor()
  expect(await seriousIssues(page)).toEqual([])
  await bar.getByRole('link', { name: 'Return' }).click()
  await page.waitForURL(`**${path}`)
  await page.getByTestId('stop').waitFor()
})

test('the screen stays on while the session is active, and full screen that ends with Escape stops the robot', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  await page.evaluate(`
    window.locks = { held: 0 }
    Object.defineProperty(navigator, 'wakeLock', { value: { request: async () => {
      window.locks.held++
      return { released: false, release: async () => { window.locks.held-- } }
    } } })`)
  const held = () => page.evaluate('window.locks.held')
  await page.keyboard.press('p')
  await page.getByText('Resume when you are ready.').waitFor()
  await page.keyboard.press('r')
  await waitUntilDriving(page)
  await waitFor(async () => expect(await held()).toBe(1))
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

  const isFull = () => page.evaluate('document.fullscreenElement !== null')
  await page.keyboard.press('f')
  await waitFor(async () => expect(await isFull()).toBe(true))
  await page.keyboard.press('f')
  await waitFor(async () => expect(await isFull()).toBe(false))
  expect((await fixture.read()).control.stop).toBeNull()
  await page.keyboard.press('f')
  await waitFor(async () => expect(await isFull()).toBe(true))
  // Browsers that do not pass Escape to the page do the same.
  await page.evaluate('document.exitFullscreen()')
  await page
    .getByTestId('stop-banner')
    .getByText(/^You stopped/)
    .waitFor()
  await waitFor(async () => expect(await held()).toBe(0))
})
