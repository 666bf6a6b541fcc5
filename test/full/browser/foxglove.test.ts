import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type ConsoleBrowser, expectAccessibleLayout, openConsole } from '../../support/browser/console.ts'
import { TestFoxgloveClient } from '../../support/foxglove/test-client.ts'
import { type FileServer, startFileServer } from '../../support/recordings/file-server.ts'
import { createEndedSession, openReplayPage, serveRecording } from '../../support/recordings/replay-page.ts'
import { openSessionFixture } from '../../support/world/session-fixtures.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
let server: FileServer
beforeAll(async () => {
  world = await createWorld()
  browser = await openConsole(world.baseUrl)
  server = await startFileServer()
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

test('an address from the page of an open session opens it live', async () => {
  const { client, id, link } = await openSessionFixture(world)
  await client.patch('/api/client/profile', { contact_email: `${client.name}@test.local` })
  const { page } = await browser.enter(client, `/dashboard/sessions/${id}`)
  await page.getByRole('tab', { name: 'Values' }).click()
  await page.getByRole('button', { name: 'Open in Foxglove' }).click()
  const dialog = page.getByRole('dialog', { name: 'Open in Foxglove' })
  await dialog.getByRole('button', { name: 'Create address' }).click()
  const address = (await dialog.locator('pre').textContent()) ?? ''
  await expectAccessibleLayout(page, 'address for Foxglove')
  const foxglove = await new TestFoxgloveClient(address).ready()
  expect(foxglove.info).toMatchObject({ sessionId: id })
  expect([...foxglove.channels.keys()]).toContain('/telemetry')
  await foxglove.close()
  await link.close()
})

test('the menu of a replay creates an address for its recording, and shows a refusal', async () => {
  const { owner, sessionId, path } = await createEndedSession(world)
  const { mocks } = await serveRecording(server, { seconds: 2, fps: 5 })
  const page = await openReplayPage({ browser, baseUrl: world.baseUrl, user: owner, path, mocks })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Open in Foxglove' }).click()
  const dialog = page.getByRole('dialog', { name: 'Open in Foxglove' })
  // The platform has no recording of this session.
  await dialog.getByRole('button', { name: 'Create address' }).click()
  await dialog.getByRole('alert').waitFor()
  const url = `wss://hub.example.com/api/sessions/${sessionId}/foxglove?ticket=4f0c`
  await page.route(`**/api/sessions/${sessionId}/foxglove`, (route) =>
    route.fulfill({
      status: 201,
      contentType: 'application/json',
      body: JSON.stringify({ url, expires_at: new Date(Date.now() + 60_000).toISOString() }),
    }),
  )
  await dialog.getByRole('button', { name: 'Create address' }).click()
  await dialog.getByText(url).waitFor()
  expect(await dialog.getByRole('alert').count()).toBe(0)
})
