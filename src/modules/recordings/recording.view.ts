import type { GapReason } from '@wheelhouse/protocol'
import type { Selectable } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db, Tables } from '../../core/database/tables.ts'
import type { GapView, RecordingView } from './recording.schema.ts'

export type RecordingRow = Omit<Selectable<Tables['recordings']>, 'control_schema' | 'telemetry_schema'> & {
  robot_name: string
}

/** Shorter gaps do not count: sources send several records in this time. */
const SHORTEST_GAP_MS = 50
const DAMAGED: GapReason = 'segment_damaged'

/** Returns the gaps of recordings, those of all sources in the order of their times. A gap that lasts ends with the recording, or now. */
export async function gapsOf(
  db: Db,
  recordings: readonly { readonly id: string; readonly ended_at: Date | null }[],
  now = new Date(),
): Promise<ReadonlyMap<string, readonly GapView[]>> {
  const ends = new Map(recordings.map(({ id, ended_at }) => [id, ended_at ?? now]))
  if (ends.size === 0) return new Map()
  const rows = await db
    .selectFrom('recording_gaps')
    .select(['recording_id', 'from_at', 'to_at', 'reason'])
    .where('recording_id', 'in', [...ends.keys()])
    .orderBy('from_at')
    .orderBy('id')
    .execute()
  const gaps = Map.groupBy(rows, ({ recording_id }) => recording_id)
  return new Map(
    [...gaps].map(([id, found]) => [
      id,
      found.flatMap(({ from_at, to_at, reason }) => {
        const to = to_at ?? ends.get(id) ?? from_at
        const isShort = to.getTime() - from_at.getTime() < SHORTEST_GAP_MS
        if (isShort && reason !== DAMAGED) return [] // records of a damaged segment are missing in any case
        return [{ from: iso(from_at), to: iso(to), reason: reason as GapReason }]
      }),
    ]),
  )
}

export function recordingView(row: RecordingRow, gaps: readonly GapView[]): RecordingView {
  return {
    id: row.id,
    session_id: row.session_id,
    robot_id: row.robot_id,
    robot_name: row.robot_name,
    mode: row.mode,
    status: row.status,
    paused_reason: row.paused_reason,
    started_at: iso(row.started_at),
    ended_at: iso(row.ended_at),
    expires_at: iso(row.expires_at),
    size_bytes: row.size_bytes,
    segments: row.segments,
    gaps: [...gaps],
    channels: [...row.channels],
    file_url: row.file_key === null ? null : `/api/recordings/${row.id}/file`,
  }
}
