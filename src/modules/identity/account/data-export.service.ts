import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { type Selectable, sql } from 'kysely'
import type { CoreServices } from '../../../core/core-services.ts'
import { inBatches } from '../../../core/database/in-batches.ts'
import type { Db, Tables } from '../../../core/database/tables.ts'
import { conflict, notFound } from '../../../core/errors/errors.ts'
import { ExportProblem } from '../../../core/exports/export-problem.ts'
import { createExports, type ExportJob, exportClaimLost, exportQueue } from '../../../core/exports/exports.ts'
import { cronQueue } from '../../../core/jobs/cron-queue.ts'
import type { Attempt } from '../../../core/jobs/queue.ts'
import { personalData } from './personal-data.ts'
import type { Person, PersonalData } from './personal-data-part.ts'

/** Stored exports of one person. */
const MAX_STORED = 3
/** Running exports of one person. */
const MAX_UNFINISHED = 1
/** How long an export is kept. */
const KEEP_MS = 86_400_000
/** Rows that one statement reads. */
const ROWS_PER_PAGE = 500
/** The size at which a chunk is stored, before compression. A chunk and a page are in memory at a time. */
const CHUNK_BYTES = 512 * 1_024
/** Largest export, before compression. */
const MAX_BYTES = 512 * 1_024 * 1_024
const EXPIRED_PER_STATEMENT = 20
const FORMAT = 'wheelhouse-data-export'

export type DataExportRow = Selectable<Tables['data_exports']>
const zip = promisify(gzip)
const unzip = promisify(gunzip)

export const DATA_EXPORTS = exportQueue({
  name: 'data-exports',
  description: 'Writes an export of what the platform holds about a person',
  concurrency: 1,
  retry: { limit: 4, delaySeconds: 5, maxDelaySeconds: 120 },
  expireSeconds: 3_600,
})

export const DATA_EXPORT_CLEAN_UP = cronQueue(
  'data-export-clean-up',
  '*/10 * * * *',
  'Removes expired exports of people, and fails those without a job',
)

type Exported = PersonalData & { readonly exported: Exclude<PersonalData['exported'], string> }
/** The parts of the file, in their order. */
const parts = personalData.filter((data): data is Exported => typeof data.exported !== 'string')

/** Returns a person with the verified address. */
async function readPerson(db: Db, id: string): Promise<Person | undefined> {
  const user = await db
    .selectFrom('users')
    .select(['id', 'email', 'email_verified'])
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return user && { id: user.id, email: user.email_verified ? user.email : null }
}

/** Reads the rows of a part after a key, each as JSON text. */
async function readPage(db: Db, person: Person, { table, of, exported }: Exported, after: string | null) {
  const { key, type, columns } = exported
  const fields = columns.flatMap((name) => [sql.lit(name), sql.ref(name)])
  const { rows } = await sql<{ key: string; json: string }>`
    select ${sql.ref(key)}::text as key, json_build_object(${sql.join(fields)})::text as json
    from ${sql.table(table)}
    where ${of(person)} and ${after === null ? sql`true` : sql`${sql.ref(key)} > ${after}::${sql.raw(type)}`}
    order by ${sql.ref(key)} limit ${ROWS_PER_PAGE}`.execute(db)
  return rows
}

/**
 * Writes and keeps exports of everything that the platform holds about a person: one JSON file with a list for each part. It is
 * written chunk by chunk; a chunk and the position after it are one commit, so that an attempt after a crash continues.
 */
export function createDataExports(deps: Pick<CoreServices, 'db' | 'transact' | 'now'>) {
  const { db, transact, now } = deps
  const jobs = createExports<Pick<DataExportRow, 'id'>>(deps, {
    table: 'data_exports',
    queue: DATA_EXPORTS,
    stored: {
      max: MAX_STORED,
      message: `You have ${MAX_STORED} exports of your data, the most possible. Download one; each is deleted after 24 hours.`,
      where: () => sql`expires_at > ${now()}`,
    },
    unfinished: {
      max: MAX_UNFINISHED,
      message: 'An export of your data is being written. Wait until it is ready.',
    },
    columns: ['id'],
    gaveUp: 'The platform could not write the export. Request another one later.',
    notifyFailed: async () => {}, // the list shows it
  })

  async function nextChunk(row: DataExportRow, person: Person) {
    let { part, last_key: key } = row
    let text =
      row.chunks === 0
        ? `{"format":"${FORMAT}","version":1,"created_at":${JSON.stringify(row.created_at)},"parts":{`
        : ''
    let rows = 0
    for (let data = parts[part]; data && text.length < CHUNK_BYTES; data = parts[part]) {
      const page = await readPage(db, person, data, key)
      if (key === null) text += `${part === 0 ? '' : ','}\n${JSON.stringify(data.part)}:[`
      text += page.map(({ json }, index) => `${key === null && index === 0 ? '' : ','}\n${json}`).join('')
      rows += page.length
      key = page.at(-1)?.key ?? key
      if (page.length < ROWS_PER_PAGE) {
        text += ']'
        part++
        key = null
      }
    }
    const isLast = part === parts.length
    if (isLast) text += '}}\n'
    return { text, rows, bytes: Buffer.byteLength(text), part, key, isLast }
  }

  /** Stores the next chunk. With the last one, the export and the job are complete. */
  async function store(
    attempt: Attempt<ExportJob>,
    row: DataExportRow,
    chunk: Awaited<ReturnType<typeof nextChunk>>,
  ): Promise<DataExportRow> {
    const data = await zip(chunk.text)
    return await transact(async (tx) => {
      const at = now()
      const stored = await tx.db
        .updateTable('data_exports')
        .set({
          chunks: row.chunks + 1,
          rows: row.rows + chunk.rows,
          bytes: row.bytes + chunk.bytes,
          part: chunk.part,
          last_key: chunk.key,
          ...(chunk.isLast && {
            status: 'READY',
            finished_at: at,
            expires_at: new Date(at.getTime() + KEEP_MS),
          }),
        })
        .where('id', '=', row.id)
        .where('status', '=', 'RUNNING')
        .where('chunks', '=', row.chunks)
        .returningAll()
        .executeTakeFirst()
      if (!stored) throw exportClaimLost()
      await tx.db
        .insertInto('data_export_chunks')
        .values({ export_id: row.id, number: row.chunks, data })
        .execute()
      if (chunk.isLast) await attempt.complete(tx)
      return stored
    })
  }

  async function write(attempt: Attempt<ExportJob>): Promise<void> {
    let row = await db
      .updateTable('data_exports')
      .set({ status: 'RUNNING', error: null, finished_at: null })
      .where('id', '=', attempt.data.exportId)
      .where('status', '<>', 'READY')
      .returningAll()
      .executeTakeFirst()
    const person = row && (await readPerson(db, row.user_id))
    while (row?.status === 'RUNNING' && person) {
      attempt.signal.throwIfAborted()
      const chunk = await nextChunk(row, person)
      if (row.bytes + chunk.bytes > MAX_BYTES)
        throw new ExportProblem('Your data is more than 512 MiB. Write to us: we send it in parts.')
      row = await store(attempt, row, chunk)
      if (!chunk.isLast) await attempt.progress(row.part, parts.length)
    }
  }

  async function find(userId: string, id: string): Promise<DataExportRow> {
    const row = await db
      .selectFrom('data_exports')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('expires_at', '>', now())
      .executeTakeFirst()
    if (!row) throw notFound('Export')
    return row
  }

  async function* contentOf(row: DataExportRow): AsyncGenerator<Buffer> {
    for (let number = 0; number < row.chunks; number++) {
      const chunk = await db
        .selectFrom('data_export_chunks')
        .select('data')
        .where('export_id', '=', row.id)
        .where('number', '=', number)
        .executeTakeFirst()
      if (!chunk) throw new Error('The export was deleted during its download')
      yield await unzip(chunk.data)
    }
  }

  return {
    handler: jobs.handler(write),

    /** Creates an export and its job. @throws 409 `export_limit_reached` */
    create: (userId: string): Promise<DataExportRow> =>
      transact(async (tx) => {
        const at = now()
        await jobs.requireCapacity(tx, userId)
        const row = await tx.db
          .insertInto('data_exports')
          .values({
            id: randomUUID(),
            user_id: userId,
            created_at: at,
            expires_at: new Date(at.getTime() + KEEP_MS),
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        tx.enqueue({ queue: DATA_EXPORTS, data: { exportId: row.id } })
        return row
      }),

    /** Lists the exports of a person, newest first. */
    list: (userId: string): Promise<DataExportRow[]> =>
      db
        .selectFrom('data_exports')
        .selectAll()
        .where('user_id', '=', userId)
        .where('expires_at', '>', now())
        .orderBy('created_at', 'desc')
        .limit(MAX_STORED)
        .execute(),

    get: find,

    /** Returns the content of a finished export. Reads the next chunk only after the client has received the previous one. */
    async download(userId: string, id: string) {
      const row = await find(userId, id)
      if (row.status !== 'READY')
        throw conflict('export_not_ready', 'The export is not ready. Wait until its status is READY.')
      return { row, content: Readable.from(contentOf(row), { highWaterMark: 1 }) }
    },

    /** Fails exports without a job, and deletes those whose time has passed. */
    async cleanUp(): Promise<void> {
      await jobs.failAbandoned()
      await inBatches(EXPIRED_PER_STATEMENT, async () => {
        const expired = db
          .selectFrom('data_exports')
          .select('id')
          .where('expires_at', '<=', now())
          .limit(EXPIRED_PER_STATEMENT)
        const { numDeletedRows } = await db
          .deleteFrom('data_exports')
          .where('id', 'in', expired)
          .executeTakeFirst()
        return Number(numDeletedRows)
      })
    },
  }
}
export type DataExports = ReturnType<typeof createDataExports>
