import type { GapReason } from '@wheelhouse/protocol'
import { type Selectable, sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db, Tables } from '../../core/database/tables.ts'
import type { GapView, RecordingView } from './recording.schema.ts'

export type RecordingRow = Omit<Selectable<Tables['recordings']>, 'control_schema' | 'telemetry_schema'> & {
  robot_name: string
}

/** Shorter gaps do not count: sources send several records in this time. */
const SHORTEST_GAP_MS = 50
const DAMAGED: GapReason = 'segment_damaged'

/** The newest gaps of each recording that a list, a view and the finished file contain. */
export const MAX_GAPS = { list: 100, view: 1_000, file: 10_000 } as const

/**
 * Returns the newest gaps of recordings, those of all sources in the order of their times. A gap that lasts ends with the recording,
 * or now.
 * @param limit most gaps of each recording
 */
export async function gapsOf(
  db: Db,
  ids: readonly string[],
  limit: number,
  now = new Date(),
): Promise<ReadonlyMap<string, readonly GapView[]>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{ recording_id: string; from_at: Date; to_at: Date; reason: GapReason }>`
    select recordings.id as recording_id, gap.from_at, gap.to_at, gap.reason
    from recordings cross join lateral (
      select id, from_at, ended.at as to_at, reason
      from recording_gaps
      cross join lateral (select coalesce(to_at, recordings.ended_at, ${now}::timestamptz) as at) ended
      where recording_id = recordings.id
        -- records of a damaged segment are missing in any case
        and (reason = ${DAMAGED} or ended.at - from_at >= ${SHORTEST_GAP_MS} * interval '1 millisecond')
      order by from_at desc, id desc limit ${limit}
    ) gap
    where recordings.id = any(${[...ids]}::uuid[])
    order by gap.from_at, gap.id`.execute(db)
  const gaps = Map.groupBy(rows, ({ recording_id }) => recording_id)
  return new Map(
    [...gaps].map(([id, found]) => [
      id,
      found.map(({ from_at, to_at, reason }) => ({ from: iso(from_at), to: iso(to_at), reason })),
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
