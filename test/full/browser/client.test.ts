import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  heading,
  openConsole,
  seriousIssues,
} from '../../support/browser/console.ts'
import { storeEpisode } from '../../support/world/episodes.ts'
import { performAction, start } from '../../support/world/session-fixtures.ts'
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

/** Creates an owner with a complete account. */
async function newOwner() {
  const owner = await world.client()
  await owner.patch('/api/client/profile', { contact_email: `${owner.name}@test.local` })
  return owner
}

/** Runs a copied program in a folder with the project's packages. */
async function runCopied(name: string, program: string) {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-copied-'))
  await symlink(
    fileURLToPath(new URL('../../../node_modules', import.meta.url)),
    join(folder, 'node_modules'),
  )
  await writeFile(join(folder, name), program)
  const running = spawn(process.execPath, [name], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [running.stdout, running.stderr]) stream.on('data', (text) => (output += text))
  const ended = once(running, 'exit')
  return {
    output: () => output,
    async [Symbol.asyncDispose]() {
      running.kill()
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

/** Returns everything in the page that could contain a secret. */
async function pageTraces(page: Page): Promise<string> {
  const kept = await page.evaluate(
    'JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}, history.state, document.title])',
  )
  return [await page.content(), page.url(), kept].join('\n')
}

test('an owner registers a robot, connects it with the shown code and sees its status live', async () => {
  const owner = await newOwner()
  await world.robot(owner, { name: 'Older arm', hardware_id: 'taken-already' })
  await world.robot(await world.client(), { name: 'Foreign arm', hardware_id: 'taken-by-others' })
  const { page, context } = await browser.enter(owner, '/dashboard/robots', {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await page.getByRole('link', { name: 'Register robot' }).click()
  await heading(page, 'Register a robot')
  expect(await seriousIssues(page), 'the form').toEqual([])
  await page.getByLabel('Name').fill('Warehouse arm')
  await page.getByRole('textbox', { name: 'Type' }).fill('diffdrive-demo')
  const hardware = page.getByLabel('Hardware ID')
  await hardware.fill('taken-already')
  await page.getByRole('combobox', { name: 'Tags' }).fill('berlin')
  await page.getByRole('combobox', { name: 'Tags' }).press('Enter')
  await page.getByRole('button', { name: 'Register' }).click()
  await page.getByText('Your robot "Older arm" has this id').waitFor()
  expect(await hardware.evaluate('document.activeElement.value')).toBe('taken-already')
  expect(await page.getByLabel('Name').inputValue()).toBe('Warehouse arm')
  // The error says what to do, and nothing about the robot of another owner.
  await hardware.fill('taken-by-others')
  await page.getByRole('button', { name: 'Register' }).click()
  await page.getByText('Cannot be registered. Check the id. If it is right, contact support.').waitFor()
  expect(await page.content()).not.toContain('Foreign arm')
  await hardware.fill('board-of-the-arm')
  await hardware.press('Enter')

  await heading(page, 'Connect Warehouse arm')
  await page.getByText('You will not see it again').waitFor()
  await page.getByText('Waiting for Warehouse arm to connect').waitFor()
  expect(await page.evaluate('document.activeElement.textContent')).toContain('Pairing code')
  await expectAccessibleLayout(page, 'the token')
  const shown = page.getByRole('region', { name: 'Token and programs' })
  const [token = '', url = '', install = '', program = ''] = await shown.locator('pre').allTextContents()
  expect(install).toContain(`${world.baseUrl}/downloads/wheelhouse-sdk.tgz`)
  expect(program).toContain(token)
  await shown.getByRole('button', { name: 'Copy' }).first().click()
  await shown.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token)

  {
    await using copied = await runCopied('my-robot.ts', program)
    await page
      .getByText('Warehouse arm is connected')
      .waitFor()
      .catch((cause) => {
        throw new Error(copied.output(), { cause })
      })
    for (const tab of ['Real robot', 'Python']) {
      await shown.getByRole('tab', { name: tab }).click()
      const code = shown.getByRole('tabpanel').locator('pre')
      await waitFor(async () => expect(await code.textContent()).toContain(token))
      expect(await code.textContent()).toContain(url)
      expect(await seriousIssues(page), tab).toEqual([])
    }
    await page.getByRole('link', { name: 'Done' }).click()
    await heading(page, /^Warehouse arm$/)
    await page.getByText('Ready', { exact: true }).waitFor()
    expect((await pageTraces(page)).includes(token)).toBe(false)
    await page.getByRole('link', { name: 'Robots', exact: true }).click()
    await page.getByRole('row', { name: /Warehouse arm.*Ready.*berlin/ }).waitFor()
  }
  await page.getByRole('row', { name: /Warehouse arm.*Offline/ }).waitFor()
  await expectNoTokenInHistory(page, context, token)
})

/** Checks that going back in the history does not show the token again. */
async function expectNoTokenInHistory(page: Page, context: BrowserContext, token: string) {
  await page.goBack()
  await page.goBack()
  await heading(page, 'Register a robot')
  expect((await pageTraces(page)).includes(token)).toBe(false)
  expect(JSON.stringify(await context.cookies())).not.toContain(token)
}

test('a replaced token stops working, and the new one is shown once and connects', async () => {
  const owner = await newOwner()
  const robot = await world.robot(owner, { name: 'Runner' })
  const old = (await world.connect(robot)).beat()
  const { page } = await browser.enter(owner, `/dashboard/robots/${robot.id}?tab=connect`)
  await page.getByText('Ready', { exact: true }).waitFor()
  expect((await pageTraces(page)).includes(robot.token)).toBe(false)
  await page.getByRole('button', { name: 'Replace token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Replace the token of Runner?' })
  expect(await seriousIssues(page), 'the dialog').toEqual([])
  expect(old.socket.readyState).toBe(old.socket.OPEN)
  await dialog.getByRole('button', { name: 'Replace', exact: true }).click()
  await page.getByText('Waiting for Runner to connect').waitFor()
  await old.closed
  await expect(world.connect(robot)).rejects.toThrow()

  const token = (await page.locator('pre').first().textContent()) ?? ''
  const link = (await world.connect({ id: robot.id, token })).beat()
  await page.getByText('Runner is connected').waitFor()
  await page.getByRole('button', { name: 'Hide token' }).click()
  await page.getByRole('button', { name: 'Replace token' }).waitFor()
  expect((await pageTraces(page)).includes(token)).toBe(false)
  await link.close()
  await page.getByText('Offline', { exact: true }).waitFor()
})

test('an owner changes a robot and removes it once it has no open session', async () => {
  const schema = { type: 'object', properties: { lamp: { type: 'boolean' } } }
  const owner = await newOwner()
  const robot = await world.robot(owner, { name: 'Runner', robot_type: 'testbot' })
  ;(await world.connect(robot)).beat()
  const operator = await world.operator()
  const sessionId = await start(operator, robot.id)
  const { page } = await browser.enter(owner, `/dashboard/robots/${robot.id}?tab=sessions`)
  await page.getByText('Driving', { exact: true }).waitFor()
  await page.getByRole('row', { name: new RegExp(operator.name) }).waitFor()
  await page.getByRole('tab', { name: 'Settings' }).click()

  const settings = page.getByRole('region', { name: 'Settings' })
  await settings.getByLabel('Name').fill('Swift runner')
  await settings.getByRole('textbox', { name: 'Video' }).fill('ftp://nowhere')
  await settings.getByLabel('Notes', { exact: true }).fill('Mind the step')
  await settings.getByLabel('Latency limit').fill('300')
  await settings.getByLabel('Latency budget').fill('150')
  await settings.getByLabel('Picture age limit').fill('900')
  await settings.getByText('Schemas of commands and telemetry').click()
  await settings.getByRole('textbox', { name: 'Control schema' }).fill('{')
  await settings.getByText('This is not valid JSON.').waitFor()
  await settings.getByRole('textbox', { name: 'Control schema' }).fill(JSON.stringify(schema))
  const telemetrySchema = { type: 'object', properties: { battery: { type: 'number', 'x-kind': 'battery' } } }
  await settings.getByRole('textbox', { name: 'Telemetry schema' }).fill(JSON.stringify(telemetrySchema))
  await settings.getByRole('switch', { name: 'Strict control' }).click()
  await settings.getByLabel('Certified operators only').click()
  await settings.getByRole('button', { name: 'Save' }).click()
  await waitFor(async () =>
    expect(await settings.locator('[aria-invalid=true]').inputValue()).toBe('ftp://nowhere'),
  )
  await settings.getByRole('textbox', { name: 'Video' }).fill('https://cam.test.local/1')
  await settings.getByRole('button', { name: 'Save' }).click()
  await settings.getByText('Saved').waitFor()
  await heading(page, 'Swift runner')
  expect((await owner.get(`/api/client/robots/${robot.id}`)).body).toMatchObject({
    name: 'Swift runner',
    stream_url: 'https://cam.test.local/1',
    notes: 'Mind the step',
    latency_limit_ms: 300,
    latency_budget_ms: 150,
    video_limit_ms: 900,
    control_schema: schema,
    telemetry_schema: telemetrySchema,
    strict_control: true,
    require_certification: true,
  })

  await page.getByRole('button', { name: 'Remove robot' }).click()
  const dialog = page.getByRole('dialog')
  const remove = dialog.getByRole('button', { name: 'Remove' })
  expect(await remove.isDisabled()).toBe(true)
  await dialog.getByRole('textbox').fill('Swift runner')
  await dialog.getByRole('textbox').press('Enter')
  await dialog.getByText('The robot is in a session').waitFor()
  expect(await seriousIssues(page), 'the rejected removal').toEqual([])
  await performAction(operator, sessionId, 'end')
  await remove.click()
  await page.getByText('No robots yet').waitFor()
  expect((await owner.get('/api/client/robots')).body).toEqual([])
})

test('an owner releases a robot from a paused session', async () => {
  const owner = await newOwner()
  const robot = await world.robot(owner, { name: 'Left behind', robot_type: 'testbot' })
  ;(await world.connect(robot)).beat()
  const operator = await world.operator()
  const sessionId = await start(operator, robot.id)
  await performAction(operator, sessionId, 'pause')
  const { page } = await browser.enter(owner, `/dashboard/robots/${robot.id}`)
  const release = page.getByRole('button', { name: 'Release robot' })
  await release.click()
  const dialog = page.getByRole('dialog')
  expect(await seriousIssues(page), 'the dialog').toEqual([])
  await dialog.getByRole('button', { name: 'End session' }).click()
  await page.getByText('Ready', { exact: true }).waitFor()
  await release.waitFor({ state: 'detached' })
  expect((await owner.get(`/api/sessions/${sessionId}`)).body.status).toBe('COMPLETED')
})

test('the robot list filters by name, tag and status, and shows its age while offline', async () => {
  const owner = await newOwner()
  const online = await world.robot(owner, { name: 'Arm one', tags: ['berlin'] })
  await world.robot(owner, { name: 'Arm two', tags: ['oslo'] })
  ;(await world.connect(online)).beat()
  const { page, context } = await browser.enter(owner, '/dashboard/robots')
  const links = page.getByRole('table').getByRole('link', { name: /^Arm/ })
  const names = async () => (await links.allTextContents()).toSorted()
  await waitFor(async () => expect(await names()).toEqual(['Arm one', 'Arm two']))
  await page.getByLabel('Search').fill('ARM osl')
  await waitFor(async () => expect(await names()).toEqual(['Arm two']))
  await page.getByLabel('Search').fill('')
  await page
    .getByRole('group', { name: 'Status' })
    .getByRole('button', { name: /^Ready/ })
    .click()
  await waitFor(async () => expect(await names()).toEqual(['Arm one']))
  await page.getByLabel('Search').fill('nothing like it')
  await page.getByText('No matching robots').waitFor()

  await context.setOffline(true)
  await page.getByText('No live connection. Last updated').waitFor()
  await context.setOffline(false)
  await page.getByText('No live connection').waitFor({ state: 'hidden' })
})

test('the registration form requires certified operators by default', async () => {
  const owner = await newOwner()
  const { page } = await browser.enter(owner, '/dashboard/robots/new')
  await page.getByLabel('Name').fill('Careful arm')
  await page.getByRole('textbox', { name: 'Type' }).fill('so-101')
  await page.getByLabel('Hardware ID').fill('careful-1')
  expect(await page.getByLabel('Certified operators only').isChecked()).toBe(true)
  await page.getByRole('button', { name: 'Register' }).click()
  await heading(page, 'Connect Careful arm')
  const [robot] = (await owner.get('/api/client/robots')).body
  expect((await owner.get(`/api/client/robots/${robot.id}`)).body).toMatchObject({
    require_certification: true,
    stop_clear: 'owner',
  })

  await page.goto(`${world.baseUrl}/dashboard/robots/${robot.id}?tab=settings`)
  const settings = page.getByRole('region', { name: 'Settings' })
  await settings.getByLabel('Also the operator').click()
  await settings.getByRole('button', { name: 'Save' }).click()
  await waitFor(async () => {
    expect((await owner.get(`/api/client/robots/${robot.id}`)).body).toMatchObject({ stop_clear: 'anyone' })
  })
})

test('an owner removes the owner role after removing all robots', async () => {
  const owner = await newOwner()
  const robot = await world.robot(owner)
  await owner.post('/api/auth/profile', { role: 'operator' })
  await owner.post('/api/operator/profile', { headline: 'Both', timezone: 'UTC' })
  const { page } = await browser.enter(owner, '/dashboard/settings')
  const roles = page.getByRole('region', { name: 'Roles' })
  await roles.getByRole('button', { name: 'Remove role: Owner' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Remove role' }).click()
  await dialog.getByText('You have robots. Remove them first.').waitFor()
  await owner.delete(`/api/client/robots/${robot.id}`)
  await dialog.getByRole('button', { name: 'Remove role' }).click()
  await roles.getByRole('button', { name: 'Add role: Owner' }).click()
  await roles.getByRole('button', { name: 'Remove role: Owner' }).waitFor()
  expect((await owner.get('/api/auth/profile')).body.roles).toEqual(['client', 'operator'])
})

test('datasets show their size and load episodes page by page, and only web addresses become links', async () => {
  const owner = await newOwner()
  const robot = await world.robot(owner, { name: 'Recorder' })
  const link = await world.connect(robot)
  const startMs = Date.now() - 3_600_000
  for (let index = 0; index < 51; index++) {
    const started_at = startMs + index * 10_000
    await storeEpisode(link, {
      episode_id: `run-${index}`,
      started_at,
      ended_at: started_at + 5_000,
      size_bytes: 2_000_000,
      ...(index === 50 && { success: true, uri: 'https://store.test.local/run-50.mcap' }),
      ...(index === 49 && { success: false, uri: 's3://episodes/run-49.mcap' }),
    })
  }
  const { page } = await browser.enter(owner, '/dashboard/datasets')
  const row = page.getByRole('row', { name: /Recorder/ })
  await row.waitFor()
  expect(await row.getByRole('cell').allTextContents()).toEqual([
    '',
    expect.stringContaining('Recorder'),
    '51',
    '051 × no recording', // can be exported
    '102 MB',
    'just now',
  ])
  await row.getByRole('link').click()
  await heading(page, 'Episodes of Recorder')
  const episodes = page.getByRole('table', { name: 'Episodes' }).locator('tbody tr')
  await waitFor(async () => expect(await episodes.count()).toBe(50))
  expect(await episodes.first().textContent()).toMatch(/0:05.*2 MB.*Success/)
  const safe = episodes.first().getByRole('link')
  expect(await safe.getAttribute('href')).toBe('https://store.test.local/run-50.mcap')
  expect(await safe.getAttribute('rel')).toContain('noopener')
  expect(await episodes.nth(1).textContent()).toMatch(/Failure.*s3:\/\/episodes\/run-49/)
  expect(await episodes.nth(1).getByRole('link').count()).toBe(0)
  await page.getByRole('button', { name: 'Older episodes' }).click()
  await waitFor(async () => expect(await episodes.count()).toBe(51))
  expect(await page.getByRole('button', { name: 'Older episodes' }).count()).toBe(0)
})

test('without a payment provider the billing pages show a notice instead of an error', async () => {
  const owner = await newOwner()
  const { page } = await browser.enter(owner, '/dashboard/invoices')
  await page.getByText('No invoices yet').waitFor()
  await page.getByRole('row', { name: /Standard.*€0\.50/ }).waitFor()
  await page.getByRole('button', { name: 'Add payment method' }).click()
  await page.getByText('Payments are not set up on this platform').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(await seriousIssues(page)).toEqual([])
})
