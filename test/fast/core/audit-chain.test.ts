import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  AUDIT_CHAIN_START,
  type AuditRetention,
  auditContentHash,
  auditRetentionDays,
  auditRowHash,
  verifyAudit,
} from '@wheelhouse/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuditEvent, audit, auditRetentionOf } from '../../../src/core/audit/audit.ts'
import { connectTo } from '../../support/database/sql.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const DAY_MS = 86_400_000
const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

let world: World
let core: World['platform']['core']
beforeAll(async () => {
  // Without a worker, the tests say when rows are sealed.
  world = await createWorld({ bus: 'redis', env: { ROLES: 'api,hub,gateway' } })
  core = world.platform.core
})
afterAll(() => world[Symbol.asyncDispose]())

const chain = () => world.platform.auditChain

const event = (organizationId: string, more: Partial<AuditEvent> = {}): AuditEvent => ({
  at: new Date(),
  organizationId,
  actorId: undefined,
  action: 'test.done',
  subject: ['test', randomUUID()],
  ...more,
})
const append = (organizationId: string, more?: Partial<AuditEvent>) =>
  core.transact((tx) => audit(tx, event(organizationId, more)))
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)

async function rowsOf(organizationId: string) {
  const rows = []
  for await (const page of chain().read(organizationId)) rows.push(...page)
  return rows
}
const verdictOf = async (organizationId: string) =>
  verifyAudit((await rowsOf(organizationId)).map((row) => JSON.stringify(row)))

/** Changes rows as somebody could who owns the database. */
async function tamper(statement: string, values: unknown[]): Promise<void> {
  await using sql = await connectTo(world.database.url)
  await sql.query('begin')
  await sql.query('alter table audit_log disable trigger audit_log_append_only')
  await sql.query(statement, values)
  await sql.query('alter table audit_log enable trigger audit_log_append_only')
  await sql.query('commit')
}

describe('the chain', () => {
  test('numbers the rows of each organization without gaps, and each row continues the one before', async () => {
    const [one, other] = [randomUUID(), randomUUID()]
    for (let index = 0; index < 3; index++) {
      await append(one, { data: { index, nested: { b: [1.5, 'ü', null], a: true } } })
      await append(other, { data: { index } })
    }
    await chain().sealAll()
    await append(one)
    await chain().sealAll()
    const rows = await rowsOf(one)
    expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
    expect(rows.map(({ prev_hash }) => prev_hash)).toEqual([
      AUDIT_CHAIN_START,
      ...rows.slice(0, 3).map(({ hash }) => hash),
    ])
    expect(await chain().head(one)).toEqual({ seq: 4, hash: rows[3]?.hash })
    expect(await verdictOf(one)).toEqual({ ok: true, rows: 4, deleted: 0, head: rows[3]?.hash })
    expect(await verdictOf(other)).toMatchObject({ ok: true, rows: 3 })
  })

  test('seals each row once when rows are added and sealed concurrently', async () => {
    const id = randomUUID()
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        await append(id, { data: { index } })
        await chain().seal(id)
      }),
    )
    await chain().seal(id)
    const rows = await rowsOf(id)
    expect(rows.map(({ data }) => (data as { index: number }).index).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, index) => index),
    )
    expect(await verdictOf(id)).toMatchObject({ ok: true, rows: 40 })
  })

  test('a row that commits late, with a lower id than sealed rows, is sealed next', async () => {
    const id = randomUUID()
    const late = Promise.withResolvers<void>()
    const added = Promise.withResolvers<void>()
    const slow = core.transact(async (tx) => {
      await audit(tx, event(id, { action: 'test.late' }))
      added.resolve()
      await late.promise
    })
    await added.promise
    await append(id, { action: 'test.early' })
    await chain().seal(id)
    expect((await rowsOf(id)).map(({ action }) => action)).toEqual(['test.early'])
    late.resolve()
    await slow
    await chain().seal(id)
    expect((await rowsOf(id)).map(({ action }) => action)).toEqual(['test.early', 'test.late'])
    expect(await verdictOf(id)).toMatchObject({ ok: true, rows: 2 })
  })

  test('an action does not wait for a task that seals', async () => {
    const id = randomUUID()
    await append(id)
    await chain().seal(id)
    await core.db.transaction().execute(async (trx) => {
      await trx.selectFrom('audit_heads').selectAll().where('organization_id', '=', id).forUpdate().execute()
      await append(id, { action: 'test.meanwhile' })
    })
    await chain().seal(id)
    expect(await verdictOf(id)).toMatchObject({ ok: true, rows: 2 })
  })

  test('rows of the platform are in no chain', async () => {
    const subject = randomUUID()
    await core.transact((tx) =>
      audit(tx, { at: new Date(), actorId: undefined, action: 'test.done', subject: ['test', subject] }),
    )
    await chain().sealAll()
    const row = await core.db
      .selectFrom('audit_log')
      .select('seq')
      .where('subject_id', '=', subject)
      .executeTakeFirst()
    expect(row).toEqual({ seq: null })
  })

  test('is made by the worker', async () => {
    await using working = await createWorld()
    const client = await working.client()
    await waitFor(async () => expect((await working.platform.auditChain.head(client.id))?.seq).toBe(1))
  })
})

describe('the database', () => {
  const cases: [string, string][] = [
    ['a change of the content', `update audit_log set data = '{"x":1}' where organization_id = $1`],
    ['another hash of a sealed row', `update audit_log set hash = 'x' where organization_id = $1`],
    ['another number of a sealed row', `update audit_log set seq = seq + 1 where organization_id = $1`],
    [
      'removing the seal',
      `update audit_log set seq = null, hash = null, prev_hash = null, content_hash = null where organization_id = $1`,
    ],
    [
      'another organization',
      `update audit_log set organization_id = gen_random_uuid() where organization_id = $1`,
    ],
    ['deletion', `delete from audit_log where organization_id = $1`],
  ]
  test.each(cases)('rejects %s', async (_what, statement) => {
    const id = randomUUID()
    await append(id)
    await chain().seal(id)
    await using sql = await connectTo(world.database.url)
    await expect(sql.query(statement, [id])).rejects.toMatchObject({ code: '23001' })
    expect(await verdictOf(id)).toMatchObject({ ok: true, rows: 1 })
  })

  test('rejects a change of the content by the statement that seals', async () => {
    const id = randomUUID()
    await append(id)
    await using sql = await connectTo(world.database.url)
    await expect(
      sql.query(
        `update audit_log set seq = 1, content_hash = 'x', prev_hash = 'x', hash = 'x', action = 'test.other' where organization_id = $1`,
        [id],
      ),
    ).rejects.toMatchObject({ code: '23001' })
  })
})

describe('the retention', () => {
  test.each([
    ['session.stopped', 'years_5'],
    ['session.stop_cleared', 'years_5'],
    ['robot.settings_changed', 'years_5'],
    ['robot.hold_set', 'years_5'],
    ['robot_model.control_schema_set', 'years_5'],
    ['robot.token_rotated', 'year_1'],
    ['api_key.created', 'year_1'],
    ['member.removed', 'year_1'],
    ['invoice.closed', 'year_1'],
    ['recording.shared', 'days_90'],
  ])('of %s is %s', (action, retention) => {
    expect(auditRetentionOf(action)).toBe(retention)
  })

  test('deletes the content of rows after their time; the chain stays verifiable', async () => {
    const id = randomUUID()
    await append(id, { action: 'test.old', at: daysAgo(91) })
    await append(id, { action: 'api_key.created', at: daysAgo(300) })
    await append(id, { action: 'session.stopped', at: daysAgo(1_800) })
    await append(id, { action: 'session.stopped', at: daysAgo(1_828) })
    await append(id, { action: 'test.new' })
    await chain().seal(id)
    const before = await rowsOf(id)
    await chain().deleteExpired()
    const after = await rowsOf(id)
    expect(after.map(({ action }) => action)).toEqual([
      undefined,
      'api_key.created',
      'session.stopped',
      undefined,
      'test.new',
    ])
    expect(after.map(({ seq, hash }) => [seq, hash])).toEqual(before.map(({ seq, hash }) => [seq, hash]))
    expect(await verdictOf(id)).toEqual({ ok: true, rows: 5, deleted: 2, head: before[4]?.hash })
    // Nobody may delete the link of a deleted row.
    await using sql = await connectTo(world.database.url)
    await expect(
      sql.query('delete from audit_log_deleted where organization_id = $1', [id]),
    ).rejects.toMatchObject({ code: '23001' })
  })

  test('a row of the five-year class cannot be deleted before, nor an unsealed row at all', async () => {
    const id = randomUUID()
    await append(id, { action: 'session.stopped', at: daysAgo(1_826) })
    await chain().seal(id)
    await append(id, { action: 'test.old', at: daysAgo(91) })
    await chain().deleteExpired()
    await using sql = await connectTo(world.database.url)
    const rows = await sql.query('select id from audit_log where organization_id = $1', [id])
    expect(rows.rows).toHaveLength(2)
    for (const { id: row } of rows.rows)
      await expect(sql.query('delete from audit_log where id = $1', [row])).rejects.toMatchObject({
        code: '23001',
      })
  })
})

describe('what is audited', () => {
  let [owner, operator]: TestUser[] = []
  beforeAll(async () => {
    ;[owner, operator] = [await world.client(), await world.operator()]
  })
  const auditOf = async (user: TestUser, query = '') => {
    const reply = await user.get(`/api/organizations/${user.id}/audit${query}`)
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    return reply.body
  }

  test('every stop and its clearing, with person and credential', async () => {
    const robot = await world.robot(owner!)
    ;(await world.connect(robot)).beat()
    const { sessionId } = (await operator!.post('/api/sessions', { robotId: robot.id })).body
    const path = `/api/sessions/${sessionId}`
    await operator!.patch(path, { action: 'emergency_stop', reason: 'a person' })
    const { id: keyId, key } = await owner!.key()
    expect((await owner!.request('PATCH', path, { action: 'clear_stop' }, key)).status).toBe(200)
    const link = await world.drive(owner!, sessionId, 'watch')
    await link.next('state')
    link.send({ type: 'stop', n: 1, reason: 'smoke' })
    await waitFor(async () => {
      const { entries } = await auditOf(owner!, '?limit=4')
      expect(
        entries.filter((entry: { action: string }) => entry.action.startsWith('session.')),
      ).toMatchObject([
        {
          action: 'session.stopped',
          actor_id: owner!.id,
          credential: 'session',
          data: { reason: 'smoke' },
          retention: 'years_5',
        },
        {
          action: 'session.stop_cleared',
          actor_id: owner!.id,
          credential: `api_key:${keyId}`,
          subject_id: sessionId,
        },
        {
          action: 'session.stopped',
          actor_id: operator!.id,
          actor_name: operator!.name,
          credential: 'session',
          data: { reason: 'a person' },
        },
      ])
    })
    await owner!.patch(path, { action: 'end' })
  })

  test('every changed setting of a robot, without addresses and notes', async () => {
    const robot = await world.robot(owner!)
    const reply = await owner!.patch(`/api/client/robots/${robot.id}`, {
      latency_limit_ms: 300,
      strict_control: true,
      on_hold: true,
      stream_url: 'https://user:secret@cam.example.com/1',
      notes: 'private',
    })
    expect(reply.status).toBe(200)
    const { entries } = await auditOf(owner!, '?action=robot.settings_changed')
    expect(entries).toMatchObject([
      {
        subject_id: robot.id,
        retention: 'years_5',
        data: {
          latency_limit_ms: 300,
          strict_control: true,
          on_hold: true,
          stream_url: 'changed',
          notes: 'changed',
        },
      },
    ])
    expect(JSON.stringify(entries)).not.toMatch(/secret|private/)
  })

  test('is listed in pages, newest first, and filtered', async () => {
    const client = await world.client()
    for (let index = 0; index < 3; index++) await client.key()
    const first = await client.get(`/api/organizations/${client.id}/audit?limit=2`)
    expect(first.body.entries).toHaveLength(2)
    const second = await client.get(
      `/api/organizations/${client.id}/audit?limit=2&before=${first.headers.get('x-next-cursor')}`,
    )
    expect(second.headers.get('x-next-cursor')).toBeNull()
    expect([...first.body.entries, ...second.body.entries].map(({ action }) => action)).toEqual([
      ...Array(3).fill('api_key.created'),
      'user.role_taken',
    ])
    expect((await auditOf(client, '?action=user.role_taken')).entries).toHaveLength(1)
    expect((await auditOf(client, `?actor_id=${owner!.id}`)).entries).toEqual([])
    expect((await auditOf(client, '?from=2100-01-01T00:00:00Z')).entries).toEqual([])
    expect((await auditOf(client, '?to=2100-01-01T00:00:00Z')).entries).toHaveLength(4)
    expect((await auditOf(client)).head).toBeNull()
    await chain().seal(client.id)
    const sealed = await auditOf(client)
    expect(sealed.head).toEqual({ seq: 4, hash: sealed.entries[0].hash })
  })
})

describe('an export', () => {
  const download = (user: TestUser, organizationId: string, format: string) =>
    fetch(`${world.baseUrl}/api/organizations/${organizationId}/audit?format=${format}`, {
      headers: { Authorization: `Bearer ${user.token}` },
    })

  test('contains the chain of one organization and nothing of another', async () => {
    const [one, other] = [await world.client(), await world.client()]
    const robots = await Promise.all([one, other].map((owner) => world.robot(owner)))
    await Promise.all(
      [one, other].map(async (owner, index) => {
        await owner.key()
        await owner.patch(`/api/client/robots/${robots[index]!.id}`, { name: `Robot of ${index}` })
      }),
    )
    for (const format of ['ndjson', 'csv']) {
      const reply = await download(one, one.id, format)
      const text = await reply.text()
      expect(reply.status, text).toBe(200)
      expect(reply.headers.get('content-type')).toContain(format)
      expect(text).toContain(robots[0]!.id)
      expect(text).not.toContain(other.id)
      expect(text).not.toContain(robots[1]!.id)
      expect(text.trim().split('\n')).toHaveLength(format === 'csv' ? 4 : 3)
      if (format === 'ndjson')
        expect(await verifyAudit(text.split('\n'))).toMatchObject({ ok: true, rows: 3 })
      expect((await download(one, other.id, format)).status).toBe(404)
    }
    expect((await one.get(`/api/organizations/${other.id}/audit`)).status).toBe(404)
    expect((await one.get(`/api/organizations/${randomUUID()}/audit`)).status).toBe(404)
    expect((await one.get(`/api/organizations/${one.id}/audit?format=csv&action=x`)).status).toBe(400)
  })

  test('of a tampered database is found broken, by the program without dependencies', async () => {
    const client = await world.client()
    for (let index = 0; index < 4; index++) await client.key()
    const file = join(tmpdir(), `audit-${randomUUID()}.ndjson`)
    const verify = async (...args: string[]) => {
      await writeFile(file, await (await download(client, client.id, 'ndjson')).text())
      return await run(process.execPath, ['tools/verify-audit.mjs', file, ...args], { cwd: root }).then(
        ({ stdout }) => ({ code: 0, stdout }),
        ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
      )
    }
    const intact = await verify()
    expect(intact).toEqual({ code: 0, stdout: expect.stringMatching(/^ok 5 rows, head [0-9a-f]{64}\n$/) })
    const head = intact.stdout.trim().split(' ').at(-1) as string
    expect((await verify('--head', head)).code).toBe(0)

    await tamper(`update audit_log set data = '{"name":"other"}' where organization_id = $1 and seq = 3`, [
      client.id,
    ])
    expect(await verify()).toEqual({
      code: 1,
      stdout: 'broken at line 3, row 3: its content has been changed\n',
    })
    await tamper('delete from audit_log where organization_id = $1 and seq >= 3', [client.id])
    expect((await verify()).code).toBe(0)
    expect(await verify('--head', head)).toEqual({
      code: 1,
      stdout: `broken at line 2: no row has the noted hash: newer rows are missing\n`,
    })
  })

  test('is verified by a program that is made from the implementation of the platform', async () => {
    await run(process.execPath, ['tools/scripts/audit-verifier.mjs', '--check'], { cwd: root })
  })
})

describe('the verifier', () => {
  const NOW = new Date('2026-11-20T12:00:00.000Z')
  const retention = fc.constantFrom<AuditRetention[]>('days_90', 'year_1', 'years_5')
  const content = fc.record({
    actor_id: fc.option(fc.uuid()),
    credential: fc.option(fc.string()),
    action: fc.string(),
    subject_type: fc.string(),
    subject_id: fc.string(),
    data: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
  })
  const row = fc.record({ content, retention, days: fc.integer({ min: 0, max: 2_500 }) })
  type Row = Record<string, unknown>

  /** Returns the lines of an export. Rows after their time have no content. */
  async function exported(
    rows: readonly { content: Row; retention: AuditRetention; days: number }[],
  ): Promise<Row[]> {
    const lines: Row[] = []
    let prev_hash = AUDIT_CHAIN_START
    for (const { content: fields, retention: kept, days } of rows) {
      const at = new Date(NOW.getTime() - days * DAY_MS).toISOString()
      const link = {
        organization_id: '2b7e4f90-c18d-4a63-9f52-e0d6b3a81c74',
        seq: lines.length + 1,
        at,
        retention: kept,
      }
      const content_hash = await auditContentHash(JSON.parse(JSON.stringify(fields)))
      const hash = await auditRowHash(link, content_hash, prev_hash)
      lines.push({ ...link, ...(days < auditRetentionDays[kept] && fields), content_hash, prev_hash, hash })
      prev_hash = hash
    }
    return lines
  }
  const verify = (lines: readonly Row[], head?: unknown) =>
    verifyAudit(
      lines.map((line) => JSON.stringify(line)),
      { now: NOW, head: head as string | undefined },
    )

  test('accepts what was not changed, and finds any change of any field of any row', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        fc.nat(),
        fc.oneof(fc.jsonValue(), fc.constant(undefined)),
        async (rows, rowIndex, fieldIndex, value) => {
          const lines = await exported(rows)
          const head = lines.at(-1)?.hash
          expect(await verify(lines, head)).toMatchObject({ ok: true, rows: lines.length })
          const index = rowIndex % lines.length
          const line = lines[index]!
          const names = [...Object.keys(line), 'added']
          const changed = { ...line, [names[fieldIndex % names.length]!]: value }
          fc.pre(JSON.stringify(changed) !== JSON.stringify(line))
          expect(await verify(lines.with(index, changed), head)).toMatchObject({ ok: false, line: index + 1 })
        },
      ),
      { numRuns: 500 },
    )
  })

  test('finds rows that were removed, repeated or moved', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 2, maxLength: 5 }), fc.nat(), async (rows, position) => {
        const lines = await exported(rows)
        const head = lines.at(-1)?.hash
        const index = position % lines.length
        expect(await verify(lines.toSpliced(index, 1), head)).toMatchObject({ ok: false })
        expect(await verify(lines.toSpliced(index, 0, lines[index]!), head)).toMatchObject({
          ok: false,
          line: index + 2,
        })
        const [first, second] = [lines[0]!, lines[1]!]
        expect(await verify([second, first, ...lines.slice(2)], head)).toMatchObject({ ok: false, line: 1 })
      }),
    )
  })

  test('finds content that was deleted before its time', async () => {
    const fields = { action: 'session.stopped', data: {} }
    const lines = await exported([{ content: fields, retention: 'years_5', days: 1_000 }])
    const { action: _, data: __, ...link } = lines[0]!
    expect(await verify([link])).toEqual({
      ok: false,
      line: 1,
      seq: 1,
      problem: 'deleted_early',
    })
  })

  test.each(['', 'null', '[]', '{}', '7', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, '{"seq":1'])(
    'survives input that is no row: %.10s',
    async (text) => {
      expect(await verifyAudit([text])).toMatchObject(
        text === '' ? { ok: true, rows: 0 } : { ok: false, line: 1, seq: null },
      )
    },
  )
})
