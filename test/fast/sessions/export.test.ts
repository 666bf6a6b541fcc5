import { randomUUID } from 'node:crypto'
import { type IncomingMessage, request } from 'node:http'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Db } from '../../../src/core/database/tables.ts'
import {
  createSessionExports,
  type ExportCursor,
  type ExportFilter,
  type ReadPage,
} from '../../../src/modules/sessions/export/export.service.ts'
import { parseCsv } from '../../support/cli/csv.ts'
import { connectTo } from '../../support/database/sql.ts'
import { actingForSelf } from '../../support/world/acting.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

const EXPORT = '/api/sessions/export'
/** Enough for three hundred pages, and for many times the size of socket buffers. */
const MANY = 60_000
/** Seven sessions share each creation time, so that pages end between sessions with equal times. */
const BASE = '2026-03-01T00:00:00.000Z'

const SHARED = [
  'id',
  'status',
  'started_at',
  'ended_at',
  'duration_minutes',
  'client_charge_cents',
  'rating',
  'created_at',
  'robot_id',
  'robot_name',
  'robot_type',
  'operator_name',
]
const CLIENT_ONLY = ['episodes_collected', 'data_collected_mb']
const OPERATOR_ONLY = ['operator_earnings_cents']

type Sessions = Record<string, string | number | null>[]

let world: World
let rich: { client: TestUser; operator: TestUser; robot: { id: string } }
beforeAll(async () => {
  world = await createWorld()
  rich = await actors()
  await seed(rich.client, rich.operator, rich.robot, MANY)
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => vi.restoreAllMocks())

async function actors(robotName = 'Arm') {
  const [client, operator] = [await world.client(), await world.operator()]
  return { client, operator, robot: await world.robot(client, { name: robotName }) }
}

let serial = 0

/** Inserts `count` past completed and cancelled sessions: seven per second. */
async function seed(client: TestUser, operator: TestUser, robot: { id: string }, count: number, base = BASE) {
  await using database = await connectTo(world.database.url)
  // Without triggers: the triggers for totals would update the same few rows for each session.
  await database.query('set session_replication_role = replica')
  await database.query(
    `insert into sessions (id, robot_id, operator_id, client_id, status, started_at, ended_at, created_at,
       client_charge_cents, operator_earnings_cents, episodes_collected, data_collected_bytes, rating,
       recorded_robot_name, recorded_robot_type, recorded_operator_name, recorded_client_name)
     select gen_random_uuid(), $1, $2, $3, case when n % 10 = 0 then 'CANCELLED' else 'COMPLETED' end,
       at, at + interval '90 s', at, n, case when n % 3 = 0 then null else n / 2 end, n % 4, n * 1000,
       case when n % 5 = 0 or operators.id = $3 then null else 1 + n % 5 end,
       robots.name, robots.robot_type, operators.display_name, 'Owner'
     from robots, users as operators, (select n, $4::timestamptz - (n / 7) * interval '1 s' as at from generate_series(0, $5 - 1) n) rows
     where robots.id = $1 and operators.id = $2`,
    [robot.id, operator.id, client.id, base, count],
  )
  if (count === MANY) await database.query('analyze sessions') // takes a third of a second with so many rows
}

const send = (user: TestUser, body: object) =>
  fetch(world.baseUrl + EXPORT, {
    method: 'POST',
    headers: { Authorization: `Bearer ${user.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
async function exported(user: TestUser, filter: Partial<ExportFilter> = {}): Promise<Sessions> {
  const response = await send(user, { format: 'json', ...filter })
  expect(response.status).toBe(200)
  return ((await response.json()) as { sessions: Sessions }).sessions
}
async function csvOf(user: TestUser, filter: Partial<ExportFilter> = {}): Promise<string[][]> {
  const response = await send(user, { format: 'csv', ...filter })
  expect(response.status).toBe(200)
  return parseCsv(await response.text())
}
const idsOf = (sessions: Sessions) => sessions.map((session) => session.id)

const NUMBERS = new Set([
  'duration_minutes',
  'client_charge_cents',
  'rating',
  ...CLIENT_ONLY,
  ...OPERATOR_ONLY,
])
/** Parses the sessions of a CSV table, without empty cells and without the apostrophes that escape formulas. */
function fromCsv([header, ...records]: string[][]): Sessions {
  expect(new Set(records.map(({ length }) => length))).toEqual(
    new Set(records.length > 0 ? [header?.length] : []),
  )
  return records.map((record) => {
    const cells = (header ?? []).map((column, index) => [column, record[index] as string] as const)
    return Object.fromEntries(
      cells
        .filter(([, text]) => text !== '')
        .map(([column, text]) => [column, NUMBERS.has(column) ? Number(text) : text.replace(/^'/, '')]),
    )
  })
}
const withoutNulls = (sessions: Sessions): Sessions =>
  sessions.map((session) => Object.fromEntries(Object.entries(session).filter(([, value]) => value !== null)))

describe('POST /api/sessions/export: the document', () => {
  test('is a download with headers against caching and content sniffing', async () => {
    for (const [format, type] of [
      ['csv', 'text/csv; charset=utf-8'],
      ['json', 'application/json'],
    ] as const) {
      const { headers } = await send(await world.client(), { format })
      expect(headers.get('Content-Type')).toBe(type)
      const name = new RegExp(`^attachment; filename="sessions-\\d{4}-\\d\\d-\\d\\d\\.${format}"$`)
      expect(headers.get('Content-Disposition')).toMatch(name)
      expect(headers.get('Cache-Control')).toBe('no-store')
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    }
  })

  test('is valid without sessions, and a table then has only its header', async () => {
    const [client, operator, stranger] = [await world.client(), await world.operator(), await world.newUser()]
    for (const user of [client, operator, stranger]) {
      expect(await (await send(user, { format: 'json' })).json()).toEqual({ sessions: [] })
    }
    expect(await csvOf(client)).toEqual([[...SHARED, ...CLIENT_ONLY]])
    expect(await csvOf(operator)).toEqual([[...SHARED, ...OPERATOR_ONLY]])
    expect(await csvOf(stranger)).toEqual([SHARED])
  })

  test('contains exactly the sessions and fields of the list, newest first, for client and operator', async () => {
    const { client, operator, robot } = await actors()
    await seed(client, operator, robot, 60)
    for (const user of [client, operator]) {
      const listed = (await user.get('/api/sessions?limit=100')).body.sessions
      expect(listed).toHaveLength(60)
      expect(await exported(user)).toEqual(listed)
      expect(fromCsv(await csvOf(user))).toEqual(withoutNulls(listed))
    }
    expect(await exported(await world.operator())).toEqual([])
    expect(await exported(await world.admin())).toEqual([])
  })

  test('of a user who is client and operator contains the sessions and columns of both roles, each once', async () => {
    const both = await world.client()
    await both.post('/api/auth/profile', { role: 'operator' })
    const other = await actors()
    const own = await world.robot(both)
    await seed(both, other.operator, own, 700)
    await seed(other.client, both, other.robot, 700)
    await seed(both, both, own, 700)

    const table = await csvOf(both)
    expect(table[0]).toEqual([...SHARED, ...CLIENT_ONLY, ...OPERATOR_ONLY])
    const sessions = await exported(both)
    expect(new Set(idsOf(sessions)).size).toBe(2_100)
    expect(sessions).toHaveLength(2_100)
    const listed = (await both.get('/api/sessions?limit=100&offset=950')).body.sessions
    expect(sessions.slice(950, 1_050), 'around the end of a page').toEqual(listed)
    expect(fromCsv(table)).toEqual(withoutNulls(sessions))
    for (const session of sessions) {
      // A session has the view of the user's role in it; the client view has precedence.
      const columns = session.robot_id === own.id ? CLIENT_ONLY : OPERATOR_ONLY
      expect(Object.keys(session)).toEqual([...SHARED, ...columns])
    }
  })

  test('escapes text that would be a formula, and does not change numbers', async () => {
    const names = [
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '＝1',
      '＋1',
      '－1',
      '＠x',
      '=HYPERLINK("http://x","y, z")',
      'plain',
      'a=b',
      'one, two',
      'say "hi"',
      '"quoted"',
      "it's",
      'ümläut 🤖',
    ]
    const { client, operator, robot } = await actors()
    for (const [index, name] of names.entries()) {
      const { status } = await client.patch(`/api/client/robots/${robot.id}`, { name })
      expect(status).toBe(200)
      const base = new Date(Date.parse(BASE) - index * 60_000).toISOString() // newest first, as in the export
      await seed(client, operator, robot, 1, base)
    }
    const [, ...rows] = await csvOf(client)
    expect(rows.map((row) => row[SHARED.indexOf('robot_name')])).toEqual(
      names.map((name) => (/^[=+\-@＝＋－＠]/.test(name) ? `'${name}` : name)),
    )
    expect((await exported(client)).map((session) => session.robot_name)).toEqual(names)
    for (const row of rows) expect(row[SHARED.indexOf('client_charge_cents')]).toBe('0')
  })

  test('quotes a name with line breaks, and escapes leading tabs and carriage returns', async () => {
    const { client, operator, robot } = await actors()
    await using database = await connectTo(world.database.url)
    for (const name of ['\t=1', '\r=1', '\n=1', 'two\r\nlines', '"\n']) {
      // An identity provider may return such a name.
      await database.query('update users set display_name = $2 where id = $1', [operator.id, name])
      await seed(client, operator, robot, 1, new Date(Date.now() + 60_000 * serial++).toISOString())
      const cell = (await csvOf(client))[1]?.[SHARED.indexOf('operator_name')]
      expect(cell).toBe(/^[\t\r\n]/.test(name) ? `'${name}` : name)
    }
  })
})

describe('POST /api/sessions/export: the filter', () => {
  test('accepts a status', async () => {
    const { client, operator, robot } = await actors()
    await seed(client, operator, robot, 50)
    const all = await exported(client)
    for (const status of ['COMPLETED', 'CANCELLED', 'ACTIVE'] as const) {
      const wanted = all.filter((session) => session.status === status)
      expect(await exported(client, { status })).toEqual(wanted)
    }
  })

  test('accepts an inclusive from and an exclusive to, with any offset', async () => {
    const { client, operator, robot } = await actors()
    await seed(client, operator, robot, 70)
    const all = await exported(client)
    const created = (session: Sessions[number]) => Date.parse(session.created_at as string)
    const at = (secondsBack: number) => Date.parse(BASE) - secondsBack * 1_000
    const iso = (ms: number) => new Date(ms).toISOString()
    const between = (from: number, to: number) =>
      all.filter((session) => created(session) >= from && created(session) < to)

    expect(between(at(6), at(2))).toHaveLength(28)
    expect(await exported(client, { from: iso(at(6)), to: iso(at(2)) })).toEqual(between(at(6), at(2)))
    expect(await exported(client, { from: iso(at(3)) })).toEqual(between(at(3), Number.POSITIVE_INFINITY))
    expect(await exported(client, { to: iso(at(3)) })).toEqual(between(0, at(3)))
    // The same time with another offset: 2026-03-01T01:59:58+02:00 is two seconds before BASE.
    expect(await exported(client, { from: '2026-03-01T01:59:58+02:00' })).toEqual(
      between(at(2), Number.POSITIVE_INFINITY),
    )
    expect(await exported(client, { from: iso(at(0) + 1) })).toEqual([])
    expect(await exported(client, { to: '0001-01-01T00:00:00Z' })).toEqual([])
    expect(await exported(client, { status: 'CANCELLED', from: iso(at(6)), to: iso(at(2)) })).toEqual(
      between(at(6), at(2)).filter((session) => session.status === 'CANCELLED'),
    )
  })

  test('accepts a robot', async () => {
    const { client, operator, robot } = await actors()
    const other = await world.robot(client)
    await seed(client, operator, robot, 3)
    await seed(client, operator, other, 4)
    for (const user of [client, operator]) {
      const found = await exported(user, { robotId: other.id })
      expect(found.map((session) => session.robot_id)).toEqual(Array(4).fill(other.id))
    }
  })

  const [earlier, later] = ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z']
  test.each([
    ['format', {}],
    ['format', { format: 'xml' }],
    ['format', { format: 'CSV' }],
    ['status', { format: 'csv', status: 'OPEN' }],
    ['status', { format: 'csv', status: '' }],
    ['from', { format: 'csv', from: '2026-01-01' }],
    ['from', { format: 'csv', from: '2026-01-01T00:00:00' }],
    ['from', { format: 'csv', from: 1_800_000_000_000 }],
    ['to', { format: 'csv', to: '2026-02-30T00:00:00Z' }],
    ['to', { format: 'csv', to: null }],
    ['to', { format: 'csv', from: later, to: earlier }],
    ['to', { format: 'csv', from: earlier, to: earlier }],
    ['to', { format: 'csv', from: '2026-01-01T01:00:00+01:00', to: earlier }],
    ['limit', { format: 'csv', limit: 5 }],
  ])('returns 400 naming %s for %j', async (field, body) => {
    const reply = await rich.client.post(EXPORT, body)
    expect(reply.status).toBe(400)
    expect(reply.body).toEqual({ error: expect.stringContaining(field) })
  })
})

describe('POST /api/sessions/export: tens of thousands of sessions', () => {
  /** Makes every export read its pages through `readPage`, which receives the real reader. */
  function readingOf(readPage: (read: ReadPage, after?: ExportCursor) => ReturnType<ReadPage>) {
    const { reader } = world.platform.sessions.exports
    const pages = vi.fn(readPage)
    vi.spyOn(world.platform.sessions.exports, 'reader').mockImplementation((caller, filter) => {
      const read = reader(caller, filter)
      return (after) => pages(read, after)
    })
    return pages
  }
  /** Starts an export without reading its body. */
  function unread(user: TestUser): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const asked = request(
        world.baseUrl + EXPORT,
        {
          method: 'POST',
          headers: { Authorization: `Bearer ${user.token}`, 'Content-Type': 'application/json' },
        },
        resolve,
      )
      asked.on('error', reject)
      asked.end('{"format":"json"}')
    })
  }
  /** Resolves with the number of pages read, once no page was read while the process served a dozen other pages. */
  async function settled(pages: { mock: { calls: unknown[] } }): Promise<number> {
    for (;;) {
      const before = pages.mock.calls.length
      for (let count = 0; count < 12; count++) {
        expect((await rich.client.get('/api/sessions?limit=100')).status).toBe(200)
      }
      if (pages.mock.calls.length === before) return before
    }
  }

  test('pause for a client that does not read, and stop when it disconnects', async () => {
    const pages = readingOf(async (read, after) => await read(after))
    const slow = await unread(rich.client)
    const whileBlocked = await settled(pages)
    expect(whileBlocked).toBeGreaterThan(1)
    expect(whileBlocked).toBeLessThan(150)

    for (let chunks = 0; chunks < 50; chunks++) {
      if (!slow.read()) await new Promise((resolve) => slow.once('readable', resolve))
    }
    slow.destroy()
    const afterwards = await settled(pages)
    expect(afterwards).toBeLessThan(225)
    // One page may be in progress when the client disconnects. No page follows it.
    await rich.client.get('/api/sessions?limit=1')
    expect(pages.mock.calls).toHaveLength(afterwards)
  })

  test('break the connection when the database fails midway, and never end as a complete document', async () => {
    for (const format of ['csv', 'json']) {
      const pages = readingOf(async (read, after) => {
        if (pages.mock.calls.length > 2) throw new Error('the database went away')
        return await read(after)
      })
      const response = await send(rich.client, { format })
      expect(response.status).toBe(200)
      await expect(response.text()).rejects.toThrow()
      vi.restoreAllMocks()
    }
    const loggedErrors = world.errors.splice(0)
    expect(loggedErrors).toHaveLength(2)
    for (const line of loggedErrors) {
      expect(JSON.parse(line)).toMatchObject({ msg: 'session export failed', userId: rich.client.id })
    }
    expect(await exported(rich.client, { from: '2026-02-28T23:59:59Z' }), 'and others go on').toHaveLength(14)
  })

  test('return an ordinary error when the database fails at the first page', async () => {
    readingOf(async () => {
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    })
    const reply = await rich.client.post(EXPORT, { format: 'csv' })
    expect(reply).toMatchObject({ status: 503, body: { error: expect.any(String) } })
    expect(world.errors.splice(0)).toHaveLength(1)
  })

  /** A page of each role, and a few index lookups. */
  const MOST_READ = 450
  /** Returns the number of session rows that this connection has read. */
  async function readSoFar(db: Db): Promise<{ seq_scan: number; idx_tup_fetch: number }> {
    const query = `select seq_scan, idx_tup_fetch from pg_stat_xact_user_tables where relname = 'sessions'`
    const { rows } = await sql.raw<{ seq_scan: number; idx_tup_fetch: number }>(query).execute(db)
    return rows[0] ?? { seq_scan: 0, idx_tup_fetch: 0 }
  }
  const now = () => new Date()
  const last = { created_at: new Date(Date.parse(BASE) - 7_000_000).toISOString(), id: randomUUID() }
  const [from, to] = ['2026-02-28T20:00:00Z', '2026-02-28T22:00:00Z']

  test.each([
    ['a client', ['client'], {}],
    ['an operator', ['operator'], {}],
    ['a user with both roles', ['client', 'operator'], {}],
    ['a client, by status', ['client'], { status: 'CANCELLED' }],
    ['a user with both roles, by status', ['client', 'operator'], { status: 'CANCELLED' }],
    ['an operator, by time', ['operator'], { from, to }],
    ['a client, by status and time', ['client'], { status: 'COMPLETED', from, to }],
  ] as const)('a page for %s reads only the needed rows, from indexes', async (_user, roles, filter) => {
    for (const after of [undefined, last]) {
      for (const userId of [rich.client.id, rich.operator.id]) {
        await world.platform.core.db.transaction().execute(async (db) => {
          const before = await readSoFar(db)
          const rows = await createSessionExports({ db, now }).reader(
            { ...actingForSelf(userId), roles },
            filter,
          )(after)
          const later = await readSoFar(db)
          const what = `${rows.length} rows, ${after ? 'midway' : 'from the start'}`
          expect(later.seq_scan - before.seq_scan, `whole tables read for ${what}`).toBe(0)
          expect(later.idx_tup_fetch - before.idx_tup_fetch, `rows read for ${what}`).toBeLessThan(MOST_READ)
        })
      }
    }
  })
})
