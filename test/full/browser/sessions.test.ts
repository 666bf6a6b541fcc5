import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { OperatorLink, SimulatedRobot, ticketsOf } from '../../../packages/sdk/index.ts'
import { forgiveSlowStops } from '../../support/browser/cockpit.ts'
import {
  type ConsoleBrowser,
  openConsole,
  type PageOptions,
  seriousIssues,
} from '../../support/browser/console.ts'
import { costsOf } from '../../support/browser/session-costs.ts'
import { connectTo } from '../../support/database/sql.ts'
import { createWebProxy } from '../../support/network/web-proxy.ts'
import type { TestUser } from '../../support/world/test-user.ts'
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

const emailOf = (user: TestUser) => `${user.name}@test.local`
const at = (user: TestUser, path: string, options: PageOptions = {}) =>
  browser.enter(user, `/dashboard${path}`, options)
const stopBar = (page: Page) => page.getByRole('region', { name: 'Remote stop' })
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Checks accessibility, with retries while the page is changing. */
const expectAccessible = (page: Page) => waitFor(async () => expect(await seriousIssues(page)).toEqual([]))

/** Creates an owner and an operator with complete accounts. */
async function createActors() {
  const [owner, operator] = [await world.client(), await world.operator()]
  await owner.patch('/api/client/profile', { company_name: 'Works', contact_email: emailOf(owner) })
  await operator.post('/api/operator/profile', { headline: 'Steady hands', timezone: 'Europe/Berlin' })
  return { owner, operator }
}

/** Connects a simulated robot. */
async function simulated({ id, token }: { id: string; token: string }) {
  const robot = new SimulatedRobot({ url: `${world.gatewayUrl}/robots/${id}/control`, token })
  await robot.start()
  return Object.assign(robot, { [Symbol.asyncDispose]: () => robot.close() })
}

/** Creates an owner, an operator, a simulated robot and an active session. */
async function fixture() {
  const { owner, operator } = await createActors()
  const registered = await world.robot(owner)
  const robot = await simulated(registered)
  const reply = await operator.post('/api/sessions', { robotId: registered.id })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  const sessionId = reply.body.sessionId as string
  return {
    owner,
    operator,
    robot,
    sessionId,
    path: `/sessions/${sessionId}`,
    session: async () => (await owner.get(`/api/sessions/${sessionId}`)).body,
    async [Symbol.asyncDispose]() {
      await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
      await robot.close()
    },
  }
}

/** Drives in circles until disposed. */
async function driving(operator: TestUser, sessionId: string) {
  const { token } = operator
  const getTicket = ticketsOf({ baseUrl: world.baseUrl, token, sessionId, part: 'control' })
  const link = new OperatorLink({ getTicket })
  await link.connect()
  const timer = setInterval(() => link.control({ linear_mps: 0.2, angular_radps: 1 }), 50)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await link.close()
    },
  }
}

const isHalted = ({ state }: SimulatedRobot) => state.leftMps === 0 && state.rightMps === 0
const isMoving = (robot: SimulatedRobot) => waitFor(() => expect(isHalted(robot)).toBe(false))
const expectHalted = (robot: SimulatedRobot) => waitFor(() => expect(isHalted(robot)).toBe(true))
const plate = (page: Page) => region(page, 'Stop in force')

/** The tabs of an open session that contain these regions. */
const tabs: Readonly<Record<string, RegExp>> = {
  'Event log': /^Log$/,
  Extension: /^(Cost|Earnings)$/,
  Telemetry: /^Values$/,
  Chat: /^Chat$/,
}
async function openTab(page: Page, name: string) {
  // A page that is still loading has a heading too, and no tabs.
  await page.getByRole('heading', { level: 1, name: /^Session on / }).waitFor()
  const tab = page.getByRole('tab', { name: tabs[name] ?? name })
  if ((await tab.count()) > 0) await tab.click()
}
async function expectText(page: Page, name: string, text: string | RegExp) {
  await openTab(page, name)
  await region(page, name).getByText(text).first().waitFor()
}

/** Returns the chat messages in order. */
const chat = async (page: Page) =>
  await page.getByRole('log', { name: 'Chat' }).locator('[data-message] > :first-child').allTextContents()
async function write(page: Page, text: string) {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.keyboard.press('Enter')
}

test('a session from watching to rating: stops, resumes, extensions, end and summary', async () => {
  await using sessionFixture = await fixture()
  const { owner, operator, robot, sessionId, path } = sessionFixture
  const { page: watch } = await at(owner, path)
  const { page: drive } = await at(operator, path)
  {
    await using _driver = await driving(operator, sessionId)
    await isMoving(robot)
    await openTab(watch, 'Telemetry')
    const telemetry = region(watch, 'Telemetry')
    const before = await telemetry.innerText()
    await waitFor(async () => expect(await telemetry.locator('dl').innerText()).toMatch(/\d/))
    await waitFor(async () => expect(await telemetry.innerText()).not.toBe(before))
    await openTab(watch, 'Extension')
    await watch.getByText(/\d+ started minutes? at/).waitFor()
    await watch.getByText(/^you \d+ ms, operator \d+ ms/).waitFor()
    await expectAccessible(watch)
    await expectAccessible(drive)

    await openTab(watch, 'Chat')
    await waitFor(async () => {
      await drive.getByLabel('Message', { exact: true }).press('H')
      expect(await watch.getByText(`${operator.name} is typing…`).isVisible()).toBe(true)
    })
    await write(drive, 'Hello')
    await write(watch, 'Careful with the vase')
    for (const page of [watch, drive]) {
      await waitFor(async () => expect((await chat(page)).sort()).toEqual(['Careful with the vase', 'Hello']))
    }

    await button(watch, 'Pause').click()
    await expectText(drive, 'Event log', 'The owner paused the session')
    await expectHalted(robot)
    await button(drive, 'Resume').click()
    await button(watch, 'Pause').waitFor()
    await isMoving(robot)

    await button(watch, 'Stop the robot').click()
    await expectHalted(robot)
    await plate(drive)
      .getByText(/^The owner stopped the robot, .*: remote stop\.$/)
      .waitFor()
    // The stop waited for nothing. Now the owner says why.
    await button(watch, 'Person in the way').click()
    for (const page of [watch, drive]) {
      await plate(page)
        .getByText(/wrote: Stopped: Person in the way\.$/)
        .waitFor()
    }
    expect(await button(drive, 'Resume').isDisabled()).toBe(true)
    await button(watch, 'Clear stop').click()
    const dialog = watch.getByRole('dialog')
    await dialog.getByText(/^You stopped the robot/).waitFor()
    await expectAccessible(watch)
    await dialog.getByRole('button', { name: 'Clear stop' }).click()
    await expectText(drive, 'Event log', 'The owner cleared the stop')
    expect(await sessionFixture.session()).toMatchObject({ status: 'PAUSED', control: { stop: null } })
    expect(isHalted(robot)).toBe(true)
    await button(drive, 'Resume').click()
    await isMoving(robot)

    // Escape stops the robot even while the user is typing.
    await openTab(watch, 'Chat')
    await watch.getByLabel('Message', { exact: true }).fill('wait')
    await watch.keyboard.press('Escape')
    await expectHalted(robot)
    await waitFor(async () => expect((await sessionFixture.session()).control.stop).not.toBeNull())
    // Until the stop is confirmed, the page repeats it.
    await plate(watch)
      .getByText(/^You stopped the robot/)
      .waitFor()
    // Only the owner may clear this stop. The operator asks for it.
    await drive.getByRole('button', { name: /^Ask to clear/ }).click()
    await button(watch, 'Clear stop').click()
    await watch.getByRole('dialog').getByRole('button', { name: 'Clear stop' }).click()
    await button(drive, 'Resume').click()
    await isMoving(robot)
  }

  await openTab(watch, 'Extension')
  await watch.getByLabel('Extra minutes').fill('20')
  await button(watch, 'Request extension').click()
  await expectText(drive, 'Extension', 'The owner requests 20 more minutes.')
  await button(drive, 'Accept').click()
  await expectText(watch, 'Extension', '20 more minutes approved.')
  await watch.getByLabel('Extra minutes').fill('7')
  await button(watch, 'Request extension').click()
  await expectText(drive, 'Extension', 'The owner requests 7 more minutes.')
  await button(drive, 'Decline').click()
  await expectText(watch, 'Extension', '7 more minutes declined.')

  await button(watch, 'End').click()
  await watch.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
  for (const page of [watch, drive]) await page.getByRole('heading', { name: 'Summary' }).waitFor()
  const { minutes, charge, earnings } = costsOf((await operator.get(`/api/sessions/${sessionId}`)).body)
  await watch.getByRole('row', { name: `Charge ${charge}: ${minutes} min at €0.50`, exact: true }).waitFor()
  await watch.getByRole('row', { name: /^Commands \d+ delivered/ }).waitFor()
  await drive.getByRole('row', { name: `Your earnings ${earnings}, pending until` }).waitFor()
  expect(await drive.getByRole('form', { name: 'Rate this session' }).count()).toBe(0)

  await expectAccessible(watch)
  await watch.getByRole('radio', { name: '3 stars' }).focus()
  await watch.keyboard.press('Space')
  await watch.keyboard.press('ArrowRight')
  await watch.getByLabel('Comment').fill('Steady')
  await button(watch, 'Submit rating').click()
  await watch.getByRole('img', { name: 'Rated 4 stars' }).waitFor()
  expect(await watch.getByRole('form', { name: 'Rate this session' }).count()).toBe(0)
  await drive.getByRole('img', { name: 'Rated 4 stars' }).waitFor()
  expect(await sessionFixture.session()).toMatchObject({ rating: 4, rating_comment: 'Steady' })
  await drive.getByText('The owner rated the session 4 of 5 stars').waitFor()

  // The log has no gaps.
  const numbers = await watch
    .locator('[data-seq]')
    .evaluateAll((rows) => rows.map((row) => Number(row.dataset.seq)))
  expect(numbers).toEqual(numbers.map((_, index) => numbers.length - index))
})

test('network outages in either or both browsers do not lose, duplicate or reorder messages', async () => {
  await using sessionFixture = await fixture()
  const { owner, operator, path } = sessionFixture
  /** Opens the page behind a proxy that can cut the network. */
  const side = async (user: TestUser) => {
    const proxy = await createWebProxy()
    const { page, context } = await at(user, path, { proxy: { server: proxy.server } })
    const leave = async () => {
      await context.close()
      await proxy[Symbol.asyncDispose]()
    }
    return { proxy, page, sent: [] as string[], [Symbol.asyncDispose]: leave }
  }
  await using first = await side(owner)
  await using second = await side(operator)
  const sides = [first, second]
  const sendMessage = async ({ page, sent }: Pick<typeof first, 'page' | 'sent'>, text: string) => {
    sent.push(text)
    await write(page, text)
  }
  await sendMessage(first, 'one')
  await waitFor(async () => expect(await chat(second.page)).toEqual(first.sent))

  for (const [round, cut] of Object.entries({ owner: [first], operator: [second], both: sides })) {
    for (const { proxy, page } of cut) {
      proxy.cut()
      await page.getByText('Reconnecting', { exact: true }).waitFor()
    }
    for (const which of ['a', 'b', 'c']) {
      await sendMessage(first, `${round} away, the owner ${which}`)
      await sendMessage(second, `${round} away, the operator ${which}`)
    }
    for (const { page } of cut) await page.getByText('Sending…').nth(2).waitFor()
    for (const { proxy } of cut) proxy.restore()
    for (const { page } of cut) {
      await page.getByRole('status').getByText('Live', { exact: true }).waitFor()
      await page.getByText('Sending…').first().waitFor({ state: 'detached' })
    }
  }
  await waitFor(async () => {
    const [here, there] = [await chat(first.page), await chat(second.page)]
    expect(here).toEqual(there)
    for (const { sent } of sides) expect(here.filter((text) => sent.includes(text))).toEqual(sent)
    expect(here).toHaveLength(first.sent.length + second.sent.length)
  })
})

test('a stop requested without a network is sent once the network is back', async () => {
  await using sessionFixture = await fixture()
  const { owner, operator, robot, sessionId, path } = sessionFixture
  await using proxy = await createWebProxy()
  await using _driver = await driving(operator, sessionId)
  const { page } = await at(owner, path, { proxy: { server: proxy.server } })
  await openTab(page, 'Extension')
  await page.getByText(/^you \d+ ms/).waitFor()
  proxy.cut()
  await page.getByText('Reconnecting', { exact: true }).waitFor()
  await button(page, 'Stop the robot').click()
  await region(page, 'Remote stop')
    .getByText(/not sent\. No connection/)
    .waitFor()
  expect((await sessionFixture.session()).control.stop).toBeNull()
  proxy.restore()
  await expectHalted(robot)
  await plate(page)
    .getByText(/^You stopped the robot/)
    .waitFor()

  // The stop was delivered once, so a cleared stop does not return.
  await owner.patch(`/api/sessions/${sessionId}`, { action: 'clear_stop' })
  await operator.patch(`/api/sessions/${sessionId}`, { action: 'resume' })
  await expectText(page, 'Event log', /resumed the session/)
  await isMoving(robot)
  const log = (await owner.get(`/api/sessions/${sessionId}/events`)).body.events as { type: string }[]
  expect(log.filter(({ type }) => type === 'session.stopped')).toHaveLength(1)
})

/** Inserts past sessions, one per minute, newest first. Every third one is CANCELLED. */
async function seed(
  { owner, operator }: { owner: TestUser; operator: TestUser },
  robotId: string,
  count: number,
) {
  await using database = await connectTo(world.database.url)
  await database.query('set session_replication_role = replica')
  await database.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, created_at,
       client_charge_cents, operator_earnings_cents,
       recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     select gen_random_uuid(), $1, $2, $3, case when n % 3 = 0 then 'CANCELLED' else 'COMPLETED' end,
       at, at + interval '90 s', at, 100, 70, robots.name, robots.robot_type, operators.display_name, 'Owner'
     from robots, users as operators, (select n, '2026-03-01T12:00:00Z'::timestamptz - n * interval '1 min' as at from generate_series(0, $4 - 1) n) rows
     where robots.id = $1 and operators.id = $2`,
    [robotId, operator.id, owner.id, count],
  )
}

test('Escape closes the menu that has the focus, and otherwise stops, also while a menu is open', async () => {
  await using sessionFixture = await fixture()
  const { owner, robot, path } = sessionFixture
  const { page } = await at(owner, path)
  await stopBar(page).waitFor()
  const account = page.getByRole('button', { name: /^Account of/ })
  const menu = page.getByRole('menu')
  await account.click()
  await page.getByRole('menuitem').first().focus()
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'hidden' })
  expect((await sessionFixture.session()).control.stop).toBeNull()
  await account.click()
  await menu.waitFor()
  // As a dialog does that opens by itself.
  await page.getByLabel('Message', { exact: true }).focus()
  await page.keyboard.press('Escape')
  await plate(page)
    .getByText(/^You stopped the robot/)
    .waitFor()
  expect(isHalted(robot)).toBe(true)
})

test('the session list filters, counts, exports the filtered sessions and updates live', async () => {
  const actors = await createActors()
  const { owner, operator } = actors
  const [first, second] = [
    await world.robot(owner, { name: 'First' }),
    await world.robot(owner, { name: 'Second' }),
  ]
  await seed(actors, first.id, 130)
  await seed(actors, second.id, 4)
  const { page } = await at(owner, '/sessions')
  const rows = page.locator('[data-session]')
  const shown = (count: number) => waitFor(async () => expect(await rows.count()).toBe(count))
  const status = (name: string) =>
    page.getByRole('group', { name: 'Status' }).getByRole('button', { name: new RegExp(`^${name}`) })
  await status('Completed').getByText('88').waitFor()
  await status('Cancelled').getByText('46').waitFor()
  await expectAccessible(page)

  await status('Cancelled').click()
  await page.getByText('46 in total').waitFor()
  await page.getByRole('combobox', { name: 'Robot' }).fill('sec')
  await page.getByRole('option', { name: 'Second' }).click()
  await shown(2)
  await page.reload()
  await shown(2)
  expect(await page.getByRole('combobox', { name: 'Robot' }).inputValue()).toBe('Second')
  expect(new URL(page.url()).search).toContain('status=CANCELLED')
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Export JSON').click()])
  const { sessions } = JSON.parse(await readFile(await download.path(), 'utf8'))
  expect(sessions).toHaveLength(2)
  await page.getByText(/^Saved, /).waitFor()
  await page.getByLabel('Created from').fill('2026-03-02')
  await page.getByText('No matching sessions').waitFor()
  await button(page, 'Show all').click()
  await page.getByLabel('Search').fill('first')
  await status('Completed').getByText('86').waitFor()
  await page.getByLabel('Search').fill('')
  await status('Completed').getByText('88').waitFor()

  await using _robot = await simulated(first)
  const plan = async (hoursAhead: number) => {
    const scheduledFor = new Date(Date.now() + hoursAhead * 3_600_000).toISOString()
    return (await operator.post('/api/sessions', { robotId: first.id, scheduledFor })).body.sessionId
  }
  const [started, cancelled] = [await plan(1), await plan(2)]
  const row = (id: string) => page.locator(`[data-session="${id}"]`)
  await row(started)
    .getByText(/^Scheduled for/)
    .waitFor()
  await row(cancelled).getByRole('button', { name: 'Cancel: First' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel session' }).click()
  await row(cancelled).getByText('Cancelled', { exact: true }).waitFor()
  const { page: operatorPage } = await at(operator, '/sessions?status=PENDING')
  await operatorPage.getByRole('button', { name: 'Start now: First' }).click()
  await operatorPage.getByText('No matching sessions').waitFor()
  await row(started).getByText('Active', { exact: true }).waitFor()
  await row(started).getByRole('link', { name: 'Watch' }).waitFor()
  await operatorPage.goto(`${world.baseUrl}/dashboard/sessions`)
  await operatorPage.getByRole('link', { name: 'Drive' }).waitFor()
  await operator.patch(`/api/sessions/${started}`, { action: 'pause' })
  await row(started).getByText('Paused', { exact: true }).waitFor()
  await operator.patch(`/api/sessions/${started}`, { action: 'end' })
  await row(started).getByText('Completed', { exact: true }).waitFor()
})

test('the event log groups entries of several days by day', async () => {
  await using sessionFixture = await fixture()
  const { owner, sessionId, path } = sessionFixture
  await owner.post(`/api/sessions/${sessionId}/messages`, { body: 'Good morning' })
  const { page } = await at(owner, path)
  await openTab(page, 'Event log')
  const entries = async () =>
    (await region(page, 'Event log').locator('li').allInnerTexts()).map((text) =>
      text.replaceAll(/\s+/g, ' '),
    )
  await waitFor(async () => expect(await entries()).toHaveLength(2))

  await using database = await connectTo(world.database.url)
  await database.query('set session_replication_role = replica')
  await database.query(
    `update session_events set at = at - interval '1 day' where session_id = $1 and seq = 1`,
    [sessionId],
  )
  await page.reload()
  await openTab(page, 'Event log')
  const day = (ageDays: number) =>
    new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' }).format(
      Date.now() - ageDays * 86_400_000,
    )
  await waitFor(async () => {
    const [today, message, yesterday, start] = await entries()
    expect([today, yesterday]).toEqual([expect.stringContaining(day(0)), expect.stringContaining(day(1))])
    expect([message, start]).toEqual([expect.stringMatching(/^2 · /), expect.stringMatching(/^1 · /)])
  })
})

test('e-mails and notifications link to the session, which other users cannot open', async () => {
  await using sessionFixture = await fixture()
  const { owner, sessionId, path } = sessionFixture
  const { page } = await at(owner, `?session=${sessionId}`)
  await page.getByRole('heading', { name: /^Session on Robot/ }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/dashboard${path}`)
  await page.goto(`${world.baseUrl}/dashboard`)
  await page.getByRole('button', { name: /^Notifications, \d+ unread$/ }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'A session has started' }).click()
  await page.getByRole('heading', { name: /^Session on Robot/ }).waitFor()

  const { page: unrelatedPage } = await at((await createActors()).owner, path)
  await unrelatedPage.getByText('Session not found').waitFor()
  await expectAccessible(unrelatedPage)
})

test.each(['light', 'dark'] as const)(
  'watching and stopping work on a phone in %s mode',
  async (colorScheme) => {
    await using sessionFixture = await fixture()
    const { owner, robot, path } = sessionFixture
    const { page } = await at(owner, path, { colorScheme, viewport: { width: 360, height: 640 } })
    const fits = async () => {
      const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
      expect(overflow).toBeLessThanOrEqual(0)
      await expectAccessible(page)
    }
    await region(page, 'The session so far').waitFor()
    await fits()
    await button(page, 'More').click()
    await page.getByRole('dialog').waitFor()
    await expectAccessible(page)
    // Escape would stop the robot.
    await button(page, 'Close').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    // Status, video and stop are visible without scrolling.
    const above = [region(page, 'Status'), page.getByRole('region', { name: /^Camera of/ }), stopBar(page)]
    const boxes = await Promise.all(above.map((part) => part.boundingBox()))
    const edges = boxes.flatMap((item) => [item?.y ?? -1, (item?.y ?? 0) + (item?.height ?? 0)])
    expect(edges).toEqual(edges.toSorted((a, b) => a - b))
    await page.evaluate('window.scrollTo(0, document.body.scrollHeight)')
    const stop = button(page, 'Stop the robot')
    const box = await stop.boundingBox()
    expect(box && box.y + box.height).toBeLessThanOrEqual(640)
    // The stop also works over an open dialog.
    await button(page, 'End').click()
    await page.getByRole('dialog').waitFor()
    await page.mouse.click((box?.x ?? 0) + 20, (box?.y ?? 0) + 20)
    await page.keyboard.press('Escape')
    await plate(page)
      .getByText(/^You stopped the robot/)
      .waitFor()
    expect(isHalted(robot)).toBe(true)
    await fits()
    await page.goto(`${world.baseUrl}/dashboard/sessions`)
    await page.getByRole('link', { name: 'Watch' }).waitFor()
    await fits()
  },
)
