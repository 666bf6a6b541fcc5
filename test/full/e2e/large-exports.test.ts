import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseCsv } from '../../support/cli/csv.ts'
import { connectTo } from '../../support/database/sql.ts'
import { startWheelhouse } from '../../support/processes/processes.ts'
import { ownerOf } from '../../support/world/past-sessions.ts'
import type { TestUser } from '../../support/world/test-user.ts'
import { createWorld, type World } from '../../support/world/world.ts'

/** Enough for five hundred pages, and for many times the size of socket buffers. */
const MANY = 100_000

let world: World
let owner: TestUser
let app: ReturnType<typeof startWheelhouse>
let dataDir: string
beforeAll(async () => {
  world = await createWorld()
  owner = await ownerOf(world, MANY)
  {
    await using database = await connectTo(world.database.url)
    await database.query('analyze sessions') // as autovacuum does later
  }
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-export-'))
  app = startWheelhouse({
    DATABASE_URL: world.database.url,
    DATA_DIR: dataDir,
    DEMO: 'false',
    SECRET_KEY: 'x'.repeat(32),
    LOG_LEVEL: 'info',
  })
})
afterAll(async () => {
  expect((await app.end('SIGTERM')).code).toBe(0)
  await rm(dataDir, { recursive: true })
  await world[Symbol.asyncDispose]()
})

/** Returns the resident memory of the process that exports. */
async function residentBytes(): Promise<number> {
  const pages = (await readFile(`/proc/${app.pid}/statm`, 'utf8')).split(' ')[1]
  return Number(pages) * 4_096
}

async function download(key: string, body: object): Promise<string> {
  const { baseUrl } = await app.serving()
  const response = await fetch(`${baseUrl}/api/sessions/export`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(200)
  return await response.text()
}

/** Returns the id, status and charge of each session in a document, in order. */
function rowsOf(document: string, format: string): (string | number)[][] {
  if (format === 'json') {
    const { sessions } = JSON.parse(document) as { sessions: Record<string, string | number>[] }
    return sessions.map(({ id, status, client_charge_cents }) => [id!, status!, client_charge_cents!])
  }
  const [header, ...records] = parseCsv(document)
  const [id, status, charge] = ['id', 'status', 'client_charge_cents'].map((name) => header!.indexOf(name))
  return records.map((cells) => [cells[id!]!, cells[status!]!, Number(cells[charge!])])
}

test.each(['json', 'csv'])(
  'a hundred thousand sessions stream through a process that grows by less than 80 MB, every row exact, as %s',
  async (format) => {
    const { key } = await owner.key()
    // A small export first: the measurement excludes memory that the process allocates only once.
    await download(key, { format, to: '2026-01-01T00:00:00Z' })
    const beforeBytes = await residentBytes()
    let mostBytes = beforeBytes
    const sampling = setInterval(async () => {
      mostBytes = Math.max(mostBytes, await residentBytes())
    }, 20)
    const document = await download(key, { format })
    clearInterval(sampling)
    expect(document.length).toBeGreaterThan(150 * MANY)
    expect(mostBytes - beforeBytes, 'more bytes resident').toBeLessThan(80 * 1024 * 1024)

    await using database = await connectTo(world.database.url)
    const { rows } = await database.query<{ row: (string | number)[] }>(
      `select jsonb_build_array(id, status, client_charge_cents) as row from sessions
       where client_id = $1 order by created_at desc, id desc`,
      [owner.id],
    )
    const sessions = rowsOf(document, format)
    expect(sessions).toHaveLength(MANY)
    // The comparison of vitest takes seconds for so many rows.
    const different = sessions.findIndex((row, index) => !isDeepStrictEqual(row, rows[index]?.row))
    expect(sessions[different], `row ${different}`).toEqual(rows[different]?.row)
  },
)
