import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { CoreServices } from '../../../core/core-services.ts'
import { ExportProblem } from '../../../core/exports/export-problem.ts'
import { type ExportJob, exportClaimLost } from '../../../core/exports/exports.ts'
import type { Attempt } from '../../../core/jobs/queue.ts'
import { ownMembership } from '../../../core/permissions/caller.ts'
import {
  EXPORT_PAGE,
  type ExportCursor,
  type ReadPage,
  type SessionExports,
} from '../export/export.service.ts'
import { csvExport, type ExportFormat, jsonExport } from '../export/export-format.ts'
import { KEEP_MS, MAX_ROWS, notifyAbout, type SessionExportRow } from './stored-export.service.ts'

/** The size at which a chunk is stored, before compression. A chunk and a page are in memory at a time. */
const CHUNK_BYTES = 512 * 1_024
/** Largest export, before compression. */
const MAX_BYTES = 512 * 1_024 * 1_024
const TOO_LARGE = 'The export is larger than 512 MiB or 1,000,000 sessions. Export a shorter period.'

const zip = promisify(gzip)

/** A part of the file, with the position after it. */
interface Chunk {
  readonly text: string
  readonly rows: number
  readonly bytes: number
  readonly cursor: ExportCursor | undefined
  readonly isLast: boolean
}

/**
 * Creates the function that writes an export chunk by chunk. A chunk and the position after it are one commit that only the
 * next chunk in order can make, so an attempt after a crash, or two attempts at once, never damage the file.
 */
export function createExportWriter(
  deps: Pick<CoreServices, 'db' | 'transact' | 'now'> & { exports: SessionExports },
) {
  const { db, transact, now, exports } = deps

  /** Returns the export to write; undefined when it is finished, or its user has deleted it. */
  const begin = (exportId: string): Promise<SessionExportRow | undefined> =>
    db
      .updateTable('session_exports')
      .set({ status: 'RUNNING', error: null, finished_at: null })
      .where('id', '=', exportId)
      .where('status', '<>', 'READY')
      .returningAll()
      .executeTakeFirst()

  /** Stores the next chunk. With the last one, the export and the job are complete. */
  async function store(
    attempt: Attempt<ExportJob>,
    row: SessionExportRow,
    chunk: Chunk,
  ): Promise<SessionExportRow> {
    const data = await zip(chunk.text)
    return await transact(async (tx) => {
      const at = now()
      const stored = await tx.db
        .updateTable('session_exports')
        .set({
          chunks: row.chunks + 1,
          rows: row.rows + chunk.rows,
          bytes: row.bytes + chunk.bytes,
          ...(chunk.cursor && { last_id: chunk.cursor.id, last_created_at: chunk.cursor.created_at }),
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
        .insertInto('session_export_chunks')
        .values({ export_id: row.id, number: row.chunks, data })
        .execute()
      if (chunk.isLast) {
        await notifyAbout(tx, at, stored, 'export.ready')
        await attempt.complete(tx)
      }
      return stored
    })
  }

  return async (attempt: Attempt<ExportJob>): Promise<void> => {
    let row = await begin(attempt.data.exportId)
    if (!row) return
    const format = row.format === 'csv' ? csvExport(row.request) : jsonExport
    const { roles, filter, organization = ownMembership(row.user_id) } = row.request
    const read = exports.reader({ userId: row.user_id, roles, organization }, filter)
    while (row.status === 'RUNNING') {
      attempt.signal.throwIfAborted()
      const chunk = await nextChunk(row, format, read)
      if (row.rows + chunk.rows > MAX_ROWS || row.bytes + chunk.bytes > MAX_BYTES)
        throw new ExportProblem(TOO_LARGE)
      row = await store(attempt, row, chunk)
      if (!chunk.isLast) await attempt.progress(row.rows, Math.max(row.total_rows, row.rows))
    }
  }
}

/** Reads pages after the position of an export until they fill a chunk. */
async function nextChunk(row: SessionExportRow, format: ExportFormat, read: ReadPage): Promise<Chunk> {
  let cursor: ExportCursor | undefined =
    row.last_id !== null && row.last_created_at !== null
      ? { id: row.last_id, created_at: row.last_created_at }
      : undefined
  let text = row.chunks === 0 ? format.head : ''
  let rows = 0
  let isLast = false
  while (!isLast && text.length < CHUNK_BYTES) {
    const page = await read(cursor)
    if (page.length > 0) text += format.page(page, row.rows + rows === 0)
    rows += page.length
    cursor = page.at(-1) ?? cursor
    isLast = page.length < EXPORT_PAGE
  }
  if (isLast) text += format.tail
  return { text, rows, bytes: Buffer.byteLength(text), cursor, isLast }
}
