import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { isDeepStrictEqual, promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type Selectable, sql } from 'kysely'
import type { CoreServices } from '../../../core/core-services.ts'
import { inBatches } from '../../../core/database/in-batches.ts'
import { iso } from '../../../core/database/iso.ts'
import type { Tables } from '../../../core/database/tables.ts'
import { conflict, notFound } from '../../../core/errors/errors.ts'
import type { Tx } from '../../../core/events/transactor.ts'
import { createExports, type Exports, exportQueue } from '../../../core/exports/exports.ts'
import type { Caller } from '../../../core/http/endpoint.ts'
import { cronQueue } from '../../../core/jobs/cron-queue.ts'
import type { SessionExports } from '../export/export.service.ts'
import type { ExportSessions } from '../record/session.schema.ts'
import type { StoredExport } from './stored-export.schema.ts'

/** Most sessions of one export. */
export const MAX_ROWS = 1_000_000
/** Running exports of one user. */
const MAX_UNFINISHED = 2
/** Stored exports of one user. */
const MAX_STORED = 5
export const KEEP_MS = 86_400_000
const EXPIRED_PER_STATEMENT = 20

export type SessionExportRow = Selectable<Tables['session_exports']>
const unzip = promisify(gunzip)

export const SESSION_EXPORTS = exportQueue({
  name: 'session-exports',
  description: 'Writes an export of sessions',
  concurrency: 2,
  retry: { limit: 4, delaySeconds: 5, maxDelaySeconds: 120 },
  expireSeconds: 3_600,
})

export const EXPORT_CLEAN_UP = cronQueue(
  'session-export-clean-up',
  '*/10 * * * *',
  'Removes expired exports of sessions, and fails those without a job',
)

type NotifiedExport = Pick<SessionExportRow, 'id' | 'user_id' | 'format' | 'rows' | 'bytes'>

/** Notifies the user of an export about its end. */
export const notifyAbout = (
  tx: Tx,
  at: Date,
  row: NotifiedExport,
  type: 'export.ready' | 'export.failed',
): Promise<void> =>
  tx.notify(at, [
    {
      userId: row.user_id,
      type,
      data: { export_id: row.id, format: row.format, rows: row.rows, bytes: row.bytes },
    },
  ])

/** Creates what exports of sessions have in common with other exports. */
export const createSessionExportJobs = (core: Pick<CoreServices, 'db' | 'transact' | 'now'>): Exports =>
  createExports<NotifiedExport>(core, {
    table: 'session_exports',
    queue: SESSION_EXPORTS,
    stored: {
      max: MAX_STORED,
      message: `You have ${MAX_STORED} stored exports, the most possible. Delete one first.`,
      where: () => sql`expires_at > ${core.now()}`,
    },
    unfinished: {
      max: MAX_UNFINISHED,
      message: `${MAX_UNFINISHED} exports of yours are running, the most possible. Wait for one, or cancel it.`,
    },
    columns: ['id', 'user_id', 'format', 'rows', 'bytes'],
    gaveUp: 'The platform could not write the export. Try again later.',
    notifyFailed: (tx, at, row) => notifyAbout(tx, at, row, 'export.failed'),
  })

/** Whose export it is, and for which organization. */
type Owner = Pick<Caller, 'userId' | 'organization'>

/** Creates the service of exports that a job writes. Only their user sees them. */
export function createStoredExports(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now'> & {
    exports: SessionExports
    exportJobs: Exports
  },
) {
  const { db, transact, now, exports, exportJobs } = deps

  async function find({ userId, organization }: Owner, id: string): Promise<SessionExportRow> {
    const row = await db
      .selectFrom('session_exports')
      .selectAll()
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('organization_id', '=', organization.id)
      .where('expires_at', '>', now())
      .executeTakeFirst()
    if (!row) throw notFound('Export')
    return row
  }

  async function* contentOf(row: SessionExportRow): AsyncGenerator<Buffer> {
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
        await exportJobs.requireCapacity(tx, caller.userId)
        const row = await tx.db
          .insertInto('session_exports')
          .values({
            id: randomUUID(),
            user_id: caller.userId,
            organization_id: caller.organization.id,
            format,
            request: { filter, roles: caller.roles, organization: caller.organization },
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
    list: async ({ userId, organization }: Owner): Promise<StoredExport[]> =>
      (
        await db
          .selectFrom('session_exports')
          .selectAll()
          .where('user_id', '=', userId)
          .where('organization_id', '=', organization.id)
          .where('expires_at', '>', now())
          .orderBy('created_at', 'desc')
          .limit(MAX_STORED)
          .execute()
      ).map(view),

    get: async (owner: Owner, id: string): Promise<StoredExport> => view(await find(owner, id)),

    /** Returns the content of a finished export. Reads the next chunk only after the client has received the previous one. */
    async download(owner: Owner, id: string) {
      const row = await find(owner, id)
      const { organization: then } = row.request
      // It was written with what the user was then.
      if (then && !isDeepStrictEqual(then, owner.organization)) throw notFound('Export')
      if (row.status !== 'READY')
        throw conflict('export_not_ready', 'The export is not ready. Wait until its status is READY.')
      const content = Readable.from(contentOf(row), { highWaterMark: 1 })
      return { content, format: row.format, bytes: row.bytes, createdAt: row.created_at }
    },

    remove: exportJobs.remove,

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

const view = (row: SessionExportRow): StoredExport => ({
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
