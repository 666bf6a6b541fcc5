import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAbandonmentWorker } from '../../../src/modules/sessions/lifecycle/abandonment.worker.ts'
import {
  type ConsoleBrowser,
  expectAccessibleLayout,
  openConsole,
  seriousIssues,
} from '../../support/browser/console.ts'
import { readyOwner } from '../../support/browser/ready-users.ts'
import { start } from '../../support/world/session-fixtures.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const MINUTE_MS = 60_000
let world: World
let browser: ConsoleBrowser
beforeAll(async () => {
  world = await createWorld({ env: { OPERATOR_GRACE_MS: '200' } })
  browser = await openConsole(world.baseUrl)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

/** Runs the worker as if ten minutes had passed, so that it announces an end ten to fifteen minutes from now. */
const announceEnd = () =>
  createAbandonmentWorker({
    ...world.platform.core,
    ...world.platform.sessions,
    now: () => new Date(Date.now() + 10 * MINUTE_MS),
    operatorJoinMs: 0,
    pauseLimitMs: 0,
    operatorGoneMs: 5 * MINUTE_MS,
  }).run()

test('the owner sees that the operator is gone, a countdown, the return, and releases the robot', async () => {
  const [owner, operator] = [await readyOwner(world), await world.operator()]
  const robot = await world.robot(owner, { name: 'Left arm' })
  ;(await world.connect(robot)).beat()
  const sessionId = await start(operator, robot.id)
  const first = await world.drive(operator, sessionId)
  await first.state()
  const { page } = await browser.enter(owner, `/dashboard/sessions/${sessionId}`)
  const status = page.getByRole('region', { name: 'Status' })
  await status.getByText('Active', { exact: true }).waitFor()
  const notice = page.getByTestId('abandoned')
  expect(await notice.count()).toBe(0)
  await first.close()
  await notice.getByText('If it does not return, the session ends.').waitFor()
  await status.getByText(/the operator lost the connection/).waitFor()
  await announceEnd()
  await notice.getByTestId('countdown').waitFor()
  expect(await notice.getByTestId('countdown').textContent()).toMatch(/^1[45]:\d\d$/)
  await expectAccessibleLayout(page, 'the session whose operator is gone')

  const second = await world.drive(operator, sessionId)
  await second.state()
  await notice.waitFor({ state: 'detached' })
  await status.getByText(/the operator is back/).waitFor()
  expect((await owner.get(`/api/sessions/${sessionId}`)).body.ends_at).toBeNull()

  await operator.patch(`/api/sessions/${sessionId}`, { action: 'resume' })
  await status.getByText('Active', { exact: true }).waitFor()
  await second.close()
  await page.goto(`${world.baseUrl}/dashboard/robots/${robot.id}`)
  await notice.getByRole('button', { name: 'Release robot' }).click()
  await page.getByRole('dialog').waitFor()
  expect(await seriousIssues(page), 'the dialog').toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
  await page.getByText('Ready', { exact: true }).waitFor()
  expect((await owner.get(`/api/sessions/${sessionId}`)).body.status).toBe('COMPLETED')
})
