import type { Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { DatasetExport, Recording } from '../../../packages/console/src/recording/recordings.ts'
import {
  forgiveSlowStops,
  openCockpit,
  SLOW_RELOADS,
  showValues,
  waitUntilDriving,
} from '../../support/browser/cockpit.ts'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  heading,
  openConsole,
} from '../../support/browser/console.ts'
import { readyOperator, readyOwner } from '../../support/browser/ready-users.ts'
import { mockRecording, type ReplayMocks, testRecording } from '../../support/recordings/replay-mocks.ts'
import { storeEpisode } from '../../support/world/episodes.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld({ env: SLOW_RELOADS })
  browser = await openConsole(world.baseUrl)
})
afterEach(() => browser.closePages())
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  forgiveSlowStops(world)
  await world?.[Symbol.asyncDispose]()
})

const json = (route: Route, body: unknown, status = 200) =>
  route.fulfill({ status, contentType: 'application/json', body: JSON.stringify(body) })

const running = (changes: Partial<Recording> = {}): Recording => ({
  ...testRecording(Date.now() - 60_000, 60),
  status: 'RECORDING',
  ended_at: null,
  file_url: null,
  ...changes,
})

const mocksOf = (recording: Recording | null): ReplayMocks => ({
  recording,
  parts: { parts: [], complete: false, truncated: false },
  bookmarks: [],
  episodes: { running: null, episodes: [] },
  shares: [],
  removed: false,
})

/** Opens a page for a user, without the answers of the API that are not set yet. */
async function visit(user: TestUser, prepare: (page: Page) => Promise<unknown>, path: string): Promise<Page> {
  const { page, context } = await browser.visit()
  await context.addCookies([{ name: '__session', value: user.token, url: world.baseUrl, httpOnly: true }])
  await prepare(page)
  await page.goto(world.baseUrl + path)
  return page
}

/** Adds fields to an answer of the platform. */
const extend = (page: Page, path: RegExp, fields: object) =>
  page.route(
    (url) => path.test(url.pathname),
    async (route) => {
      if (route.request().method() !== 'GET') return await route.fallback()
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), ...fields } })
    },
  )

test('the operator sees in the cockpit that the session is recorded, and when it is interrupted', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  expect(await page.getByTestId('recording-mark').count()).toBe(0)
  const mocks = mocksOf(running())
  await mockRecording(page, mocks)
  await page.reload()
  await waitUntilDriving(page)
  const mark = page.getByRole('img', {
    name: 'Recorded: control, telemetry and video. Downloads are logged.',
  })
  await mark.waitFor()
  await expectAccessibleLayout(page, 'recorded cockpit')
  mocks.recording = running({ paused_reason: 'storage_full' })
  // Any event of the session queries the recording again, as recording.paused does.
  await fixture.owner.patch(`/api/sessions/${fixture.sessionId}`, { action: 'pause' })
  await page.getByText('Not recorded: the storage is full').waitFor()
})

test('episodes are marked by key and by button while driving', async () => {
  await using fixture = await openCockpit(world, browser)
  const { page } = fixture
  const mocks = mocksOf(running({ mode: 'control' }))
  await mockRecording(page, mocks)
  await page.reload()
  await waitUntilDriving(page)
  // The key starts an episode at once. A key counts while the one before it is under way.
  const isMarked = Promise.withResolvers<void>()
  const hasArrived = Promise.withResolvers<void>()
  await page.route('**/api/sessions/*/episodes', async (route) => {
    if (route.request().method() === 'POST') {
      hasArrived.resolve()
      await isMarked.promise
    }
    await route.fallback()
  })
  await page.keyboard.press('e')
  await hasArrived.promise
  await page.keyboard.press('n')
  isMarked.resolve()
  await showValues(page)
  await page.getByTestId('dock').getByRole('tab', { name: 'Episodes' }).click()
  const panel = page.getByTestId('dock').getByRole('region', { name: 'Episodes' })
  await panel.getByText('1 episode', { exact: true }).waitFor()
  await panel.getByLabel('Task').fill('Pick up the red cube')
  await page.keyboard.press('Enter')
  await page.keyboard.press('e')
  await panel.getByText('Pick up the red cube').waitFor()
  await expectAccessibleLayout(page, 'running episode')
  await page.keyboard.down('w')
  await fixture.expectMoving()
  await page.keyboard.press('y')
  await panel.getByText('2 episodes', { exact: true }).waitFor()
  await page.keyboard.up('w')
  const discarding = page.waitForRequest((request) => request.postData()?.includes('discard') ?? false)
  await panel.getByRole('button', { name: 'Start episode' }).click()
  await page.keyboard.press('Backspace')
  await (await discarding).response()
  await panel.getByText('2 episodes', { exact: true }).waitFor()
  expect(mocks.episodes.episodes.map(({ success, task }) => [success, task])).toEqual([
    [false, null],
    [true, 'Pick up the red cube'],
  ])
  await page.reload()
  await waitUntilDriving(page)
  await page.keyboard.press('?')
  await page.getByRole('cell', { name: 'Start an episode' }).waitFor()
  await page.keyboard.press('e')
  expect(mocks.episodes.running, 'a sheet takes the keys').toBeNull()
})

test('the owner marks episodes on the page of the session, and sees that it is recorded', async () => {
  await using fixture = await openCockpit(world, browser)
  await fixture.owner.patch('/api/client/profile', { contact_email: `${fixture.owner.name}@test.local` })
  const mocks = mocksOf(running())
  const prepare = (page: Page) => mockRecording(page, mocks)
  const page = await visit(fixture.owner, prepare, `/dashboard/sessions/${fixture.sessionId}`)
  await page.getByTestId('recording-mark').waitFor()
  await page.getByRole('link', { name: 'Scrub back' }).waitFor()
  await page.getByRole('tab', { name: 'Episodes' }).click()
  await page.getByRole('button', { name: 'Start episode' }).click()
  await page.getByRole('button', { name: 'Failure' }).click()
  await page.getByText('1 episode', { exact: true }).waitFor()
  await expectAccessibleLayout(page, 'recorded session')
})

test('the owner chooses what is recorded and for how long; the operator reads it before a session', async () => {
  const [owner, operator] = [await readyOwner(world), await readyOperator(world)]
  const robot = await world.robot(owner, { require_certification: false })
  const page = await visit(
    owner,
    (page) => extend(page, /\/api\/client\/robots\/[^/]+$/, { recording: 'off', recording_days: null }),
    `/dashboard/robots/${robot.id}?tab=settings`,
  )
  let saved: unknown
  await page.route(`**/api/client/robots/${robot.id}`, async (route) => {
    if (route.request().method() !== 'PATCH') return await route.fallback()
    saved = route.request().postDataJSON()
    const current = (await owner.get(`/api/client/robots/${robot.id}`)).body
    await json(route, { ...current, recording: 'video', recording_days: 30 })
  })
  expect(await page.getByLabel('Delete recordings after').isDisabled()).toBe(true)
  await page.getByLabel('With video').check()
  await page.getByLabel('Delete recordings after').fill('30')
  await expectAccessibleLayout(page, 'settings of recordings')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved').waitFor()
  expect(saved).toMatchObject({ recording: 'video', recording_days: 30 })

  const before = await visit(
    operator,
    (page) => extend(page, /\/api\/operator\/robots\/[^/]+$/, { recording: 'video' }),
    `/dashboard/available/${robot.id}`,
  )
  await before.getByText('Sessions on this robot are recorded: control, telemetry and video').waitFor()
  await before.getByText('Each download is logged').waitFor()
})

test('the list has time, robot, length, size, status and gaps, and the used storage', async () => {
  const owner = await readyOwner(world)
  const finished = {
    ...testRecording(Date.UTC(2026, 10, 20, 9), 3_725),
    gaps: [{ from: '2026-11-20T09:10:00.000Z', to: '2026-11-20T09:11:00.000Z', reason: 'overload' }],
  }
  const requests: string[] = []
  const page = await visit(
    owner,
    (page) =>
      page.route(
        (url) => url.pathname === '/api/recordings',
        (route) => {
          const url = new URL(route.request().url())
          requests.push(url.search)
          const isSecond = url.searchParams.get('cursor') === 'next'
          const second = { ...finished, id: crypto.randomUUID(), robot_name: 'Bolt' }
          void json(route, {
            recordings: [isSecond ? second : finished],
            next_cursor: isSecond ? null : 'next',
            used_bytes: 45_000_000_000,
            quota_bytes: 50_000_000_000,
          })
        },
      ),
    '/dashboard/recordings',
  )
  await heading(page, 'Recordings')
  const row = page.getByRole('row').filter({ hasText: 'Ronja' })
  for (const text of ['With video', '1:02:05', '12.3 MB', 'Ready', '1 gap'])
    await row.getByText(text).waitFor()
  await page.getByText('45 GB of 50 GB used').waitFor()
  await page.getByRole('button', { name: 'Older recordings' }).click()
  await page.getByRole('row').filter({ hasText: 'Bolt' }).waitFor()
  expect(requests.some((search) => search.includes('cursor=next'))).toBe(true)
  await expectAccessibleLayout(page, 'recordings')
})

test('episodes lead to their replay, and are exported with progress and an address', async () => {
  const owner = await readyOwner(world)
  const robot = await world.robot(owner)
  const link = (await world.connect(robot)).beat()
  await storeEpisode(link)
  await waitFor(async () => expect((await owner.get('/api/client/datasets')).body.datasets).toHaveLength(1))
  const [{ id: datasetId }] = (await owner.get('/api/client/datasets')).body.datasets
  const sessionId = crypto.randomUUID()
  const exports: DatasetExport[] = []
  const episode = {
    id: crypto.randomUUID(),
    episode_id: '2',
    session_id: sessionId,
    started_at: '2026-11-20T09:50:02.000Z',
    ended_at: '2026-11-20T09:51:58.000Z',
    size_mb: 3.2,
    success: true,
    uri: null,
    created_at: '2026-11-20T09:52:10.000Z',
    recording_id: crypto.randomUUID(),
    task: 'Pick up the red cube',
    source: 'platform',
  }
  let wanted: unknown
  const page = await visit(
    owner,
    async (page) => {
      await page.route('**/api/client/datasets/*/episodes*', async (route) => {
        const response = await route.fetch()
        const { episodes } = (await response.json()) as { episodes: object[] }
        await json(route, { episodes: [episode, ...episodes] })
      })
      await page.route('**/api/client/datasets/exports', async (route) => {
        if (route.request().method() === 'POST') {
          wanted = route.request().postDataJSON()
          exports.push({
            id: crypto.randomUUID(),
            name: 'pick-cubes',
            format: 'lerobot_v3',
            version: 1,
            status: 'RUNNING',
            progress: 0.4,
            fps: 30,
            episodes: 1,
            frames: 1_400,
            size_bytes: 900_000,
            base_url: '/datasets/owner/pick-cubes/resolve/main',
            gaps: 'leave_out',
            alignment: 'causal',
            align: 'time',
            left_out: {
              count: 1,
              episodes: [
                {
                  id: crypto.randomUUID(),
                  episode_id: 'run-000217',
                  started_at: new Date().toISOString(),
                  reason: 'gaps',
                  missing_seconds: 88,
                },
              ],
            },
            error: null,
            created_at: new Date().toISOString(),
            finished_at: null,
          })
        }
        await json(route, route.request().method() === 'POST' ? exports[0] : { exports }, 200)
      })
      await page.route('**/api/client/datasets/exports/*', async (route) => {
        exports.length = 0
        await route.fulfill({ status: 204 })
      })
    },
    `/dashboard/datasets/${datasetId}`,
  )
  const row = page.getByRole('row').filter({ hasText: 'Pick up the red cube' })
  const replay = row.getByRole('link', { name: 'Replay of the episode 2' })
  expect(await replay.getAttribute('href')).toContain(`/sessions/${sessionId}/replay?at=`)
  expect(await page.getByRole('checkbox', { disabled: true }).count(), 'not recorded').toBe(1)
  await expectAccessibleLayout(page, 'episodes')
  await page.getByLabel('Choose the episode 2').check()
  await page.getByRole('button', { name: 'Export 1 episode' }).click()
  const dialog = page.getByRole('dialog')
  const name = dialog.getByLabel('Name', { exact: false }).first()
  expect(await name.inputValue()).toMatch(/^[a-z0-9-]+-\d{4}-\d\d-\d\d$/)
  await name.fill('')
  await dialog.getByRole('button', { name: 'Start export' }).click()
  await dialog.getByText('Give the dataset a name.').waitFor()
  await name.fill('pick-cubes')
  await expectAccessibleLayout(page, 'export dialog')
  await dialog.getByRole('button', { name: 'Start export' }).click()
  await heading(page, 'Dataset exports')
  expect(wanted).toEqual({
    format: 'lerobot_v3',
    name: 'pick-cubes',
    fps: 30,
    gaps: 'leave_out',
    alignment: 'causal',
    align: 'time',
    unfinished: false,
    episode_ids: [episode.id],
  })
  await page.getByRole('progressbar', { name: 'Progress of pick-cubes' }).waitFor()
  await page.getByText('1 episode left out').click()
  await page.getByText('run-000217: gaps in the recording (88 s)').waitFor()
  exports[0] = {
    ...exports[0]!,
    status: 'READY',
    progress: 1,
    base_url: '/datasets/olive/pick-cubes/resolve/main',
  }
  await page.getByText('/datasets/olive/pick-cubes/resolve/main').waitFor()
  await expectAccessibleLayout(page, 'exports of datasets')
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByText('Recordings and episodes stay.').waitFor()
  await expectAccessibleLayout(page, 'deletion of an export')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No exports').waitFor()
  await link.close()
})
