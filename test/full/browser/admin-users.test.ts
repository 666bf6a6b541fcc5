import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  openConsole,
  seriousIssues,
} from '../../support/browser/console.ts'
import { connectTo } from '../../support/database/sql.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
let admin: TestUser
beforeAll(async () => {
  world = await createWorld({ env: { OPERATOR_GRACE_MS: '60000' } })
  browser = await openConsole(world.baseUrl)
  admin = await world.admin()
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

const adminAt = async (path: string) => (await browser.enter(admin, `/dashboard${path}`)).page
const statusOf = async (user: TestUser) => (await user.get('/api/auth/profile')).status

test('an admin finds a person, revokes a certification, suspends the person with a reason and restores the person', async () => {
  const operator = await world.operator()
  await operator.post('/api/auth/profile', { display_name: 'Margaret Hamilton' })
  const { id } = (await operator.post('/api/operator/certifications', { robot_type: 'crane' })).body
  await admin.post(`/api/admin/certifications/${id}/approve`)

  const page = await adminAt('/admin/users')
  await page.getByPlaceholder('Name, e-mail or id').fill('hamil')
  await page.waitForURL(/search=hamil/)
  await page.getByRole('link', { name: 'Margaret Hamilton' }).click()
  await page.getByRole('heading', { name: 'Margaret Hamilton', exact: true }).waitFor()
  await expectAccessibleLayout(page, 'user')

  await page.getByRole('button', { name: 'Revoke Margaret Hamilton for crane' }).click()
  await page.getByRole('dialog').getByLabel('Reason').fill('The training has expired')
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('cell', { name: 'Revoked' }).waitFor()
  await page.getByText('The training has expired').waitFor()

  await page.getByRole('button', { name: 'Suspend', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Reason').fill('Unsafe driving')
  expect(await seriousIssues(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('alert').getByText('Unsafe driving').waitFor()
  expect(await statusOf(operator)).toBe(403)

  const { page: theirs } = await browser.enter(operator, '/dashboard')
  await theirs.getByRole('heading', { name: 'Account suspended' }).waitFor()
  await theirs.getByText('Unsafe driving').waitFor()
  expect(await seriousIssues(theirs)).toEqual([])

  await page.getByRole('button', { name: 'Restore', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click()
  await page.getByRole('button', { name: 'Suspend', exact: true }).waitFor()
  expect(await statusOf(operator)).toBe(200)

  await page.getByRole('link', { name: 'Audit log' }).last().click()
  await page.getByRole('link', { name: 'User restored' }).waitFor()
  await page.getByRole('link', { name: 'User Margaret Hamilton' }).first().waitFor()
  await page.getByRole('link', { name: admin.name }).first().waitFor()
})

test('an admin removes and restores a role', async () => {
  const operator = await world.operator()
  const page = await adminAt(`/admin/users/${operator.id}`)
  await page.getByRole('button', { name: 'Remove role: Operator' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove role' }).click()
  await page.getByText('Removed by an administrator').waitFor()
  await page.getByRole('button', { name: 'Restore role: Operator' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Restore role' }).click()
  await page.getByRole('button', { name: 'Remove role: Operator' }).waitFor()
  expect((await operator.get('/api/auth/profile')).body.roles).toEqual(['operator'])
})

test('the navigation leads an admin to all sessions and robots, which name their people', async () => {
  const { client, operator, robot, id } = await openSessionFixture(world)
  await client.patch(`/api/client/robots/${robot.id}`, { name: 'Zebra lifter' })
  const page = await adminAt('/')
  await page.getByRole('link', { name: 'Sessions', exact: true }).first().click()
  await page.waitForURL(/\/admin\/sessions/)
  await page.getByPlaceholder('Robot, person or id').fill(operator.name)
  await page.waitForURL(/search=/)
  const row = page.getByRole('row', { name: /Zebra lifter/ })
  await row.getByRole('link', { name: operator.name }).waitFor()
  await row.getByRole('link', { name: client.name }).waitFor()
  await page.getByRole('link', { name: 'Zebra lifter' }).click()
  await page.waitForURL(new RegExp(`/sessions/${id}`))

  await page.goto(`${world.baseUrl}/dashboard/admin/robots?search=zebra`)
  await page.getByRole('link', { name: 'Open session on Zebra lifter' }).waitFor()
  await page.getByRole('link', { name: client.name }).click()
  await page.getByRole('heading', { name: client.name, exact: true }).waitFor()
  await page.getByText('Zebra lifter').waitFor()
  await waitFor(async () => expect(await seriousIssues(page)).toEqual([]))
})

test('an admin filters robots by a tag and a low battery', async () => {
  const client = await world.client()
  const [low, full] = [
    await world.robot(client, { name: 'Lifter low', tags: ['pier 9'] }),
    await world.robot(client, { name: 'Lifter full', tags: ['pier 9'] }),
  ]
  await world.robot(client, { name: 'Lifter other' })
  await using database = await connectTo(world.database.url)
  const setCharge = 'update robot_presence set battery = $2, battery_low = $3 where robot_id = $1'
  await database.query(setCharge, [low.id, 0.1, true])
  await database.query(setCharge, [full.id, 0.9, false])
  const page = await adminAt('/admin/robots?search=Lifter')
  const robot = (name: string) => page.getByRole('link', { name, exact: true })
  await robot('Lifter other').waitFor()
  await page.getByRole('link', { name: 'Robots with the tag pier 9' }).first().click()
  await robot('Lifter other').waitFor({ state: 'detached' })
  await robot('Lifter full').waitFor()
  await page.getByRole('group', { name: 'Battery' }).getByRole('button', { name: 'Low battery' }).click()
  await robot('Lifter full').waitFor({ state: 'detached' })
  await robot('Lifter low').waitFor()
  expect(new URL(page.url()).searchParams.get('tag')).toBe('pier 9')
  await page.getByText('10%').waitFor()
  await page.reload()
  await robot('Lifter low').waitFor()
  await expectAccessibleLayout(page, 'robots of all owners')
})
