import type { Tx } from '../../core/events/transactor.ts'
import { segmentKey } from './object-keys.ts'

/** A segment that is durable in the storage. */
export interface NewSegment {
  readonly streamId: string
  readonly recordingId: string
  readonly number: number
  readonly fromMs: number
  readonly lastMs: number
  readonly messages: number
  readonly sizeBytes: number
  readonly sha256: string
}

/** Inserts a segment, if its stream is open and the segment is new. Returns whether it was inserted. */
export async function insertSegment(tx: Tx, segment: NewSegment): Promise<boolean> {
  const { streamId, recordingId, number, fromMs, lastMs, messages, sizeBytes, sha256 } = segment
  // The lock orders it with the end of the recording, and with the next stream of its source, which reads what is stored.
  const recording = await tx.db
    .selectFrom('recordings')
    .select('id')
    .where('id', '=', recordingId)
    .where('status', '=', 'RECORDING')
    .forUpdate()
    .executeTakeFirst()
  if (!recording) return false
  // Not in the same statement, which would not see that the next stream has closed this one while it waited for the lock.
  const stream = await tx.db
    .selectFrom('recording_streams')
    .select('id')
    .where('id', '=', streamId)
    .where('recording_id', '=', recordingId)
    .where('closed_at', 'is', null)
    .executeTakeFirst()
  if (!stream) return false
  const { numInsertedOrUpdatedRows } = await tx.db
    .insertInto('recording_segments')
    .values({
      stream_id: streamId,
      number,
      recording_id: recordingId,
      from_at: new Date(Math.floor(fromMs)),
      to_at: new Date(Math.ceil(lastMs)),
      last_ms: lastMs,
      messages,
      size_bytes: sizeBytes,
      sha256,
      object_key: segmentKey(recordingId, streamId, number),
    })
    .onConflict((conflict) => conflict.columns(['stream_id', 'number']).doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Returns whether a segment was recorded before: the response to an earlier attempt may have been lost. */
export async function hasSegment(tx: Tx, { streamId, number, sha256 }: NewSegment): Promise<boolean> {
  const row = await tx.db
    .selectFrom('recording_segments')
    .select('number')
    .where('stream_id', '=', streamId)
    .where('number', '=', number)
    .where('sha256', '=', sha256)
    .executeTakeFirst()
  return row !== undefined
}

/** Returns until when the records of a source are stored, by the streams that continue each other; 0 for none. */
export async function durableUpTo(
  tx: Pick<Tx, 'db'>,
  recordingId: string,
  originId: string,
): Promise<number> {
  const row = await tx.db
    .selectFrom('recording_segments as segment')
    .innerJoin('recording_streams as stream', 'stream.id', 'segment.stream_id')
    .select(({ fn }) => fn.max('segment.last_ms').as('last_ms'))
    .where('segment.recording_id', '=', recordingId)
    .where('stream.origin_id', '=', originId)
    .executeTakeFirst()
  return (row?.last_ms as number | null | undefined) ?? 0
}
