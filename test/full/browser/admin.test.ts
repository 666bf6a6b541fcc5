import { OperatorLink, SimulatedRobot, ticketsOf } from '@wheelhouse/sdk'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  openConsole,
  type PageOptions,
  seriousIssues,
} from '../../support/browser/console.ts'
import { type MailServer, startMailServer } from '../../support/network/smtp.ts'
import { addQueue, quietQueue } from '../../support/world/jobs.ts'
import { start } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const pages = [
  ['/dashboard/admin', 'Overview'],
  ['/dashboard/admin/sessions', 'Sessions'],
  ['/dashboard/admin/robots', 'Robots'],
  ['/dashboard/admin/users', 'People'],
  ['/dashboard/admin/certifications', 'Certification requests'],
  ['/dashboard/admin/messages', 'Contact messages'],
  ['/dashboard/admin/robot-requests', 'Robot requests'],
  ['/dashboard/admin/jobs', 'Background work'],
  ['/dashboard/admin/audit', 'Audit log'],
] as const
const lists = [
  'overview',
  'sessions',
  'robots',
  'users',
  'certifications',
  'contact-messages',
  'robot-requests',
  'jobs',
  'audit',
]

let mail: MailServer
let world: World
let browser: ConsoleBrowser
let admin: TestUser

beforeAll(async () => {
  mail = await startMailServer()
  world = await createWorld({ env: mail.env })
  browser = await openConsole(world.baseUrl)
  admin = await world.admin()
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
  await mail?.stop()
})

const adminAt = async (path: string, options: PageOptions = {}) =>
  (await browser.enter(admin, `/dashboard/admin${path}`, options)).page
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor()

/** Sends a request without credentials. */
async function postPublic(path: string, body: unknown): Promise<void> {
  const { status } = await fetch(world.baseUrl + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(status).toBe(201)
}
const message = { name: 'Ada', email: 'ada@example.com', category: 'Bug Report', message: 'It\nholds on.' }

/** Starts a session whose robot drives in circles until `end`. */
async function driving() {
  const [owner, operator] = [await world.client(), await world.operator()]
  const { id, token } = await world.robot(owner, { name: `Driven for ${owner.name}` })
  const robot = new SimulatedRobot({ url: `${world.gatewayUrl}/robots/${id}/control`, token })
  await robot.start()
  const sessionId = await start(operator, id)
  const getTicket = ticketsOf({
    baseUrl: world.baseUrl,
    token: operator.token,
    sessionId,
    part: 'control',
  })
  const link = new OperatorLink({ getTicket })
  await link.connect()
  const timer = setInterval(() => link.control({ linear_mps: 0.2, angular_radps: 0.8 }), 50)
  await waitFor(() => expect(robot.state.leftMps).toBeGreaterThan(0))
  return {
    owner,
    operator,
    robot,
    sessionId,
    name: `Driven for ${owner.name}`,
    async end() {
      clearInterval(timer)
      await operator.patch(`/api/sessions/${sessionId}`, { action: 'end' })
      await link.close()
      await robot.close()
    },
  }
}

const isHalted = ({ state }: SimulatedRobot) => state.leftMps === 0 && state.rightMps === 0

test('an admin who follows a link to the own sessions sees the sessions of all users', async () => {
  const { page } = await browser.enter(admin, '/dashboard/sessions')
  await page.waitForURL('**/dashboard/admin/sessions*')
  await heading(page, 'Sessions')
})

test('an admin approves, rejects and revokes certifications, and an operator can start sessions only while certified', async () => {
  const [owner, operator, secondOperator] = [
    await world.client(),
    await world.operator(),
    await world.operator(),
  ]
  const robot = await world.robot(owner, { robot_type: 'crane', require_certification: true })
  ;(await world.connect(robot)).beat()
  const attempt = () => operator.post('/api/sessions', { robotId: robot.id })
  const page = await adminAt('/certifications')
  const pending = page.getByRole('region', { name: 'Pending' })
  await pending.getByText('No pending requests').waitFor()
  for (const user of [operator, secondOperator]) {
    const request = { robot_type: 'crane', note: `Two years,\nsays ${user.name}` }
    expect((await user.post('/api/operator/certifications', request)).status).toBe(201)
  }

  // The requests appear without a reload, oldest first.
  await pending.getByText(`says ${operator.name}`).waitFor()
  const cards = pending.getByRole('article')
  expect(await cards.nth(1).textContent()).toContain(secondOperator.name)
  expect((await attempt()).status).toBe(403)
  await page.getByRole('button', { name: `Approve ${operator.name} for crane` }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  expect(await seriousIssues(page), 'the dialog').toEqual([])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect((await attempt()).status).toBe(403)
  await page.getByRole('button', { name: `Approve ${operator.name} for crane` }).click()
  await dialog.getByRole('button', { name: 'Approve' }).click()
  const decided = page.getByRole('region', { name: 'Decided' })
  await decided.getByRole('row', { name: operator.name }).waitFor()
  const started = await attempt()
  expect(started.status, JSON.stringify(started.body)).toBe(201)

  await page.getByRole('button', { name: `Reject ${secondOperator.name} for crane` }).click()
  expect(await dialog.getByRole('button', { name: 'Reject' }).isDisabled()).toBe(true)
  expect(await seriousIssues(page), 'the reason dialog').toEqual([])
  await dialog.getByLabel('Reason').fill('Please repeat the course')
  await dialog.getByRole('button', { name: 'Reject' }).click()
  await pending.getByText('No pending requests').waitFor()
  await decided.getByText('Rejected').click()
  await decided.getByRole('row', { name: secondOperator.name }).waitFor()
  expect(await decided.getByRole('row', { name: operator.name }).count()).toBe(0)
  expect((await secondOperator.get('/api/operator/certifications')).body.certifications).toMatchObject([
    { status: 'REJECTED', reason: 'Please repeat the course' },
  ])

  // After the revocation the open session continues, and no other one starts.
  await decided.getByText('Approved', { exact: true }).click()
  await page.getByRole('button', { name: `Revoke ${operator.name} for crane` }).click()
  await dialog.getByLabel('Reason').fill('Too fast')
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await decided.getByText('Revoked', { exact: true }).click()
  await decided.getByRole('row', { name: /Too fast/ }).waitFor()
  const path = `/api/sessions/${started.body.sessionId}`
  expect((await operator.get(path)).body.status).toBe('ACTIVE')
  await operator.patch(path, { action: 'end' })
  expect((await attempt()).status).toBe(403)
})

test('the overview shows open sessions, stops a robot with one click and links to the session', async () => {
  const page = await adminAt('')
  await page.getByText('No open sessions').waitFor()
  const fixture = await driving()
  try {
    const card = page.getByRole('article', { name: `Session on ${fixture.name}` })
    await card.getByText(`Operator ${fixture.operator.name}, owner ${fixture.owner.name}`).waitFor()
    const robots = page.getByRole('region', { name: 'Robots' })
    expect(await robots.locator('dl > div').first().textContent()).toBe('In session1')
    const gateway = page.getByRole('row', { name: world.gatewayUrl })
    await gateway.getByText(/^\d+ s ago$/).waitFor()
    expect(isHalted(fixture.robot)).toBe(false)
    expect(await seriousIssues(page), 'with a session').toEqual([])

    await card.getByRole('button', { name: `Stop: ${fixture.name}` }).click()
    await waitFor(() => expect(isHalted(fixture.robot)).toBe(true))
    await card.getByText(`Stopped by ${admin.name}`).waitFor()
    await card.getByText('Stop again').waitFor()
    const { body } = await fixture.owner.get(`/api/sessions/${fixture.sessionId}`)
    expect(body.status).toBe('PAUSED')
    expect(body.control.stop).toMatchObject({ by: admin.id, reason: 'Stopped by an administrator' })
    expect(await seriousIssues(page), 'with a stop').toEqual([])
    await card.getByRole('link', { name: fixture.name }).click()
    await page.waitForURL(`**/dashboard/sessions/${fixture.sessionId}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  } finally {
    await fixture.end()
  }
})

test('the list of sessions stops a robot after a hold, not by a click', async () => {
  const fixture = await driving()
  try {
    const page = await adminAt('/sessions?status=ACTIVE')
    const stop = page.getByRole('button', { name: `Hold: STOP ${fixture.name}` })
    await stop.click()
    expect(isHalted(fixture.robot)).toBe(false)
    await stop.hover()
    await page.mouse.down()
    await waitFor(() => expect(isHalted(fixture.robot)).toBe(true))
    await page.mouse.up()
    // The robot halts before the stop is recorded.
    await waitFor(async () => {
      const { body } = await fixture.owner.get(`/api/sessions/${fixture.sessionId}`)
      expect(body.control.stop).toMatchObject({ by: admin.id, reason: 'Stopped by an administrator' })
    })
  } finally {
    await fixture.end()
  }
})

test('an admin pauses and ends a session, and the audit log records both', async () => {
  const page = await adminAt('')
  const fixture = await driving()
  try {
    const card = page.getByRole('article', { name: `Session on ${fixture.name}` })
    await card.getByRole('button', { name: `Pause the session on ${fixture.name}` }).click()
    await card.getByText('Paused', { exact: true }).waitFor()
    await waitFor(() => expect(isHalted(fixture.robot)).toBe(true))
    await card.getByRole('button', { name: `End the session on ${fixture.name}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
    await card.waitFor({ state: 'detached' })
    const { entries } = (await admin.get(`/api/admin/audit?subject_id=${fixture.sessionId}`)).body
    const actions = entries.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(expect.arrayContaining(['session.paused', 'session.ended']))
  } finally {
    await fixture.end()
  }
})

test('a stop without a network reports the failure, and succeeds once the network is back', async () => {
  const page = await adminAt('')
  const fixture = await driving()
  try {
    const stop = page.getByRole('button', { name: `Stop: ${fixture.name}` })
    await stop.waitFor()
    await page.context().setOffline(true)
    await stop.click()
    await page.getByText('Not stopped. The robot may still move.').waitFor()
    await page.getByText(/^Not refreshing\. Updated/).waitFor()
    expect(isHalted(fixture.robot)).toBe(false)
    await page.context().setOffline(false)
    await stop.click()
    await waitFor(() => expect(isHalted(fixture.robot)).toBe(true))
    await page.getByText('Not stopped. The robot may still move.').waitFor({ state: 'hidden' })
  } finally {
    await fixture.end()
  }
})

test('contact messages show their delivery status, and robot requests load page by page', async () => {
  await postPublic('/api/contact', { ...message, subject: 'Accepted' })
  mail.is({ refuses: 'message', code: 554 })
  await postPublic('/api/contact', { ...message, subject: 'Refused' })
  mail.is('takes')
  const page = await adminAt('/messages')
  const refused = page.getByRole('article', { name: 'Refused' })
  await refused.getByText(/554/).waitFor()
  await refused.getByText('Pending', { exact: true }).waitFor()
  await refused.getByText(/1 attempt, next attempt/).waitFor()
  await page.getByRole('article', { name: 'Accepted' }).getByText('Delivered', { exact: true }).waitFor()
  expect(await page.getByRole('link', { name: 'ada@example.com' }).first().getAttribute('href')).toMatch(
    /^mailto:ada%40example.com$/,
  )
  expect(await seriousIssues(page)).toEqual([])
  await page.getByText('Pending', { exact: true }).first().click()
  await page.getByRole('article', { name: 'Accepted' }).waitFor({ state: 'hidden' })
  await refused.waitFor()

  for (let n = 1; n <= 51; n++) {
    await postPublic('/api/robot-request', {
      email: 'a@example.com',
      robot_type: `model-${n}`,
      details: 'Please',
    })
  }
  await page.getByRole('link', { name: 'Robot requests' }).click()
  const models = page.getByRole('article', { name: /^model-/ })
  await page.getByRole('article', { name: 'model-51' }).waitFor()
  expect(await models.count()).toBe(50)
  await page.getByRole('button', { name: 'Show older' }).click()
  await page.getByRole('article', { name: 'model-1', exact: true }).waitFor()
  expect(await models.count()).toBe(51)
  expect(await page.getByRole('button', { name: 'Show older' }).count()).toBe(0)
})

test('the audit log loads page by page and filters by actor, action, target and time', async () => {
  const user = await world.newUser()
  const keyIds = (await Promise.all(Array.from({ length: 51 }, () => user.key()))).map(({ id }) => id)
  await user.delete(`/api/auth/api-keys/${keyIds[0]}`)
  const page = await adminAt(`/audit?actor=${user.id}`)
  const rows = page.locator('tr[data-entry]')
  await rows.first().getByText('Api key revoked').waitFor()
  expect(await page.getByLabel('Actor ID').inputValue()).toBe(user.id)
  expect(await rows.count()).toBe(50)
  expect(await rows.first().locator('dl').textContent()).toBe('Nametest')
  await page.getByRole('button', { name: 'Show older' }).click()
  await waitFor(async () => expect(await rows.count()).toBe(52))
  expect(await page.getByRole('button', { name: 'Show older' }).count()).toBe(0)

  const count = (n: number) => waitFor(async () => expect(await rows.count()).toBe(n))
  await rows.first().getByRole('link', { name: 'Api key revoked' }).click()
  await count(1)
  expect(await page.getByLabel('Action').inputValue()).toBe('api_key.revoked')
  await page.getByLabel('Action').fill('')
  await page.getByLabel('Target ID').fill(keyIds[0] as string)
  await page.keyboard.press('Enter')
  await count(2)
  await page.getByLabel('From').fill('2100-01-01T00:00')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('No matching entries').waitFor()
  expect(new URL(page.url()).searchParams.get('since')).toMatch(/^"?(2100-01-01|2099-12-31)T/)
  await page.reload()
  await page.getByText('No matching entries').waitFor()
  expect(await page.getByLabel('From').inputValue()).toBe('2100-01-01T00:00')
  await page.getByLabel('From').fill('')
  await page.getByLabel('Until').fill('2100-01-01T00:00')
  await page.getByRole('button', { name: 'Apply' }).click()
  await count(2)

  await page.getByLabel('Actor ID').fill('no uuid')
  await page.getByRole('button', { name: 'Apply' }).click()
  await page
    .getByRole('alert')
    .getByText(/Actor id/)
    .waitFor()
  expect(await page.getByLabel('Actor ID').inputValue()).toBe('no uuid')
  await page.getByRole('button', { name: 'Show all' }).click()
  await count(50)
})

test('a failed job shows its error; retry runs it again, and discard removes it', async () => {
  const { jobs, transact } = world.platform.core
  const queue = quietQueue({ name: 'paper-mail' })
  let paper = false
  const printed: object[] = []
  await addQueue(jobs, queue, async ({ data }) => {
    if (!paper) throw new Error('out of paper')
    printed.push(data)
  })
  const page = await adminAt('/jobs')
  await page.getByText('No failed jobs').waitFor()
  const queueRow = page.getByRole('table', { name: 'Queues' }).getByRole('row', { name: /paper-mail/ })
  await transact(async (tx) => {
    for (const letter of ['first', 'second']) tx.enqueue({ queue, data: { letter } })
  })

  // The jobs appear without a reload.
  const rows = page.getByRole('table', { name: 'Jobs' }).getByRole('row', { name: /paper-mail/ })
  await waitFor(async () => expect(await rows.count()).toBe(2))
  await rows.filter({ hasText: 'first' }).getByText('out of paper').waitFor()
  await queueRow.getByRole('cell', { name: '2', exact: true }).waitFor()
  expect(await seriousIssues(page)).toEqual([])

  paper = true
  await rows.filter({ hasText: 'first' }).getByRole('button', { name: 'Retry paper-mail' }).click()
  await rows.filter({ hasText: 'first' }).waitFor({ state: 'detached' })
  await waitFor(() => expect(printed).toEqual([{ letter: 'first' }]))
  await rows.filter({ hasText: 'second' }).getByRole('button', { name: 'Discard paper-mail' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Discard this job of paper-mail?').waitFor()
  expect(await seriousIssues(page), 'the dialog').toEqual([])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  expect(await rows.count()).toBe(1)
  await rows.getByRole('button', { name: 'Discard paper-mail' }).click()
  await dialog.getByRole('button', { name: 'Discard' }).click()
  await page.getByText('No failed jobs').waitFor()
  expect(printed).toHaveLength(1)
})

test('an admin declares the commands and the telemetry of a model', async () => {
  const page = await adminAt('/robot-models')
  await heading(page, 'Robot models')
  await expectAccessibleLayout(page, 'robot models')
  await page.getByRole('combobox', { name: 'Model' }).fill('lekiwi')
  await page.getByRole('option', { name: /LeKiwi/i }).click()
  const control = page.getByRole('textbox', { name: 'Control schema' })
  const telemetry = page.getByRole('textbox', { name: 'Telemetry schema' })
  const lamp = { type: 'object', properties: { lamp: { type: 'boolean' } } }
  await control.fill('{ not json')
  await page.getByText('This is not valid JSON.').waitFor()
  await expectAccessibleLayout(page, 'the form of a model')
  await control.fill(JSON.stringify(lamp))
  await telemetry.fill(
    JSON.stringify({ type: 'object', properties: { a: { type: 'number', 'x-kind': 'pose' } } }),
  )
  await page.getByRole('button', { name: 'Save' }).click()
  await page
    .getByRole('alert')
    .getByText(/Telemetry schema: is a pose, so it must be .* x_m, y_m and heading_rad/)
    .waitFor()
  await telemetry.fill(JSON.stringify(lamp))
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').waitFor()
  const stored = async () => (await fetch(`${world.baseUrl}/api/robots/lekiwi`)).json()
  expect(await stored()).toMatchObject({ control_schema: lamp, telemetry_schema: lamp })
  await control.fill('')
  await page.getByRole('button', { name: 'Save' }).click()
  await waitFor(async () =>
    expect(await stored()).toMatchObject({ control_schema: null, telemetry_schema: lamp }),
  )
})

test.each(['client', 'operator'] as const)('pages and API deny access to a %s', async (role) => {
  const user = await world[role]()
  await (role === 'client'
    ? user.patch('/api/client/profile', { contact_email: 'a@example.com' })
    : user.post('/api/operator/profile', { headline: 'Steady', timezone: 'UTC' }))
  for (const list of lists) expect((await user.get(`/api/admin/${list}`)).status, list).toBe(403)
  const { page } = await browser.enter(user, '/dashboard')
  const adminRequests: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api/admin/')) adminRequests.push(request.url())
  })
  await page.getByRole('heading', { name: /^Good (morning|afternoon|evening), / }).waitFor()
  expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
  for (const path of [...pages.map(([path]) => path), '/dashboard/admin/robot-models']) {
    await page.goto(world.baseUrl + path)
    await page.getByText('This page is for administrators').waitFor()
  }
  expect(await seriousIssues(page)).toEqual([])
  expect(adminRequests).toEqual([])
})
