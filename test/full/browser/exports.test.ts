import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { SESSION_EXPORTS } from '../../../src/modules/sessions/stored-exports/stored-export.service.ts'
import { expectAccessibleLayout, openConsole } from '../../support/browser/console.ts'
import { connectTo } from '../../support/database/sql.ts'
import { ownerOf } from '../../support/world/past-sessions.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld } from '../../support/world/world.ts'

/** One more than the console downloads directly. */
const MANY = 10_001
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Completes the account, without which the console shows its onboarding. */
const completeProfile = (owner: TestUser) =>
  owner.patch('/api/client/profile', { company_name: 'Works', contact_email: 'works@test.local' })

/** Confirms the open dialog. */
const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name }).click()

test('a large export runs in the background: progress, download, removal', async () => {
  await using world = await createWorld({ bus: 'redis', env: { ROLES: 'api,gateway,hub' } })
  await using browser = await openConsole(world.baseUrl)
  const owner = await ownerOf(world, MANY)
  await completeProfile(owner)
  const { jobs } = world.platform.core
  const { page } = await browser.enter(owner, '/dashboard/sessions')

  await page.getByRole('link', { name: 'Exports', exact: true }).click()
  await page.getByText('No exports').waitFor()
  await expectAccessibleLayout(page, 'no exports')
  await page.getByRole('link', { name: 'Sessions', exact: true }).last().click()
  await page.getByLabel('Created to').fill('2026-03-01')
  await button(page, 'Export CSV').click()
  await page.getByRole('link', { name: 'View its progress' }).click()
  const rows = page.locator('[data-export]')
  await rows.getByText('Waiting', { exact: true }).waitFor()
  await rows.getByText(`0 of ${MANY.toLocaleString('en')} sessions`).waitFor()
  await rows.getByText('Sessions: created until 1 Mar 2026').waitFor()
  const id = (await rows.getAttribute('data-export')) as string
  expect(new URL(page.url()).searchParams.get('export')).toBe(id)

  // The insert of the second chunk waits for this lock, so the page shows a part of the file.
  await using database = await connectTo(world.database.url)
  await database.query('begin')
  await database.query(`insert into session_export_chunks values ($1, 1, '')`, [id])
  const written = jobs.runDue(SESSION_EXPORTS)
  await rows.getByText('Running', { exact: true }).waitFor()
  const progress = page.getByRole('progressbar', { name: 'Progress of the CSV export' })
  await waitFor(async () => expect(Number(await progress.getAttribute('aria-valuenow'))).toBeGreaterThan(0))
  await expectAccessibleLayout(page, 'a running export')
  await database.query('rollback')
  await written
  await rows.getByText('Ready', { exact: true }).waitFor()
  await page.getByRole('status').getByText('CSV export is ready.').waitFor()
  await expectAccessibleLayout(page, 'a finished export')

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download: CSV export' }).click(),
  ])
  expect(download.suggestedFilename()).toMatch(/^sessions-.*\.csv$/)
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n')
  expect(lines).toHaveLength(MANY + 1)
  expect(new Set(lines).size).toBe(MANY + 1)

  // The notification links to the export.
  await page.goto(`${world.baseUrl}/dashboard`)
  await page.getByRole('button', { name: /^Notifications, 1 unread$/ }).click()
  await page.getByRole('dialog').getByText('CSV · 10,001 sessions').waitFor()
  await page.getByRole('dialog').getByRole('link', { name: 'Your export is ready' }).click()
  await rows.getByText('Ready', { exact: true }).waitFor()
  expect(new URL(page.url()).searchParams.get('export')).toBe(id)

  await button(page, 'Remove: CSV export').click()
  await confirm(page, 'Remove export')
  await page.getByText('No exports').waitFor()
  expect((await owner.get('/api/session-exports')).body).toEqual({ exports: [] })
  await page.goto(`${world.baseUrl}/dashboard/exports?export=${id}`)
  await page.getByText('Export not found').waitFor()
  await expectAccessibleLayout(page, 'an export that was removed')
})

test('an export in the background can be cancelled, fail and expire', async () => {
  await using world = await createWorld({ bus: 'redis', env: { ROLES: 'api,gateway,hub' } })
  await using browser = await openConsole(world.baseUrl)
  const owner = await world.client()
  await completeProfile(owner)
  await using database = await connectTo(world.database.url)
  const failed = (await owner.post('/api/session-exports', { format: 'csv' })).body
  await database.query(
    `update session_exports set status = 'FAILED', error = 'Try again later.', finished_at = now() where id = $1`,
    [failed.id],
  )
  await owner.post('/api/session-exports', { format: 'json' })
  const { page } = await browser.enter(owner, '/dashboard/exports')
  await page.getByText('Failed', { exact: true }).waitFor()
  await page.getByText('Try again later.').waitFor()
  await expectAccessibleLayout(page, 'failed and waiting exports')
  expect(await page.getByRole('link', { name: /^Download/ }).count()).toBe(0)

  await button(page, 'Cancel: JSON export').click()
  await confirm(page, 'Cancel export')
  await waitFor(async () => expect(await page.locator('[data-export]').count()).toBe(1))

  // The page was open when the export expired.
  await page.clock.install({ time: Date.now() })
  await page.reload()
  await page.getByText('Failed', { exact: true }).waitFor()
  await page.clock.fastForward('25:00:00')
  await page.getByText('Expired', { exact: true }).waitFor()
})
