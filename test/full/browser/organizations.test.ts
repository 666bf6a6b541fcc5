import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../../support/browser/console.ts'
import { teamRobot } from '../../support/world/organizations.ts'
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

const TEAM = 'Harbour Robotics'
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const switcher = (page: Page) => page.getByRole('combobox', { name: 'Organization', exact: true })
/** Follows a link of the navigation. */
const go = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click()

/** Creates an owner with a complete account, and opens a page as this owner. */
async function enterAsOwner(path: string) {
  const user = await world.client()
  const email = `${user.name}@test.local`
  await user.patch('/api/client/profile', { contact_email: email })
  return { user, email, ...(await browser.enter(user, path)) }
}

test('a person creates a team and invites another one, who sees its robot until the removal', async () => {
  const founder = await enterAsOwner('/dashboard/organization')
  await heading(founder.page, 'Organization')
  expect(await switcher(founder.page).count()).toBe(0)
  await button(founder.page, 'Create team').click()
  await founder.page.getByRole('dialog').getByLabel('Name').fill(TEAM)
  await button(founder.page, 'Create').click()
  await switcher(founder.page).waitFor()
  const teamId = await switcher(founder.page).inputValue()
  expect(teamId).not.toBe(founder.user.id)
  const owner = await founder.user.actingFor(teamId)
  const robot = await teamRobot(owner)

  const invited = await enterAsOwner('/dashboard/robots')
  await invited.page.getByText('No robots yet').waitFor()
  await go(founder.page, 'Organization')
  await heading(founder.page, TEAM)
  await button(founder.page, 'Create group').click()
  await founder.page.getByRole('dialog').getByLabel('Name').fill('Rotterdam')
  await button(founder.page, 'Create').click()
  await founder.page.getByRole('row', { name: /^Rotterdam 0/ }).waitFor()
  await button(founder.page, 'Invite member').click()
  const dialog = founder.page.getByRole('dialog')
  await dialog.getByLabel('E-mail').fill(invited.email)
  await dialog.getByRole('combobox', { name: 'Role' }).click()
  await founder.page.getByRole('option', { name: 'Viewer', exact: true }).click()
  await dialog.getByText('Sees robots, sessions and recordings, and may stop a robot').waitFor()
  await dialog.getByRole('button', { name: 'Invite', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
  await founder.page.getByRole('row', { name: new RegExp(`^${invited.email} Viewer All robots`) }).waitFor()
  await expectAccessibleLayout(founder.page, 'the page of a team')

  const { invitations } = (await owner.get(`/api/organizations/${teamId}/invitations`)).body
  const { id } = invitations[0]
  const token = `${id}.${world.platform.core.secrets.sign('organization-invitation', id)}`
  await invited.page.goto(`${world.baseUrl}/dashboard/invitation#${token}`)
  await invited.page.getByText(`${TEAM}, as Viewer`).waitFor()
  await expectAccessibleLayout(invited.page, 'an invitation')
  await button(invited.page, 'Accept').click()
  await switcher(invited.page).waitFor()
  expect(await switcher(invited.page).inputValue()).toBe(teamId)

  await go(invited.page, 'Robots')
  await invited.page.getByRole('link', { name: 'Crane', exact: true }).click()
  await heading(invited.page, 'Crane')
  // What a viewer may not do is not offered.
  expect(await invited.page.getByRole('tab', { name: 'Settings' }).count()).toBe(0)
  expect(await button(invited.page, 'Hold robot').count()).toBe(0)
  await invited.page.goto(`${world.baseUrl}/dashboard/invoices`)
  await invited.page.getByText('Your role does not include this page').waitFor()
  await switcher(invited.page).selectOption(invited.user.id)
  await waitFor(async () => expect(await invited.context.cookies()).toHaveLength(1))
  await go(invited.page, 'Robots')
  await invited.page.getByText('No robots yet').waitFor()
  await switcher(invited.page).selectOption(teamId)
  await waitFor(async () => expect(await invited.context.cookies()).toHaveLength(2))
  await go(invited.page, 'Robots')
  await invited.page.getByRole('link', { name: 'Crane', exact: true }).waitFor()

  // The settings of the robot name the group, and who may drive.
  await founder.page.goto(`${world.baseUrl}/dashboard/robots/${robot.id}?tab=settings`)
  await founder.page.getByLabel('Group').selectOption('Rotterdam')
  await founder.page.getByRole('radio', { name: 'Members of the team' }).check()
  await button(founder.page, 'Save').click()
  await founder.page.getByText('Saved', { exact: true }).waitFor()
  expect((await owner.get(`/api/client/robots/${robot.id}`)).body).toMatchObject({ operators: 'own' })

  await go(founder.page, 'Organization')
  await button(founder.page, `Remove ${invited.user.name}`).click()
  await founder.page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  // The open page of the removed member becomes that of the personal organization by itself.
  await invited.page.getByText('No robots yet').waitFor()
  await waitFor(async () => expect(await switcher(invited.page).count()).toBe(0))
  expect(await invited.context.cookies()).toHaveLength(1)
})

test('an invited person without a role accepts first, and cannot accept twice', async () => {
  const founder = await world.client()
  const { body } = await founder.post('/api/organizations', { name: TEAM })
  const owner = await founder.actingFor(body.id)
  const invited = await world.newUser()
  const email = `${invited.name}@test.local`
  await owner.post(`/api/organizations/${body.id}/invitations`, { email, role: 'operator' })
  const { page, context } = await browser.enter(invited, '/dashboard')
  await page.getByRole('link', { name: 'I have an invitation' }).click()
  await button(page, `Accept the invitation to ${TEAM}`).click()
  await switcher(page).waitFor()
  await go(page, 'Available robots')
  await heading(page, 'Available robots')

  // Without the cookie the console asks for a role of one's own, and leads back to the team.
  await context.clearCookies({ name: 'wheelhouse_organization' })
  await page.goto(`${world.baseUrl}/dashboard`)
  await button(page, 'Continue as operator').waitFor()
  await expectAccessibleLayout(page, 'the first page of a member')
  await switcher(page).selectOption(body.id)
  await go(page, 'Sessions')

  await page.goto(`${world.baseUrl}/dashboard/invitation#${crypto.randomUUID()}`)
  await button(page, 'Accept').click()
  await page.getByRole('alert').getByText('unknown, has expired, was used or was revoked').waitFor()
})

/** Creates a team with a robot; opens a page of the console as its owner, who acts for the team. */
async function enterTeam(path: string) {
  const user = await world.client()
  const teamId: string = (await user.post('/api/organizations', { name: TEAM })).body.id
  const owner = await user.actingFor(teamId)
  const robot = await teamRobot(owner)
  const { page } = await browser.enter(owner, `/dashboard${path}`)
  return { owner, teamId, robot, page }
}

test('an owner sets how many robots a supervisor may take', async () => {
  const { owner, teamId, page } = await enterTeam('/organization')
  const field = page.getByLabel('Robots per supervisor')
  await waitFor(async () => expect(await field.inputValue()).toBe('8'))
  await field.fill('3')
  const team = page.getByRole('region', { name: 'Team', exact: true })
  await team.getByRole('button', { name: 'Save' }).click()
  await team.getByText('Saved', { exact: true }).waitFor()
  const { organizations } = (await owner.get('/api/organizations')).body
  expect(organizations).toContainEqual(
    expect.objectContaining({ id: teamId, name: TEAM, robots_per_supervisor: 3 }),
  )
  await page.reload()
  await waitFor(async () => expect(await field.inputValue()).toBe('3'))
})

test('a service account gets a key, which works, is rotated and revoked', async () => {
  const { teamId, page } = await enterTeam('/organization')
  await button(page, 'Create service account').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Fleet scheduler')
  await button(page, 'Create').click()
  await page.getByRole('link', { name: 'Fleet scheduler' }).click()
  await heading(page, 'Fleet scheduler')

  await button(page, 'Create API key').click()
  await dialog.getByLabel('Drive').check()
  await dialog.getByRole('button', { name: 'Create', exact: true }).click()
  const key = await dialog.locator('pre').innerText()
  await button(page, 'Done').click()
  const robots = (token: string) =>
    fetch(`${world.baseUrl}/api/client/robots`, { headers: { Authorization: `Bearer ${token}` } })
  expect(await (await robots(key)).json()).toMatchObject([{ name: 'Crane' }])
  await page.reload()
  await page.getByRole('row', { name: /Read, Drive just now from 127\.0\.0\.1/ }).waitFor()
  await expectAccessibleLayout(page, 'the keys of a service account')

  await page.getByRole('button', { name: /^Rotate / }).click()
  await dialog.getByRole('button', { name: 'Rotate', exact: true }).click()
  const successor = await dialog.locator('pre').innerText()
  await button(page, 'Done').click()
  await page.getByText('Replaced by a newer key').waitFor()
  expect([(await robots(key)).status, (await robots(successor)).status]).toEqual([200, 200])
  await page.getByRole('button', { name: `Revoke Fleet scheduler (…${key.slice(-4)})` }).click()
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
  await page.getByText('Revoked', { exact: true }).waitFor()
  expect([(await robots(key)).status, (await robots(successor)).status]).toEqual([401, 200])

  await page.goto(`${world.baseUrl}/dashboard/organization`)
  await button(page, 'Delete Fleet scheduler').click()
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('No service accounts yet').waitFor()
  expect((await robots(successor)).status).toBe(401)
  expect(teamId).toBe(await switcher(page).inputValue())
})

test('the browser verifies the audit log, and finds a changed and a missing row', async () => {
  const { owner, teamId, page } = await enterTeam('/organization/audit')
  for (const name of ['Rotterdam', 'Antwerp'])
    await owner.post(`/api/organizations/${teamId}/groups`, { name })
  await heading(page, 'Audit log')
  await button(page, 'Verify').click()
  const intact = page.getByText(/^\d+ rows, unbroken$/)
  await intact.waitFor()
  await expectAccessibleLayout(page, 'a verified audit log')

  let change = (rows: string[]) => rows
  await page.route('**/audit?format=ndjson', async (route) => {
    const response = await route.fetch()
    const rows = (await response.text()).trimEnd().split('\n')
    await route.fulfill({ response, body: `${change(rows).join('\n')}\n` })
  })
  change = (rows) =>
    rows.map((row, index) => (index === 1 ? row.replace(owner.id, crypto.randomUUID()) : row))
  await button(page, 'Verify').click()
  await page.getByText('The log is broken at row 2').waitFor()
  await page.getByText('its content has been changed').waitFor()
  await expectAccessibleLayout(page, 'a broken audit log')
  // The browser has noted the newest row.
  change = (rows) => rows.slice(0, -1)
  await button(page, 'Verify').click()
  await page.getByText('The log is incomplete').waitFor()
  change = (rows) => rows
  await button(page, 'Verify').click()
  await intact.waitFor()

  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download CSV' }).click(),
  ])
  expect(file.suggestedFilename()).toMatch(/\.csv$/)
  await page.getByLabel('Action').fill('organization.created')
  await button(page, 'Apply').click()
  await waitFor(async () => expect(await page.getByRole('row').count()).toBe(2))
})

test('the live connection of a window acts for the team of the window, whatever another window chooses', async () => {
  const { owner, teamId, page } = await enterTeam('/')
  const handshakes: string[] = []
  page.on('websocket', (socket) => {
    socket.on('framesent', ({ payload }) => {
      if (String(payload).startsWith('40')) handshakes.push(String(payload))
    })
  })
  const other = await page.context().newPage()
  await other.goto(`${world.baseUrl}/dashboard`)
  const personal = await switcher(other).locator('option').first().getAttribute('value')
  await switcher(other).selectOption(String(personal))
  await waitFor(async () => expect(await page.context().cookies()).toHaveLength(1))
  // The hub ends connections of a person whose permissions change.
  await owner.post('/api/organizations', { name: 'Second' })
  await waitFor(() => expect(handshakes.at(-1)).toContain(teamId))
})

test('an owner lets another organization read the recordings of a robot, and ends it', async () => {
  const { robot, page } = await enterTeam('/')
  const reader = await enterAsOwner('/dashboard/organization')
  await page.goto(`${world.baseUrl}/dashboard/robots/${robot.id}?tab=data`)
  await page.getByRole('cell', { name: 'Telemetry' }).waitFor()
  await button(page, 'Grant access').click()
  const dialog = page.getByRole('dialog')
  await dialog
    .getByLabel('Id of the organization')
    .fill(await reader.page.locator('#data-access pre').innerText())
  await dialog.getByLabel('Recordings').check()
  await dialog.getByRole('button', { name: 'Grant', exact: true }).click()
  await page.getByRole('row', { name: new RegExp(`^${reader.user.name} Recordings`) }).waitFor()
  await reader.page.reload()
  await reader.page.getByRole('row', { name: `Crane ${TEAM}` }).waitFor()
  const granted = () => reader.user.get(`/api/organizations/${reader.user.id}/grants`)
  expect((await granted()).body.received).toHaveLength(1)

  await page.goto(`${world.baseUrl}/dashboard/organization`)
  await button(page, `Revoke the access of ${reader.user.name} to Crane`).click()
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
  await page.getByText('No organization reads data of your robots').waitFor()
  expect((await granted()).body.received).toEqual([])
})

test('a person downloads all own data, and deletes the account', async () => {
  const { user, email, page, context } = await enterAsOwner('/dashboard/settings')
  await button(page, 'Export your data').click()
  const link = page
    .getByRole('list', { name: 'Exports of your data' })
    .getByRole('link', { name: 'Download' })
  const [file] = await Promise.all([page.waitForEvent('download'), link.click()])
  expect(file.suggestedFilename()).toMatch(/^wheelhouse-data-.*\.json$/)

  await button(page, 'Delete account').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Invoices with the name that they were issued to').waitFor()
  await dialog.getByLabel('Confirm with').fill('somebody else')
  await dialog.getByRole('button', { name: 'Delete account' }).click()
  await dialog.getByText('Must be your e-mail address or your display name').waitFor()
  await dialog.getByLabel('Confirm with').fill(user.name)
  await dialog.getByRole('button', { name: 'Delete account' }).click()
  await page.waitForURL(`${world.baseUrl}/`)
  expect(await context.cookies()).toEqual([])
  expect((await user.get('/api/auth/profile')).status).toBe(401)
  expect(email).toContain(user.name)
})
