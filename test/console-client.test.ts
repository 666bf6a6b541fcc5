import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { act, start } from './support/cast.ts'
import { type ConsoleBrowser, openConsole, seriousIssues } from './support/console.ts'
import { storeEpisode } from './support/episodes.ts'
import { createInvoiceStage } from './support/stripe/invoice-stage.ts'
import { createWorld, type World } from './support/world.ts'

let world: World
let browser: ConsoleBrowser

beforeAll(async () => {
  world = await createWorld()
  browser = await openConsole(world.baseUrl)
}, 120_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

/** A robot owner whose account is complete. */
async function newOwner() {
  const owner = await world.client()
  await owner.patch('/api/client/profile', { contact_email: `${owner.name}@test.local` })
  return { owner, email: `${owner.name}@test.local` }
}
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 }).waitFor()

/** Runs a program as somebody would who has copied it into a folder of the project. */
async function runCopied(name: string, program: string) {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-copied-'))
  await symlink(fileURLToPath(new URL('../node_modules', import.meta.url)), join(folder, 'node_modules'))
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

const overflow = (page: Page) => page.evaluate('document.documentElement.scrollWidth - window.innerWidth')

/** The page as it stands, in light and in dark, on a desk and on a phone. */
async function looksWell(page: Page, what: string) {
  const desk = page.viewportSize()
  expect(await seriousIssues(page), what).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await seriousIssues(page), `${what}, dark, on a phone`).toEqual([])
  expect(await overflow(page), what).toBeLessThanOrEqual(0)
  await page.emulateMedia({ colorScheme: 'light' })
  if (desk) await page.setViewportSize(desk)
}

/** Everything of the page that could hold a secret. */
async function traces(page: Page): Promise<string> {
  const kept = await page.evaluate(
    'JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}, history.state, document.title])',
  )
  return [await page.content(), page.url(), kept].join('\n')
}

test('an owner registers a robot, connects it with the code that is shown, and sees it come and go', {
  timeout: 90_000,
}, async () => {
  const { owner, email } = await newOwner()
  await world.robot(owner, { hardware_id: 'taken-already' })
  const { page, context } = await browser.signIn(email, '/dashboard/robots', {
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await page.getByRole('link', { name: 'Register a robot' }).click()
  await heading(page, 'Register a robot')
  expect(await seriousIssues(page), 'the form').toEqual([])
  await page.getByLabel('Name').fill('Warehouse arm')
  await page.getByRole('textbox', { name: 'Type' }).fill('diffdrive-demo')
  const hardware = page.getByLabel('Hardware id')
  await hardware.fill('taken-already')
  await page.getByRole('combobox', { name: 'Tags' }).fill('berlin')
  await page.getByRole('combobox', { name: 'Tags' }).press('Enter')
  await page.getByRole('button', { name: 'Register' }).click()
  await page.getByText('Already belongs to a robot').waitFor()
  expect(await hardware.evaluate('document.activeElement.value')).toBe('taken-already')
  expect(await page.getByLabel('Name').inputValue()).toBe('Warehouse arm')
  await hardware.fill('board-of-the-arm')
  await hardware.press('Enter')

  await heading(page, 'Connect Warehouse arm')
  await page.getByText('It is not shown again').waitFor()
  expect(await page.evaluate('document.activeElement.textContent')).toContain('Keep the token now')
  await page.getByText('Waiting for Warehouse arm to connect').waitFor()
  await looksWell(page, 'the token')
  const [token = '', url = '', program = ''] = await page.locator('pre').allTextContents()
  expect(program).toContain(token)
  await page.getByRole('button', { name: 'Copy' }).first().click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token)

  {
    await using copied = await runCopied('my-robot.ts', program)
    await page
      .getByText('Warehouse arm is connected')
      .waitFor()
      .catch((cause) => {
        throw new Error(copied.output(), { cause })
      })
    await page
      .getByRole('region', { name: 'Connection of the robot' })
      .getByText(/Last heartbeat \d+ s ago/)
      .waitFor()
    for (const tab of ['Real robot', 'Python']) {
      await page.getByRole('tab', { name: tab }).click()
      const code = page.getByRole('tabpanel').locator('pre')
      await vi.waitFor(async () => expect(await code.textContent()).toContain(token))
      expect(await code.textContent()).toContain(url)
      expect(await seriousIssues(page), tab).toEqual([])
    }
    await page.getByRole('link', { name: 'Done' }).click()
    await heading(page, 'Warehouse arm')
    await page.getByText('Online', { exact: true }).waitFor()
    expect(await traces(page)).not.toContain(token)
    await page.getByRole('link', { name: 'Robots', exact: true }).click()
    await page.getByRole('row', { name: /Warehouse arm.*Online.*berlin/ }).waitFor()
  }
  await page.getByRole('row', { name: /Warehouse arm.*Offline/ }).waitFor()
  await back(page, context, token)
})

/** Going back does not bring a token back. */
async function back(page: Page, context: BrowserContext, token: string) {
  await page.goBack()
  await page.goBack()
  await heading(page, 'Register a robot')
  expect(await traces(page)).not.toContain(token)
  expect(JSON.stringify(await context.cookies())).not.toContain(token)
}

test('a replaced token is worth nothing; the new one is shown once and connects', async () => {
  const { owner, email } = await newOwner()
  const robot = await world.robot(owner, { name: 'Runner' })
  const old = (await world.connect(robot)).beat()
  const { page } = await browser.signIn(email, `/dashboard/robots/${robot.id}`)
  await page.getByText('Online', { exact: true }).waitFor()
  expect(await traces(page)).not.toContain(robot.token)
  await page.getByRole('button', { name: 'Replace the token' }).click()
  const dialog = page.getByRole('dialog', { name: 'Replace the token of Runner?' })
  expect(await seriousIssues(page), 'the question').toEqual([])
  expect(old.socket.readyState).toBe(old.socket.OPEN)
  await dialog.getByRole('button', { name: 'Replace', exact: true }).click()
  await page.getByText('Waiting for Runner to connect').waitFor()
  await old.closed
  await expect(world.connect(robot)).rejects.toThrow()

  const token = (await page.locator('pre').first().textContent()) ?? ''
  const link = (await world.connect({ id: robot.id, token })).beat()
  await page.getByText('Runner is connected').waitFor()
  await page.getByRole('button', { name: 'Hide the token' }).click()
  await page.getByRole('button', { name: 'Replace the token' }).waitFor()
  expect(await traces(page)).not.toContain(token)
  await link.close()
  await page.getByText('Offline', { exact: true }).waitFor()
})

test('a robot is changed, and removed by its name once nobody drives it', async () => {
  const { owner, email } = await newOwner()
  const robot = await world.robot(owner, { name: 'Runner', robot_type: 'testbot' })
  ;(await world.connect(robot)).beat()
  const operator = await world.operator()
  const sessionId = await start(operator, robot.id)
  const { page } = await browser.signIn(email, `/dashboard/robots/${robot.id}`)
  await page.getByText('In a session', { exact: true }).waitFor()
  await page.getByRole('row', { name: new RegExp(operator.name) }).waitFor()

  const settings = page.getByRole('region', { name: 'Settings' })
  await settings.getByLabel('Name').fill('Swift runner')
  await settings.getByLabel('Video').fill('ftp://nowhere')
  await settings.getByLabel('Notes').fill('Mind the step')
  await settings.getByLabel('Latency limit').fill('300')
  await settings.getByLabel('Certified operators only').click()
  await settings.getByRole('button', { name: 'Save' }).click()
  await vi.waitFor(async () =>
    expect(await settings.locator('[aria-invalid=true]').inputValue()).toBe('ftp://nowhere'),
  )
  await settings.getByLabel('Video').fill('https://cam.test.local/1')
  await settings.getByRole('button', { name: 'Save' }).click()
  await settings.getByText('Saved').waitFor()
  await heading(page, 'Swift runner')
  expect((await owner.get(`/api/client/robots/${robot.id}`)).body).toMatchObject({
    ...{ name: 'Swift runner', stream_url: 'https://cam.test.local/1', notes: 'Mind the step' },
    ...{ latency_limit_ms: 300, require_certification: true },
  })

  await page.getByRole('button', { name: 'Remove the robot' }).click()
  const dialog = page.getByRole('dialog')
  const remove = dialog.getByRole('button', { name: 'Remove' })
  expect(await remove.isDisabled()).toBe(true)
  await dialog.getByRole('textbox').fill('Swift runner')
  await dialog.getByRole('textbox').press('Enter')
  await dialog.getByText('Somebody is driving it').waitFor()
  expect(await seriousIssues(page), 'the refusal').toEqual([])
  await act(operator, sessionId, 'end')
  await remove.click()
  await page.getByText('No robots yet').waitFor()
  expect((await owner.get('/api/client/robots')).body).toEqual([])
})

test('robots are found by what they are called, and by whether they are there', async () => {
  const { owner, email } = await newOwner()
  const there = await world.robot(owner, { name: 'Arm one', tags: ['berlin'] })
  await world.robot(owner, { name: 'Arm two', tags: ['oslo'] })
  ;(await world.connect(there)).beat()
  const { page, context } = await browser.signIn(email, '/dashboard/robots')
  const names = async () => (await page.getByRole('table').getByRole('link').allTextContents()).toSorted()
  await vi.waitFor(async () => expect(await names()).toEqual(['Arm one', 'Arm two']))
  await page.getByLabel('Search').fill('ARM osl')
  await vi.waitFor(async () => expect(await names()).toEqual(['Arm two']))
  await page.getByLabel('Search').fill('')
  await page.getByText('Connected', { exact: true }).click()
  await vi.waitFor(async () => expect(await names()).toEqual(['Arm one']))
  await page.getByLabel('Search').fill('nothing like it')
  await page.getByText('No robot is like that').waitFor()

  await context.setOffline(true)
  await page.getByText('No live connection: robots are shown as they were').waitFor()
  await context.setOffline(false)
  await page.getByText('No live connection').waitFor({ state: 'hidden' })
})

test('datasets: how much there is, its episodes page by page, links where a browser may go', async () => {
  const { owner, email } = await newOwner()
  const robot = await world.robot(owner, { name: 'Recorder' })
  const link = await world.connect(robot)
  const began = Date.now() - 3_600_000
  for (let index = 0; index < 51; index++) {
    const started_at = began + index * 10_000
    await storeEpisode(link, {
      ...{ episode_id: `run-${index}`, started_at, ended_at: started_at + 5_000, size_bytes: 2_000_000 },
      ...(index === 50 && { success: true, uri: 'https://store.test.local/run-50.mcap' }),
      ...(index === 49 && { success: false, uri: 's3://episodes/run-49.mcap' }),
    })
  }
  const { page } = await browser.signIn(email, '/dashboard/datasets')
  const row = page.getByRole('row', { name: /Recorder/ })
  await row.waitFor()
  expect(await row.getByRole('cell').allTextContents()).toEqual([
    expect.stringContaining('Recorder'),
    ...['51', '102 MB', 'just now'],
  ])
  await row.getByRole('link').click()
  await heading(page, 'Episodes of Recorder')
  const episodes = page.getByRole('table', { name: 'Episodes' }).locator('tbody tr')
  await vi.waitFor(async () => expect(await episodes.count()).toBe(50))
  expect(await episodes.first().textContent()).toMatch(/run-50.*0:05.*2 MB.*Success/)
  const safe = episodes.first().getByRole('link')
  expect(await safe.getAttribute('href')).toBe('https://store.test.local/run-50.mcap')
  expect(await safe.getAttribute('rel')).toContain('noopener')
  expect(await episodes.nth(1).textContent()).toMatch(/run-49.*No success.*s3:\/\/episodes\/run-49/)
  expect(await episodes.nth(1).getByRole('link').count()).toBe(0)
  await page.getByRole('button', { name: 'Older episodes' }).click()
  await vi.waitFor(async () => expect(await episodes.count()).toBe(51))
  expect(await page.getByRole('button', { name: 'Older episodes' }).count()).toBe(0)
})

test('on a platform without payments the billing pages are calm about it', async () => {
  const { email } = await newOwner()
  const { page } = await browser.signIn(email, '/dashboard/invoices')
  await page.getByText('No invoices yet').waitFor()
  await page.getByRole('row', { name: /Standard.*€0\.50/ }).waitFor()
  await page.getByRole('button', { name: 'Save a payment method' }).click()
  await page.getByText('Payments are not set up on this platform').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(await seriousIssues(page)).toEqual([])
})

test('a month of sessions is an invoice with its lines, is paid at the provider, and stands in the charts', {
  timeout: 90_000,
}, async () => {
  await using stage = await createInvoiceStage()
  await using console = await openConsole(stage.world.baseUrl)
  const { owner, operator, people } = stage
  await owner.patch('/api/client/profile', { contact_email: 'payer@test.local' })
  await stage.drive(27)
  const second = await start(operator, people.robotId)
  stage.later(90_000)
  await act(operator, second, 'pause')
  stage.later(130_000)
  await act(operator, second, 'end')
  await stage.closeMonth()

  const { page, context } = await console.signIn(`${owner.name}@test.local`, '/dashboard/invoices')
  const row = page.getByRole('row', { name: /January 2026/ })
  await row.getByText('To be paid').waitFor()
  await page.getByText('sent to you by mail, to be paid within 14 days').waitFor()
  await stage.run()
  await page.reload()
  const pay = row.getByRole('link', { name: 'See and pay' })
  const invoice = stage.theirs()
  expect(await pay.getAttribute('href')).toBe(invoice.hosted_invoice_url)
  expect(await pay.getAttribute('target')).toBe('_blank')
  expect(await pay.getAttribute('rel')).toContain('noopener')

  await row.getByRole('link', { name: 'January 2026', exact: true }).click()
  await heading(page, 'Invoice for January 2026')
  const rows = page.getByRole('table', { name: 'Lines of the invoice' }).getByRole('row')
  await rows.nth(3).waitFor()
  const cells = async (index: number) => (await rows.nth(index).getByRole('cell').allTextContents()).slice(1)
  const [robot, driver] = [expect.stringMatching(/^Robot/), operator.name]
  expect(await cells(1)).toEqual([robot, driver, '27', '', '', '€0.50', '€13.50'])
  expect(await cells(2)).toEqual([robot, driver, '2', '2 min 10 s', '', '€0.50', '€1.00'])
  expect(await rows.nth(3).textContent()).toMatch(/^2 sessions29.*2 min 10 s.*€14\.50$/)
  await looksWell(page, 'the invoice')

  // Told by the provider, it turns without a reload.
  stage.invoices.pay(invoice.id)
  expect(await stage.tell('invoice.paid', invoice.id)).toBe(200)
  await page.getByRole('main').getByText('Paid', { exact: true }).waitFor()
  await page.getByText(/^Paid on /).waitFor()
  await page.emulateMedia({ media: 'print' })
  expect(await page.getByRole('banner').isVisible()).toBe(false)
  expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
  expect(await rows.nth(3).isVisible()).toBe(true)
  await page.emulateMedia({ media: 'screen' })

  await page.getByRole('link', { name: 'Statistics' }).click()
  const spending = page.getByRole('table', { name: 'Spending by month' })
  await spending.getByRole('row', { name: /Jan 2026\s*€14\.50/ }).waitFor()
  expect(await spending.getByRole('row').count()).toBe(12)
  await page
    .getByRole('table', { name: 'Time driven by month' })
    .getByRole('row', { name: /Jan 2026\s*29 min/ })
    .waitFor()
  await page
    .getByRole('table', { name: 'Sessions' })
    .getByRole('row', { name: /Completed\s*2/ })
    .waitFor()
  await page
    .getByRole('table', { name: 'Robots now' })
    .getByRole('row', { name: /Online\s*1/ })
    .waitFor()
  await page.locator('.recharts-bar-rectangle path').first().waitFor()

  // The provider's page opens in place of this one.
  let opened = ''
  await context.route('https://billing.stripe.test/**', (route) => {
    opened = route.request().url()
    return route.fulfill({ contentType: 'text/html', body: '<h1>Your payment methods</h1>' })
  })
  await page.getByRole('link', { name: 'Invoices' }).click()
  await page.getByRole('button', { name: 'Save a payment method' }).click()
  await heading(page, 'Your payment methods')
  expect(opened).toContain('/p/session/')
  const { customerId } = (await owner.post('/api/payments/customer')).body
  stage.stripe.books.saveMethod(customerId)
  await stage.tell('customer.updated', customerId)
  await page.goto(`${stage.world.baseUrl}/dashboard/invoices`)
  await page.getByText('A payment method is saved').waitFor()
  await page.getByRole('button', { name: 'Change how you pay' }).waitFor()
})

test('an invoice of many sessions is read page by page, and printed only whole', {
  timeout: 90_000,
}, async () => {
  await using stage = await createInvoiceStage()
  await using console = await openConsole(stage.world.baseUrl)
  await stage.owner.patch('/api/client/profile', {
    contact_email: 'payer@test.local',
    company_name: 'Lovelace',
  })
  for (let count = 0; count < 101; count++) await stage.drive(1)
  await stage.closeMonth()
  const [{ id }] = await stage.list()
  const { page } = await console.signIn(`${stage.owner.name}@test.local`, `/dashboard/invoices/${id}`)
  await page.getByText('For Lovelace').waitFor()
  const lines = page.getByRole('table').locator('tbody tr')
  await vi.waitFor(async () => expect(await lines.count()).toBe(100))
  const print = page.getByRole('button', { name: 'Print' })
  expect(await print.isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'More lines (100 of 101)' }).click()
  await vi.waitFor(async () => expect(await lines.count()).toBe(101))
  expect(await print.isDisabled()).toBe(false)
  expect(await page.getByRole('table').locator('tfoot').textContent()).toMatch(/^101 sessions101€50\.50$/)
})

test.each([
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
] as const)(
  "an owner's pages are accessible: %s, %i pixels wide",
  { timeout: 60_000 },
  async (colorScheme, width) => {
    const { owner, email } = await newOwner()
    const robot = await world.robot(owner, {
      name: 'Recorder',
      tags: ['berlin'],
      stream_url: 'https://cam.test.local/1',
    })
    const link = (await world.connect(robot)).beat()
    await storeEpisode(link, { uri: 'https://store.test.local/1.mcap' })
    const [{ id: datasetId }] = (await owner.get('/api/client/datasets')).body.datasets
    const { page } = await browser.signIn(email, '/dashboard', {
      colorScheme,
      viewport: { width, height: 800 },
    })
    await heading(page, /^Welcome/)
    for (const [path, ready] of [
      ['robots', 'berlin'],
      ['robots/new', 'Hardware id'],
      [`robots/${robot.id}`, 'No sessions yet'],
      ['datasets', 'Recorder'],
      [`datasets/${datasetId}`, 'https://store.test.local/1.mcap'],
      ['invoices', 'Standard'],
      ['statistics', 'Spending by month'],
    ] as const) {
      await page.goto(`${world.baseUrl}/dashboard/${path}`)
      await page.getByRole('main').getByText(ready).first().waitFor()
      if (path === 'statistics') await page.locator('.recharts-surface').nth(3).waitFor()
      expect(await seriousIssues(page), path).toEqual([])
      const overflow = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
      expect(overflow, path).toBeLessThanOrEqual(0)
    }
  },
)
