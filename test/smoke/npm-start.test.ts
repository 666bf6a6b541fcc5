import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isHalted, SimulatedRobot } from '../../packages/sdk/index.ts'
import { freePort } from '../../src/core/database/embedded-postmaster.ts'
import { runCommand, waitUntilDriving } from '../support/browser/cockpit.ts'
import { type ConsoleBrowser, heading, openConsole } from '../support/browser/console.ts'
import { costsOf } from '../support/browser/session-costs.ts'
import { startWheelhouse, type Wheelhouse } from '../support/processes/processes.ts'
import { waitFor } from '../support/world/wait.ts'

// Runs what `npm start` runs, with nothing but a new data folder, and a browser per user.

let dataDir: string
let app: Wheelhouse
let baseUrl: string
let browser: ConsoleBrowser

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-start-'))
  const { scripts } = JSON.parse(await readFile('package.json', 'utf8'))
  const [, ...args] = scripts.start.split(' ')
  // A busy machine sends the heartbeats of the robots late.
  const env = { DATA_DIR: dataDir, HEARTBEAT_TIMEOUT_MS: '60000', PORT: String(await freePort()) }
  app = startWheelhouse(env, [], [process.execPath, ...args])
  baseUrl = (await app.serving()).baseUrl
  browser = await openConsole(baseUrl)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await app?.end('SIGTERM')
  await rm(dataDir, { recursive: true, force: true })
})

const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' })
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const go = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first().click()

/** Takes a robot for the first time, through its pre-flight. */
async function driveNow(operator: Page, robot: string): Promise<void> {
  await button(operator, `Drive now: ${robot}`).click()
  await button(operator, 'Drive now').click()
  await operator.waitForURL('**/dashboard/drive/*')
  await waitUntilDriving(operator)
}

async function endFromCockpit(operator: Page): Promise<void> {
  await runCommand(operator, 'end')
  await operator.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
  await operator.getByText('Session ended').first().waitFor()
}

/** Signs in a new user and completes onboarding. */
async function newUser(name: string, choice: string): Promise<Page> {
  const { page } = await browser.signIn(`${name}@test.local`)
  await button(page, choice).click()
  if (choice === 'Continue as operator') await page.getByLabel('Headline').fill('Steady hands')
  await button(page, 'Save').click()
  await heading(page, /^Good /)
  return page
}

/** Registers a robot for certified operators and connects it with the shown token. */
async function registerRobot(owner: Page): Promise<SimulatedRobot> {
  await go(owner, 'Robots')
  await owner.getByRole('link', { name: 'Register robot' }).first().click()
  await owner.getByLabel('Name').fill('Courier')
  await owner.getByRole('textbox', { name: 'Type' }).fill('story-bot')
  await owner.getByLabel('Hardware ID').fill('story-1')
  await owner.getByLabel('Certified operators only').click()
  await button(owner, 'Register').click()
  await owner.getByText('Waiting for Courier to connect').waitFor()
  const shown = owner.getByRole('region', { name: 'Token and programs' })
  const [token = '', url = ''] = await shown.locator('pre').allTextContents()
  const robot = new SimulatedRobot({ url, token })
  await robot.start()
  await owner.getByText('Courier is connected').waitFor()
  return robot
}

async function becomeCertified(operator: Page): Promise<void> {
  await go(operator, 'Certifications')
  await operator.getByRole('combobox', { name: 'Robot type' }).fill('story-bot')
  await button(operator, 'Request').click()
  const row = operator.getByRole('row', { name: /story-bot/ })
  await row.getByText('Pending').waitFor()
  const { page: admin, context } = await browser.signIn('admin@demo.local', '/dashboard/admin/certifications')
  await button(admin, /^Approve .* for story-bot$/).click()
  await admin.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
  await row.getByText('Approved').waitFor()
  await context.close()
}

test('it serves, and a visitor drives a robot of the demo by its live picture', async () => {
  expect(await (await fetch(`${baseUrl}/api/health`)).json()).toMatchObject({ status: 'ok', db: 'ok' })
  const { page, context } = await browser.signIn('operator@demo.local', '/dashboard/available')
  await driveNow(page, 'Ronja')
  await page.locator('[data-testid=freshness][data-state=LIVE]').waitFor()
  await page.keyboard.down('ArrowUp')
  await waitFor(async () => expect(await page.getByTestId('speed').innerText()).toMatch(/0\.[1-9]/))
  await page.keyboard.up('ArrowUp')
  await endFromCockpit(page)
  await context.close()
})

test('from the first sign-in to the rating', async () => {
  const owner = await newUser('story-owner', 'Continue as owner')
  const operator = await newUser('story-operator', 'Continue as operator')
  const robot = await registerRobot(owner)
  await becomeCertified(operator)
  const waitUntilHalted = () => waitFor(() => expect(isHalted(robot.state)).toBe(true))

  await go(operator, 'Available robots')
  await driveNow(operator, 'Courier')
  const sessionId = new URL(operator.url()).pathname.split('/').at(-1)
  const { xM } = robot.state
  await operator.keyboard.down('ArrowUp')
  await waitFor(() => expect(robot.state.xM).toBeGreaterThan(xM + 0.2))
  await operator.keyboard.up('ArrowUp')
  await waitUntilHalted()
  await operator.keyboard.press('Enter')
  await operator.keyboard.type('Where to?')
  await operator.keyboard.press('Enter')

  await go(owner, 'Sessions')
  await owner.getByRole('link', { name: 'Watch' }).first().click()
  await owner.getByRole('log', { name: 'Chat' }).getByText('Where to?').waitFor()
  await owner.getByRole('tab', { name: 'Values' }).click()
  await region(owner, 'Telemetry')
    .getByText(/\d m\/s/)
    .first()
    .waitFor()
  await owner.getByRole('tab', { name: 'Cost' }).click()
  await owner.getByLabel('Extra minutes').fill('20')
  await button(owner, 'Request extension').click()
  await button(operator, 'Accept').click()
  await owner.getByText('20 more minutes approved.').first().waitFor()

  await operator.getByTestId('cockpit-picture').click({ position: { x: 200, y: 200 } })
  await operator.keyboard.down('ArrowLeft')
  await waitFor(() => expect(isHalted(robot.state)).toBe(false))
  await button(owner, 'Stop the robot').click()
  await waitUntilHalted()
  await operator.keyboard.up('ArrowLeft')
  // Until the stop is confirmed, the page repeats it.
  await region(owner, 'Stop in force')
    .getByText(/^You stopped the robot/)
    .waitFor()
  await operator.getByTestId('stop-banner').getByText('Stopped by the owner').waitFor()
  await button(owner, 'Clear stop').click()
  await owner.getByRole('dialog').getByRole('button', { name: 'Clear stop' }).click()
  await button(operator, 'Resume').click()
  await waitUntilDriving(operator)
  await operator.keyboard.down('ArrowLeft')
  await waitFor(() => expect(isHalted(robot.state)).toBe(false))
  await operator.keyboard.up('ArrowLeft')
  await waitUntilHalted()

  await endFromCockpit(operator)
  await owner.getByRole('heading', { name: 'Summary' }).waitFor()
  await owner.getByRole('radio', { name: '5 stars' }).focus()
  await owner.keyboard.press('Space')
  await button(owner, 'Submit rating').click()
  await owner.getByRole('img', { name: 'Rated 5 stars' }).waitFor()

  await go(owner, 'Statistics')
  await heading(owner, 'Statistics')
  const session = await operator.request.get(new URL(`/api/sessions/${sessionId}`, operator.url()).href)
  const { charge, earnings } = costsOf(await session.json())
  await owner.getByText(charge).first().waitFor()
  await go(operator, 'View session')
  await go(operator, 'Earnings')
  await operator.getByText(earnings).first().waitFor()
  await go(owner, 'Robots')
  await robot.close()
  await owner.getByRole('row', { name: /Courier.*Offline/ }).waitFor()
  expect(await region(owner, 'Remote stop').count(), 'the stop bar disappears').toBe(0)
})

test('SIGTERM ends it with code 0, and its PostgreSQL with it', async () => {
  const pidFile = join(dataDir, 'postgres/cluster/data/postmaster.pid')
  expect(existsSync(pidFile)).toBe(true)
  expect(await app.end('SIGTERM'), app.output()).toEqual({ code: 0, signal: null })
  expect(existsSync(pidFile)).toBe(false)
})
