import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Selectable } from 'kysely'
import type { CoreServices } from '../../../core/core-services.ts'
import { inBatches } from '../../../core/database/in-batches.ts'
import { iso } from '../../../core/database/iso.ts'
import type { Tables } from '../../../core/database/tables.ts'
import { conflict, notFound } from '../../../core/errors/errors.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import type { SessionExports } from '../export/export.service.ts'
import type { ExportSessions } from '../record/session.schema.ts'
import { MAX_ROWS, SESSION_EXPORTS } from './export-queue.ts'
import type { StoredExport } from './stored-export.schema.ts'

/** Running exports of one user. */
const MAX_UNFINISHED = 2
/** Stored exports of one user. */
const MAX_STORED = 5
export const KEEP_MS = 86_400_000
const EXPIRED_PER_STATEMENT = 20

type Row = Selectable<Tables['session_exports']>
const unzip = promisify(gunzip)

/** Creates the service of exports that a job writes. Only their user sees them. */
export function createStoredExports(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now'> & { exports: SessionExports },
) {
  const { db, transact, now, exports } = deps

  async function find(userId: string, id: string): Promise<Row> {
    const row = await db
      .selectFrom('session_exports')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('expires_at', '>', now())
      .executeTakeFirst()
    if (!row) throw notFound('Export')
    return row
  }

  async function* contentOf(row: Row): AsyncGenerator<Buffer> {
    for (let number = 0; number < row.chunks; number++) {
      const chunk = await db
        .selectFrom('session_export_chunks')
        .select('data')
        .where('export_id', '=', row.id)
        .where('number', '=', number)
        .executeTakeFirst()
      if (!chunk) throw new Error('The export was deleted during its download')
      yield await unzip(chunk.data)
    }
  }

  return {
    count: async (caller: Caller, { format: _, ...filter }: ExportSessions): Promise<number> =>
      await exports.count(caller, filter, MAX_ROWS + 1),

    /** Creates an export and its job. */
    async create(caller: Caller, { format, ...filter }: ExportSessions): Promise<StoredExport> {
      const totalRows = await exports.count(caller, filter, MAX_ROWS + 1)
      if (totalRows > MAX_ROWS)
        throw conflict(
          'export_too_large',
          `More than ${MAX_ROWS.toLocaleString('en')} sessions match. Export a shorter period.`,
        )
      return await transact(async (tx) => {
        const at = now()
        // The lock orders concurrent requests of a user, so that none passes a limit.
        await tx.db
          .selectFrom('users')
          .select('id')
          .where('id', '=', caller.userId)
          .forNoKeyUpdate()
          .execute()
        const stored = await tx.db
          .selectFrom('session_exports')
          .select('status')
          .where('user_id', '=', caller.userId)
          .where('expires_at', '>', at)
          .execute()
        if (stored.length >= MAX_STORED)
          throw conflict(
            'export_limit_reached',
            `You have ${MAX_STORED} stored exports, the most possible. Delete one first.`,
          )
        if (
          stored.filter(({ status }) => status === 'PENDING' || status === 'RUNNING').length >= MAX_UNFINISHED
        )
          throw conflict(
            'export_limit_reached',
            `${MAX_UNFINISHED} exports of yours are running, the most possible. Wait for one, or cancel it.`,
          )
        const row = await tx.db
          .insertInto('session_exports')
          .values({
            id: randomUUID(),
            user_id: caller.userId,
            format,
            request: { filter, roles: caller.roles },
            total_rows: totalRows,
            created_at: at,
            expires_at: new Date(at.getTime() + KEEP_MS),
          })
          .returningAll()
          .executeTakeFirstOrThrow()
        tx.enqueue({ queue: SESSION_EXPORTS, data: { exportId: row.id } })
        return view(row)
      })
    },

    /** Lists the exports of a user, newest first. */
    list: async (userId: string): Promise<StoredExport[]> =>
      (
        await db
          .selectFrom('session_exports')
          .selectAll()
          .where('user_id', '=', userId)
          .where('expires_at', '>', now())
          .orderBy('created_at', 'desc')
          .limit(MAX_STORED)
          .execute()
      ).map(view),

    get: async (userId: string, id: string): Promise<StoredExport> => view(await find(userId, id)),

    /** Returns the content of a finished export. Reads the next chunk only after the client has received the previous one. */
    async download(userId: string, id: string) {
      const row = await find(userId, id)
      if (row.status !== 'READY')
        throw conflict('export_not_ready', 'The export is not ready. Wait until its status is READY.')
      const content = Readable.from(contentOf(row), { highWaterMark: 1 })
      return { content, format: row.format, bytes: row.bytes, createdAt: row.created_at }
    },

    /** Deletes an export. Its job, if it is running, ends at the next chunk. */
    async remove(userId: string, id: string): Promise<void> {
      const { numDeletedRows } = await db
        .deleteFrom('session_exports')
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw notFound('Export')
    },

    /** Deletes the exports whose time has passed. */
    removeExpired: (): Promise<void> =>
      inBatches(EXPIRED_PER_STATEMENT, async () => {
        const expired = db
          .selectFrom('session_exports')
          .select('id')
          .where('expires_at', '<=', now())
          .limit(EXPIRED_PER_STATEMENT)
        const { numDeletedRows } = await db
          .deleteFrom('session_exports')
          .where('id', 'in', expired)
          .executeTakeFirst()
        return Number(numDeletedRows)
      }),
  }
}
export type StoredExports = ReturnType<typeof createStoredExports>

const view = (row: Row): StoredExport => ({
  id: row.id,
  format: row.format,
  filter: row.request.filter,
  status: row.status,
  total_rows: row.total_rows,
  rows: row.rows,
  bytes: row.bytes,
  error: row.error,
  created_at: iso(row.created_at),
  finished_at: iso(row.finished_at),
  expires_at: iso(row.expires_at),
})
