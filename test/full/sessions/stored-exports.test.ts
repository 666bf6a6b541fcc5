import { expect, test } from 'vitest'
import {
  EXPORT_CLEAN_UP,
  SESSION_EXPORTS,
} from '../../../src/modules/sessions/stored-exports/stored-export.service.ts'
import { connectTo } from '../../support/database/sql.ts'
import { query } from '../../support/processes/processes.ts'
import { abandonJobs, recoverAbandoned, runningJobs } from '../../support/world/jobs.ts'
import { ownerOf } from '../../support/world/past-sessions.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const EXPORTS = '/api/session-exports'
/** Enough for several chunks. */
const MANY = 12_000

const download = (world: World, user: TestUser, id: string) =>
  fetch(`${world.baseUrl}${EXPORTS}/${id}/download`, { headers: { Authorization: `Bearer ${user.token}` } })

const direct = async (world: World, user: TestUser, format: string) => {
  const reply = await fetch(`${world.baseUrl}/api/sessions/export`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${user.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ format }),
  })
  return await reply.text()
}

const started = async (user: TestUser, body: object = { format: 'csv' }) => {
  const reply = await user.post(EXPORTS, body)
  expect(reply.status, JSON.stringify(reply.body)).toBe(202)
  return reply.body
}

const settled = (user: TestUser, id: string, status = 'READY') =>
  waitFor(async () => {
    const { body } = await user.get(`${EXPORTS}/${id}`)
    expect(body.status, JSON.stringify(body)).toBe(status)
    return body
  })

const notified = async (user: TestUser) =>
  (await user.get('/api/notifications')).body.notifications.map(
    ({ type, data }: { type: string; data: object }) => ({ type, data }),
  )

test('a job writes what the direct export contains, byte for byte, and notifies its user only', async () => {
  await using world = await createWorld()
  const owner = await ownerOf(world, MANY)
  const count = await owner.post(`${EXPORTS}/count`, { format: 'csv' })
  expect(count.body).toEqual({ rows: MANY, direct: false })
  for (const format of ['csv', 'json']) {
    const made = await started(owner, { format })
    expect(made).toMatchObject({ status: 'PENDING', total_rows: MANY, rows: 0 })
    const ready = await settled(owner, made.id)
    const reply = await download(world, owner, made.id)
    const text = await reply.text()
    expect(text === (await direct(world, owner, format)), format).toBe(true)
    expect(ready).toMatchObject({ rows: MANY, bytes: Buffer.byteLength(text), error: null })
    expect(reply.headers.get('Content-Length')).toBe(String(ready.bytes))
    expect(reply.headers.get('Content-Disposition')).toMatch(new RegExp(`sessions-.*\\.${format}`))
    expect(await notified(owner)).toContainEqual({
      type: 'export.ready',
      data: { export_id: made.id, format, rows: MANY, bytes: ready.bytes },
    })

    const other = await world.client()
    expect((await other.get(`${EXPORTS}/${made.id}`)).status).toBe(404)
    expect((await download(world, other, made.id)).status).toBe(404)
    expect((await other.delete(`${EXPORTS}/${made.id}`)).status).toBe(404)
    expect((await other.get(EXPORTS)).body).toEqual({ exports: [] })
  }
  expect((await owner.get(EXPORTS)).body.exports.map(({ format }: { format: string }) => format)).toEqual([
    'json',
    'csv',
  ])
})

test('an export that its process abandons continues after the last stored chunk', async () => {
  await using world = await createWorld({ bus: 'redis', env: { ROLES: 'api,gateway,hub' } })
  const owner = await ownerOf(world, MANY)
  const expected = await direct(world, owner, 'json')
  const made = await started(owner, { format: 'json' })
  const { jobs } = world.platform.core
  await using database = await connectTo(world.database.url)
  // The insert of the third chunk waits for this lock, so the process is in the middle of the file.
  await database.query('begin')
  await database.query(`insert into session_export_chunks values ($1, 2, '')`, [made.id])
  const first = jobs.runDue(SESSION_EXPORTS)
  await waitFor(async () => expect((await owner.get(`${EXPORTS}/${made.id}`)).body.rows).toBeGreaterThan(0))
  await waitFor(async () => {
    const { rows } = await database.query(`select count(*)::int as waiting from pg_locks where not granted`)
    expect(rows[0].waiting).toBeGreaterThan(0)
  })
  expect(await runningJobs(world.database.url, SESSION_EXPORTS.name)).toBe(1)
  await abandonJobs(world.database.url)
  await recoverAbandoned(jobs)
  await database.query('rollback')
  await first
  await database.query(`update pgboss.job set start_after = now() where name = $1`, [SESSION_EXPORTS.name])
  await jobs.runDue(SESSION_EXPORTS)
  const ready = await settled(owner, made.id)
  expect((await (await download(world, owner, made.id)).text()) === expected).toBe(true)
  expect(ready.rows).toBe(MANY)
  expect(
    (await notified(owner)).filter(({ type }: { type: string }) => type === 'export.ready'),
  ).toHaveLength(1)
})

test('the export of a suspended user is completed, and downloads are refused until the suspension ends', async () => {
  await using world = await createWorld({ bus: 'redis', env: { ROLES: 'api,gateway,hub' } })
  const [owner, admin] = [await ownerOf(world, 3), await world.admin()]
  const made = await started(owner)
  const path = `/api/admin/users/${owner.id}`
  expect((await admin.post(`${path}/suspend`, { reason: 'Unsafe driving' })).status).toBe(204)
  await world.platform.core.jobs.runDue(SESSION_EXPORTS)
  expect((await download(world, owner, made.id)).status).toBe(403)
  expect((await admin.post(`${path}/restore`)).status).toBe(204)
  expect(await settled(owner, made.id)).toMatchObject({ rows: 3 })
  expect((await download(world, owner, made.id)).status).toBe(200)
})

test('limits, cancellation and expiry', async () => {
  let now = new Date('2026-11-22T08:00:00Z')
  await using world = await createWorld({ bus: 'redis', env: { ROLES: 'api,gateway,hub' }, now: () => now })
  const owner = await ownerOf(world, 10)
  const { jobs } = world.platform.core
  expect((await owner.post(`${EXPORTS}/count`, { format: 'csv' })).body).toEqual({ rows: 10, direct: true })

  // Only two run at a time, also when they are requested at once.
  const replies = await Promise.all(Array.from({ length: 4 }, () => owner.post(EXPORTS, { format: 'csv' })))
  expect(replies.map(({ status }) => status).sort()).toEqual([202, 202, 409, 409])
  const refused = replies.find(({ status }) => status === 409)
  expect(refused?.headers.get('Wheelhouse-Error')).toBe('export_limit_reached')
  const [first, second] = replies.filter(({ status }) => status === 202).map(({ body }) => body)
  const early = await download(world, owner, first.id)
  expect([early.status, early.headers.get('Wheelhouse-Error')]).toEqual([409, 'export_not_ready'])

  // A deleted export is not written.
  expect((await owner.delete(`${EXPORTS}/${second.id}`)).status).toBe(204)
  await world.syncJobClock()
  await jobs.runDue(SESSION_EXPORTS)
  await settled(owner, first.id)
  expect((await owner.get(EXPORTS)).body.exports).toHaveLength(1)
  expect((await owner.delete(`${EXPORTS}/${second.id}`)).status).toBe(404)

  // Five are stored.
  for (let n = 0; n < 4; n++) {
    await started(owner)
    await jobs.runDue(SESSION_EXPORTS)
  }
  expect((await owner.post(EXPORTS, { format: 'csv' })).headers.get('Wheelhouse-Error')).toBe(
    'export_limit_reached',
  )

  now = new Date(now.getTime() + 86_400_001)
  expect((await download(world, owner, first.id)).status).toBe(404)
  expect((await owner.get(EXPORTS)).body.exports).toEqual([])
  await world.platform.sessions.storedExports.removeExpired()
  await using database = await connectTo(world.database.url)
  const left = await database.query(
    `select (select count(*) from session_exports)::int as exports, (select count(*) from session_export_chunks)::int as chunks`,
  )
  expect(left.rows[0]).toEqual({ exports: 0, chunks: 0 })
})

test('an export that cannot be written fails, and its user learns it', async () => {
  await using world = await createWorld({ bus: 'redis', env: { ROLES: 'api,gateway,hub' } })
  const owner = await ownerOf(world, 10)
  const { jobs } = world.platform.core
  await using database = await connectTo(world.database.url)
  await database.query(`alter table session_export_chunks add constraint broken check (number < 0)`)
  const made = await started(owner)
  for (let attempt = 0; attempt < 5; attempt++) {
    await jobs.runDue(SESSION_EXPORTS)
    await database.query(`update pgboss.job set start_after = now() where name = $1`, [SESSION_EXPORTS.name])
  }
  const failed = await settled(owner, made.id, 'FAILED')
  expect(failed.error).toMatch(/could not write the export/)
  expect(await notified(owner)).toMatchObject([{ type: 'export.failed' }])

  // An admin sees the job, and its retry completes the export.
  const admin = await world.admin()
  const [job] = (await admin.get('/api/admin/jobs?state=failed')).body.jobs
  expect(job).toMatchObject({ queue: SESSION_EXPORTS.name, data: { exportId: made.id } })
  await database.query(`alter table session_export_chunks drop constraint broken`)
  expect((await admin.post(`/api/admin/jobs/${job.id}/retry`)).status).toBe(200)
  await jobs.runDue(SESSION_EXPORTS)
  await settled(owner, made.id)
})

test('an export whose job will not run again fails; one whose job waits or runs does not', async () => {
  await using world = await createWorld({ bus: 'redis', env: { ROLES: 'api,gateway,hub' } })
  const owner = await ownerOf(world, 10)
  const admin = await world.admin()
  const { jobs } = world.platform.core
  await using database = await connectTo(world.database.url)
  const cleanUp = async () => {
    await (await jobs.engine()).send(EXPORT_CLEAN_UP.name, {})
    await jobs.runDue(EXPORT_CLEAN_UP)
  }
  const made = await started(owner, { format: 'csv', status: 'COMPLETED' })
  expect(made.filter).toEqual({ status: 'COMPLETED' })
  await cleanUp()
  await settled(owner, made.id, 'PENDING')

  // The insert of the chunk waits for this lock, so the process ends in the middle of the last attempt.
  await database.query('begin')
  await database.query(`insert into session_export_chunks values ($1, 0, '')`, [made.id])
  await query(
    world.database.url,
    `update pgboss.job set retry_count = retry_limit where name = '${SESSION_EXPORTS.name}'`,
  )
  const last = jobs.runDue(SESSION_EXPORTS)
  await settled(owner, made.id, 'RUNNING')
  await cleanUp()
  await settled(owner, made.id, 'RUNNING')
  await abandonJobs(world.database.url)
  await recoverAbandoned(jobs)
  await database.query('rollback')
  await last
  await settled(owner, made.id, 'RUNNING')
  const waiting = await started(owner)
  await cleanUp()
  const failed = await settled(owner, made.id, 'FAILED')
  expect(failed.error).toMatch(/could not write the export/)
  expect(failed.finished_at).not.toBeNull()
  await settled(owner, waiting.id, 'PENDING')

  // An admin discards a job.
  const [job] = (await admin.get('/api/admin/jobs?state=waiting&queue=session-exports')).body.jobs
  expect(job.data).toEqual({ exportId: waiting.id })
  expect((await admin.post(`/api/admin/jobs/${job.id}/discard`)).status).toBe(200)
  await cleanUp()
  await settled(owner, waiting.id, 'FAILED')
  await cleanUp()
  const notifications = await notified(owner)
  expect(notifications.map(({ type }: { type: string }) => type)).toEqual(['export.failed', 'export.failed'])
})
