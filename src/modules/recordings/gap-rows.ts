import type { GapReason } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'
import type { Tx } from '../../core/events/transactor.ts'
import { isContinued, type OpenStreamRequest } from './stream-request.ts'

/** A period that a source lacks. */
export interface Gap {
  readonly source: string
  readonly fromMs: number
  readonly toMs: number
  readonly reason: GapReason
}

/** Stores a gap, unless the recording was deleted. */
export async function addGap(db: Db, recordingId: string, gap: Gap): Promise<void> {
  const { source, fromMs, toMs, reason } = gap
  const from_at = new Date(Math.floor(fromMs))
  await db
    .insertInto('recording_gaps')
    .columns(['recording_id', 'source', 'from_at', 'to_at', 'reason'])
    .expression(
      (eb) =>
        eb
          .selectFrom('recordings')
          .select((column) => [
            'recordings.id',
            column.val(source).as('source'),
            sql<Date>`${from_at}::timestamptz`.as('from_at'),
            sql<Date>`${new Date(Math.max(Math.ceil(toMs), from_at.getTime()))}::timestamptz`.as('to_at'),
            column.val<string>(reason).as('reason'),
          ])
          .where('recordings.id', '=', recordingId)
          .forKeyShare(), // waits for a deletion, after which nothing is left to store
    )
    .execute()
}

/**
 * Ends the gaps that began with the end of an earlier stream. A source that continues its stream sends the missing records again, so its
 * gaps are deleted. A new source of the same data ends the gaps now.
 */
export async function endOpenGaps(tx: Tx, recordingId: string, request: OpenStreamRequest): Promise<void> {
  const { originId, source, atMs } = request
  if (isContinued(request))
    await tx.db
      .deleteFrom('recording_gaps')
      .where('recording_id', '=', recordingId)
      .where('origin_id', '=', originId)
      .execute()
  else
    await tx.db
      .updateTable('recording_gaps')
      .set({ to_at: sql`greatest(from_at, ${new Date(atMs)}::timestamptz)` })
      .where('recording_id', '=', recordingId)
      .where('source', '=', source)
      .where('to_at', 'is', null)
      .execute()
}
