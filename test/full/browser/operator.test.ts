import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { SimulatedRobot } from '../../../packages/sdk/index.ts'
import { post } from '../../../src/modules/billing/ledger.ts'
import {
  type ConsoleBrowser,
  openConsole,
  type PageOptions,
  seriousIssues,
} from '../../support/browser/console.ts'
import { type FakeStripe, startStripe } from '../../support/stripe/server.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const DAY_MS = 86_400_000

let stripe: FakeStripe
let world: World
let browser: ConsoleBrowser
let admin: TestUser
let owner: TestUser
const robots: SimulatedRobot[] = []

beforeAll(async () => {
  stripe = await startStripe()
  world = await createWorld({ env: stripe.env })
  browser = await openConsole(world.baseUrl)
  admin = await world.admin()
  owner = await world.client()
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  for (const robot of robots) await robot.close()
  await world?.[Symbol.asyncDispose]()
  await stripe?.[Symbol.asyncDispose]()
})

/** Creates an operator who is certified for some types. */
async function createOperator(...types: string[]) {
  const operator = await world.operator()
  await operator.post('/api/operator/profile', { headline: 'Steady hands', timezone: 'Europe/Berlin' })
  for (const robot_type of types) {
    const { id } = (await operator.post('/api/operator/certifications', { robot_type })).body
    expect((await admin.post(`/api/admin/certifications/${id}/approve`)).status).toBe(200)
  }
  return operator
}

async function operatorAt(path: string, types: string[] = [], options: PageOptions = {}) {
  const operator = await createOperator(...types)
  const { page, context } = await browser.enter(operator, path, options)
  return { operator, page, context }
}

/** Registers a robot and returns a function that connects it. */
async function newRobot(name: string, robot_type: string) {
  const { id, token } = await world.robot(owner, { name, robot_type, require_certification: true })
  return {
    id,
    async connect() {
      const robot = new SimulatedRobot({ url: `${world.gatewayUrl}/robots/${id}/control`, token })
      robots.push(robot)
      await robot.start()
      return robot
    },
  }
}

async function onlineRobot(name: string, robot_type: string) {
  const robot = await newRobot(name, robot_type)
  await robot.connect()
  return robot
}

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name }).first().waitFor()
const rowOf = (page: Page, name: string) =>
  page.getByTestId('robot-row').filter({ has: page.getByText(name, { exact: true }) })
const sessionsOf = async (user: TestUser) =>
  (await user.get('/api/sessions')).body.sessions as { id: string; status: string; robot_name: string }[]
/** Lets the page drive a robot at once, as after an earlier drive with it. */
const passChecks = (page: Page, { id }: { id: string }) =>
  page.evaluate(`localStorage.setItem('wheelhouse-preflight:${id}', '1')`)
const sidewaysOverflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - window.innerWidth')

async function expectAccessible(page: Page, what: string) {
  expect(await seriousIssues(page), what).toEqual([])
  expect(await sidewaysOverflow(page), what).toBeLessThanOrEqual(0)
}

describe('available robots', () => {
  test('appear and disappear live, and can be filtered by type', async () => {
    const { page } = await operatorAt('/dashboard/available', ['coming', 'staying'])
    await page.getByText('No robots available').waitFor()
    await onlineRobot('Stayer', 'staying')
    const robot = await newRobot('Comer', 'coming')
    const connection = await robot.connect()
    const row = rowOf(page, 'Comer')
    await row.getByText('Ready', { exact: true }).waitFor()
    const types = page.getByRole('group', { name: 'Type' })
    await types.getByRole('button', { name: /^coming/ }).click()
    await rowOf(page, 'Stayer').waitFor({ state: 'hidden' })
    await page.getByText('1 in total', { exact: true }).waitFor()
    await types.getByRole('button', { name: /^coming/ }).click()
    await rowOf(page, 'Stayer').waitFor()

    await connection.close()
    await row.waitFor({ state: 'hidden' })
    await page.getByText('1 in total', { exact: true }).waitFor()
    await rowOf(page, 'Stayer')
      .getByText(/^\d+ ms$/)
      .waitFor()
    await rowOf(page, 'Stayer').getByText('€0.35/min').waitFor()
    await expectAccessible(page, 'the list')
  })

  test('the first drive with a robot leads through its checks; a robot that another operator drives stays listed', async () => {
    const { page, operator } = await operatorAt('/dashboard/available', ['looked-at'])
    const { id } = await onlineRobot('Looked at', 'looked-at')
    await page.getByRole('button', { name: 'Drive now: Looked at' }).click()
    await page.waitForURL(`**/dashboard/available/${id}`)
    expect(await sessionsOf(operator)).toEqual([])

    const rival = await createOperator('looked-at')
    const { sessionId } = (await rival.post('/api/sessions', { robotId: id })).body
    await page.goto(`${world.baseUrl}/dashboard/available`)
    await rowOf(page, 'Looked at').getByText('Driving', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Drive now: Looked at' }).isDisabled()).toBe(true)
    await rival.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    await rowOf(page, 'Looked at').getByText('Ready', { exact: true }).waitFor()
  })

  test('a double click starts one session and opens its cockpit', async () => {
    const { page, operator } = await operatorAt('/dashboard/available', ['double'])
    await passChecks(page, await onlineRobot('Double', 'double'))
    await page.getByText('your schedule has no hours yet').waitFor()
    await page.getByRole('button', { name: 'Drive now: Double' }).dblclick()
    await page.waitForURL('**/dashboard/drive/*')
    const sessions = await sessionsOf(operator)
    expect(sessions).toMatchObject([{ status: 'ACTIVE', robot_name: 'Double' }])
    expect(new URL(page.url()).pathname).toBe(`/dashboard/drive/${sessions[0]?.id}`)

    await page.goto(`${world.baseUrl}/dashboard/available`)
    const open = page.getByRole('region', { name: 'Your open session' })
    await open.getByText('Session on Double').waitFor()
    await page.getByText('You are not available while you are in a session').waitFor()
    await expectAccessible(page, 'with an open session')
    await open.getByRole('link', { name: 'Continue driving' }).click()
    await page.waitForURL(`**/dashboard/drive/${sessions[0]?.id}`)
    expect((await operator.patch(`/api/sessions/${sessions[0]?.id}`, { action: 'end' })).status).toBe(200)
  })

  test('a start whose response was lost is retried with the same key and leads to the same session', async () => {
    const { page, operator } = await operatorAt('/dashboard/available', ['lossy'])
    await passChecks(page, await onlineRobot('Lossy', 'lossy'))
    const usedKeys: (string | undefined)[] = []
    await page.route('**/api/sessions', async (route) => {
      usedKeys.push(route.request().headers()['idempotency-key'])
      const response = await route.fetch()
      await (usedKeys.length === 1 ? route.abort() : route.fulfill({ response }))
    })
    await page.getByRole('button', { name: 'Drive now: Lossy' }).click()
    await page.waitForURL('**/dashboard/drive/*')
    const sessions = await sessionsOf(operator)
    expect(sessions).toHaveLength(1)
    expect(new URL(page.url()).pathname).toBe(`/dashboard/drive/${sessions[0]?.id}`)
    expect(usedKeys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), usedKeys[0]])
    expect((await operator.patch(`/api/sessions/${sessions[0]?.id}`, { action: 'end' })).status).toBe(200)
  })

  test('a start shows an error when another operator was faster or a certification is missing', async () => {
    const { page, operator } = await operatorAt('/dashboard/available', ['wanted'])
    const { id } = await onlineRobot('Wanted', 'wanted')
    await passChecks(page, { id })
    const rival = await createOperator('wanted')
    const taken = Promise.withResolvers<string>()
    await page.route('**/api/sessions', async (route) => {
      taken.resolve((await rival.post('/api/sessions', { robotId: id })).body.sessionId)
      await taken.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'Drive now: Wanted' }).click()
    await page.getByText('Wanted could not be started').waitFor()
    await page.getByRole('alert').getByText('The robot is not available').waitFor()
    await rowOf(page, 'Wanted').getByText('Driving', { exact: true }).waitFor()
    expect(await sessionsOf(operator)).toEqual([])
    expect((await rival.patch(`/api/sessions/${await taken.promise}`, { action: 'end' })).status).toBe(200)

    // The list may still show a robot whose certification was just revoked.
    await page.unroute('**/api/sessions')
    await rowOf(page, 'Wanted').getByText('Ready', { exact: true }).waitFor()
    await owner.patch(`/api/client/robots/${id}`, { require_certification: true })
    await world.platform.core.db.deleteFrom('certifications').where('operator_id', '=', operator.id).execute()
    await page.getByRole('button', { name: 'Schedule a session with Wanted' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Schedule' }).click()
    await page.getByRole('dialog').getByText('requires an approved certification').waitFor()
    expect(await sessionsOf(operator)).toEqual([])
  })
})

describe('scheduling a session', () => {
  test('is possible during another session, which a start is not', async () => {
    const { page, operator } = await operatorAt('/dashboard/available', ['later'])
    await onlineRobot('Later', 'later')
    const now = await onlineRobot('Sooner', 'later')
    await waitFor(async () =>
      expect((await operator.post('/api/sessions', { robotId: now.id })).status).toBe(201),
    )
    await page.reload()
    await page.getByText('End your current session before you start another one.').waitFor()
    expect(await page.getByRole('button', { name: 'Drive now: Later' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Schedule a session with Later' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Schedule' }).waitFor()
  })

  test.each(['America/New_York', 'Asia/Kolkata'])(
    'uses the local time of a viewer in %s',
    async (timezoneId) => {
      const type = `planned-${timezoneId.split('/')[1]?.toLowerCase()}`
      const { page, operator } = await operatorAt('/dashboard/available', [type], { timezoneId })
      await onlineRobot('Planned', type)
      await page.getByRole('button', { name: 'Schedule a session with Planned' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.waitFor()
      await expectAccessible(page, 'the dialog')
      const at = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + 20 * DAY_MS + 9.5 * 3_600_000)
      const wall = wallIn(timezoneId, at)
      await dialog.getByLabel('Date and time').fill(wallIn(timezoneId, new Date(Date.now() + 91 * DAY_MS)))
      await dialog.getByText('more than 90 days ahead').waitFor()
      await dialog.getByLabel('Date and time').fill(wall)
      await dialog.getByLabel('Duration in minutes').fill('45')
      await dialog.getByText(/\(UTC[+−]\d\d:\d\d\), in \d+ days/).waitFor()
      await expectAccessible(page, 'the dialog')
      await dialog.getByRole('button', { name: 'Schedule' }).dblclick()
      await dialog.getByText('Session scheduled').waitFor()

      const [session, ...others] = await sessionsOf(operator)
      expect([session?.status, others]).toEqual(['PENDING', []])
      const { body } = await operator.get(`/api/sessions/${session?.id}`)
      expect(body).toMatchObject({ scheduled_for: at.toISOString(), planned_minutes: 45 })
    },
  )

  test('handles local times that clocks skip and times that occur twice', async () => {
    const { page } = await operatorAt('/dashboard', ['clocks'], { timezoneId: 'America/New_York' })
    await onlineRobot('Clocks', 'clocks')
    await page.clock.setFixedTime('2027-03-01T12:00:00Z')
    await page.goto(`${world.baseUrl}/dashboard/available`)
    await page.getByRole('button', { name: 'Schedule a session with Clocks' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Date and time').fill('2027-03-14T02:30')
    await dialog.getByText('This time does not exist in your time zone').waitFor()
    await dialog.getByLabel('Date and time').fill('2027-03-14T03:30')
    await dialog.getByText('(UTC−04:00)').waitFor()

    await page.clock.setFixedTime('2027-10-20T12:00:00Z')
    await dialog.getByLabel('Date and time').fill('2027-11-07T01:30')
    await dialog.getByText('This time occurs twice').waitFor()
    await dialog.getByRole('status').getByText('(UTC−04:00)').waitFor()
    await dialog.getByLabel('The second time (UTC−05:00)').check()
    await dialog.getByRole('status').getByText('(UTC−05:00)').waitFor()
  })
})

/** Returns an instant as a `datetime-local` field shows it in a zone. */
const wallIn = (timeZone: string, at: Date): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
    .format(at)
    .replace(' ', 'T')

test('an operator requests a certification and, once approved, sees robots of its type live', async () => {
  const { page, operator } = await operatorAt('/dashboard/available')
  const messages: string[] = []
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => messages.push(String(payload))),
  )
  await page.reload()
  await page.getByText('You are not certified yet').waitFor()
  await page.getByRole('link', { name: 'Request a certification' }).click()
  await page.getByRole('combobox', { name: 'Robot type' }).fill('diffdrive-d')
  await page.getByRole('option', { name: 'diffdrive-demo' }).click()
  await page.getByText('by Wheelhouse').waitFor()
  await page.getByLabel('Your experience').fill('Two years with it')
  await page.getByRole('button', { name: 'Request', exact: true }).dblclick()
  const row = page.getByRole('row', { name: /diffdrive-demo/ })
  await row.getByText('Pending').waitFor()
  await row.getByText('Two years with it').waitFor()
  await page.getByRole('combobox', { name: 'Robot type' }).fill('diffdrive-demo')
  await page.getByText('is pending').waitFor()

  const { certifications } = (await operator.get('/api/operator/certifications')).body
  expect(certifications).toMatchObject([{ status: 'PENDING', note: 'Two years with it' }])
  await page.getByRole('status').getByText('Connected', { exact: true }).waitFor()
  await admin.post(`/api/admin/certifications/${certifications[0].id}/approve`)
  await row.getByText('Approved').waitFor()
  await row.getByText('just now').nth(1).waitFor()

  await page.getByRole('link', { name: 'Available robots' }).click()
  await page.getByText('No robots available').waitFor()
  // The hub sends a new list, because the operator may see other robots now.
  await waitFor(() => expect(messages.filter((text) => text.includes('"robots":[]'))).toHaveLength(2))
  const { id } = await onlineRobot('Of the new type', 'diffdrive-demo')
  await waitFor(() => expect(messages).toContainEqual(expect.stringMatching(`robot:status.*${id}`)))
  await rowOf(page, 'Of the new type').getByText('by Wheelhouse').waitFor()
})

describe('the weekly schedule', () => {
  test('can be edited, copied and saved, also by keyboard', async () => {
    const { page, operator } = await operatorAt('/dashboard/schedule')
    const monday = page.getByRole('region', { name: 'Monday' })
    await monday.getByRole('button', { name: 'Add hours on Monday' }).focus()
    await page.keyboard.press('Enter')
    await monday.getByLabel('Monday: from').fill('8')
    await page.keyboard.press('Tab')
    expect(await monday.getByLabel('Monday: from').inputValue()).toBe('08:00')
    await page.keyboard.press('ArrowUp')
    expect(await monday.getByLabel('Monday: to').inputValue()).toBe('17:15')
    await monday.getByLabel('Monday: to').fill('24:00')
    await monday.getByRole('button', { name: 'Copy Monday to other days' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('[role=menuitem]:focus').filter({ hasText: 'Every day' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove Wednesday' }).click()
    await page.getByRole('combobox', { name: 'Time zone' }).fill('Tokyo')
    await page.getByRole('option', { name: 'Asia/Tokyo' }).click()
    await page.getByRole('img', { name: /^The week: Monday 08:00 to 24:00; Tuesday .*Friday/ }).waitFor()
    await page.getByText('64 hours a week').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('status').getByText('Saved').waitFor()

    const slots = [1, 2, 4, 5].map((weekday) => ({ weekday, start: '08:00', end: '24:00' }))
    expect((await operator.get('/api/operator/schedule')).body).toEqual({ timezone: 'Asia/Tokyo', slots })
    await page.reload()
    await page.getByRole('img', { name: /Friday 08:00 to 24:00$/ }).waitFor()
    expect(await page.getByLabel('Monday: to').inputValue()).toBe('24:00')
  })

  test('shows invalid hours at their fields and errors of the platform above the button', async () => {
    const { page, operator } = await operatorAt('/dashboard/schedule')
    await operator.post('/api/operator/schedule', {
      slots: [{ weekday: 7, start: '09:00', end: '17:00' }],
    })
    await page.reload()
    await page.getByRole('button', { name: 'Add hours on Sunday' }).click()
    await page.getByLabel('Sunday, 2: from').fill('16:00')
    await page.getByText('Overlaps with 09:00–17:00').waitFor()
    expect(await page.getByLabel('Sunday, 2: from').getAttribute('aria-invalid')).toBe('true')
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await page.getByLabel('Sunday, 2: from').fill('19:00')
    await page.getByText('Split hours over midnight').waitFor()
    await page.getByLabel('Sunday, 2: to').fill('1x')
    await page.getByText('Enter a time such as 17:00').waitFor()
    await expectAccessible(page, 'with problems')
    await page.getByLabel('Sunday, 2: to').fill('20:00')

    // An outdated page may send a request that the platform rejects.
    await page.route('**/api/operator/schedule', (route) =>
      route.request().method() === 'POST'
        ? route.continue({ postData: JSON.stringify({ slots: [{ weekday: 8, start: '1', end: '2' }] }) })
        : route.continue(),
    )
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText(/slots/i).waitFor()
    expect(await page.getByLabel('Sunday, 2: to').inputValue()).toBe('20:00')
    expect((await operator.get('/api/operator/schedule')).body.slots).toHaveLength(1)
  })

  test('asks before the user leaves with unsaved changes', async () => {
    const { page } = await operatorAt('/dashboard/schedule')
    await page.getByRole('button', { name: 'Add hours on Friday' }).click()
    await page.getByRole('link', { name: 'Earnings' }).click()
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
    await dialog.waitFor()
    await expectAccessible(page, 'the dialog')
    await dialog.getByRole('button', { name: 'Stay' }).click()
    const [question] = await Promise.all([page.waitForEvent('dialog'), page.close({ runBeforeUnload: true })])
    expect(question.type()).toBe('beforeunload')
    await question.dismiss()
    expect(await page.getByLabel('Friday: from').inputValue()).toBe('09:00')
    await page.getByRole('link', { name: 'Earnings' }).click()
    await dialog.getByRole('button', { name: 'Leave' }).click()
    await heading(page, 'Earnings')
  })
})

describe('earnings', () => {
  /** Books earnings directly, instead of running many sessions. */
  const earn = (user: TestUser, cents: number) =>
    world.platform.core.transact((tx) =>
      post(tx, {
        kind: 'test_earnings',
        at: new Date(),
        lines: [
          { account: 'operator_payable', userId: user.id, amountCents: -cents },
          { account: 'platform_revenue', amountCents: cents },
        ],
      }),
    )

  test('of a session appear in the figures, the chart and its table', async () => {
    const operator = await createOperator('earning')
    const { id } = await onlineRobot('Earner', 'earning')
    const { sessionId } = (await operator.post('/api/sessions', { robotId: id })).body
    await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
    const earned = (await operator.get('/api/operator/stats')).body.earnings_total_cents as number
    expect(earned).toBeGreaterThan(0)
    const { page } = await browser.enter(operator, '/dashboard/earnings')
    const amount = `€${(earned / 100).toFixed(2)}`
    const figures = page.getByRole('region', { name: 'Figures' })
    await figures.getByText(amount).nth(2).waitFor()
    const chart = page.getByRole('region', { name: 'Earnings, last 30 days' })
    await chart.locator('svg .recharts-bar-rectangle').first().waitFor({ state: 'attached' })
    await chart.getByText('Show as table').click()
    const rows = await chart.getByRole('row').allTextContents()
    expect(rows).toHaveLength(30)
    expect(rows.filter((row) => row.includes(amount))).toEqual([rows.at(-1)])
    const counts = page.getByRole('region', { name: 'Your sessions' })
    await counts.getByRole('row', { name: 'Completed 1' }).waitFor()
    await expectAccessible(page, 'with charts')
  })

  test('are paid out after the provider setup: onboarding, minimum amount, payout', async () => {
    const { page, operator } = await operatorAt('/dashboard/earnings')
    await earn(operator, 5_000)
    await page.reload()
    await page.getByText('No payout account yet').waitFor()
    await page.getByRole('button', { name: 'Set up payouts' }).click()
    await page.getByRole('alert').getByText('has no country').waitFor()
    await operator.post('/api/operator/profile', { country: 'DE' })
    await page.route('https://connect.stripe.test/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>The provider</title>' }),
    )
    await page.getByRole('button', { name: 'Set up payouts' }).click()
    await page.waitForURL('https://connect.stripe.test/setup/*')
    const account = [...stripe.books.recipients.keys()].at(-1) as string

    await page.goto(`${world.baseUrl}/dashboard/earnings`)
    await page.getByText('Setup incomplete').waitFor()
    await page.getByText('Your date of birth').waitFor()
    await page.getByText('Your bank account').waitFor()
    stripe.books.finishOnboarding(account)
    await page.reload()
    await page.getByText('Ready for payouts').waitFor()

    await page.getByLabel('Other amount').check()
    await page.getByLabel('Amount in euros').fill('9.99')
    const request = page.getByRole('button', { name: 'Request payout' })
    await request.click()
    await page.getByText('The minimum payout is €10.00').waitFor()
    await page.getByLabel('Amount in euros').fill('50.01')
    await page.getByText('Only €50.00 is available').waitFor()
    await page.getByLabel('Amount in euros').fill('20.50')
    await request.click()
    const dialog = page.getByRole('dialog', { name: 'Pay out €20.50?' })
    await expectAccessible(page, 'the confirmation')
    await dialog.getByRole('button', { name: 'Pay out €20.50' }).dblclick()
    await page.getByText('€20.50 transferred').waitFor()
    await page.getByRole('row', { name: /€20.50 Paid/ }).waitFor()
    await page.getByText('€29.50 available').waitFor()
    expect(stripe.books.transfers.filter((item) => item.destination === account)).toMatchObject([
      { amount: 2_050 },
    ])

    await page.getByLabel('All: €29.50').check()
    stripe.plan('drops', /transfers$/, 2)
    await request.click()
    await page.getByRole('button', { name: 'Pay out €29.50' }).click()
    const pending = page.getByRole('row', { name: /€29.50 Processing/ })
    await pending.getByText('retries automatically and never pays twice').waitFor()
    await page.getByText('The minimum payout is €10.00').waitFor()
    stripe.recover()
    world.errors.splice(0)
  })

  test('without a payment provider the page shows a notice instead of an error', async () => {
    await using bare = await createWorld()
    await using bareBrowser = await openConsole(bare.baseUrl)
    const operator = await bare.operator()
    await operator.post('/api/operator/profile', { headline: 'Steady hands', timezone: 'Europe/Berlin' })
    const { page } = await bareBrowser.enter(operator, '/dashboard/earnings')
    await page.getByText('Payments are not set up on this platform').waitFor()
    await page.getByText('No completed sessions in the last 30 days').waitFor()
    expect(await page.getByText('Server error').count()).toBe(0)
    await expectAccessible(page, 'without payments')
  })
})
