import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { logMessage } from './mcap/log-message.ts'
import type { RecordedMessage } from './mcap/mcap-writer.ts'
import { gapsOf, MAX_GAPS } from './recording.view.ts'

/** Entries of a log that are read at a time. */
const PAGE = 2_000

/** Reads the whole log of a session as messages: its events, and its chat. In the order of their times. */
export async function readSessionLog(db: Db, sessionId: string): Promise<RecordedMessage[]> {
  const messages: RecordedMessage[] = []
  for (let after = 0; ; ) {
    const page = await readPage(db, sessionId, after)
    for (const { id, sender_id, sender_name, sender_role, body, ...entry } of page) {
      const { seq, type, at } = entry
      const data = id === null ? entry.data : { id, sender_id, sender_name, sender_role, body }
      messages.push(logMessage({ session_id: sessionId, seq, type, data, at: iso(at) }))
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE) return messages.sort((a, b) => Number(a.logTimeNs - b.logTimeNs))
    after = last.seq
  }
}

const readPage = (db: Db, sessionId: string, after: number) =>
  db
    .selectFrom('session_events as entry')
    .leftJoin('messages as message', (join) =>
      join.onRef('message.session_id', '=', 'entry.session_id').onRef('message.seq', '=', 'entry.seq'),
    )
    .select(['entry.seq', 'entry.type', 'entry.data', 'entry.at'])
    .select(['message.id', 'message.sender_id', 'message.sender_name', 'message.sender_role', 'message.body'])
    .where('entry.session_id', '=', sessionId)
    .where('entry.seq', '>', after)
    .orderBy('entry.seq')
    .limit(PAGE)
    .execute()

/** The metadata of a file about its session. */
export interface SessionDetails {
  readonly session: Readonly<Record<string, string>>
  readonly gaps: readonly { readonly from: string; readonly to: string; readonly reason: string }[]
}

/** Reads what the metadata of a file says. */
export async function sessionDetails(
  db: Db,
  recording: { id: string; session_id: string; ended_at: Date | null },
): Promise<SessionDetails> {
  const row = await db
    .selectFrom('sessions')
    .innerJoin('robots', 'robots.id', 'sessions.robot_id')
    .innerJoin('users as operator', 'operator.id', 'sessions.operator_id')
    .select(['sessions.id', 'sessions.robot_id', 'sessions.started_at', 'sessions.ended_at'])
    .select('operator.service_of_id')
    .select([
      sql<string>`coalesce(sessions.recorded_robot_name, robots.name)`.as('robot_name'),
      sql<string>`coalesce(sessions.recorded_robot_type, robots.robot_type)`.as('robot_type'),
      sql<string>`coalesce(sessions.recorded_operator_name, operator.display_name)`.as('operator_name'),
    ])
    .where('sessions.id', '=', recording.session_id)
    .executeTakeFirstOrThrow()
  const gaps = await gapsOf(db, [recording.id], MAX_GAPS.file)
  return {
    session: {
      recording_id: recording.id,
      session_id: row.id,
      robot_id: row.robot_id,
      robot_name: row.robot_name,
      robot_type: row.robot_type,
      operator_name: row.operator_name,
      // Who holds control until it changes hands. Without the field, it is a person.
      ...(row.service_of_id !== null && { operator_kind: 'policy' }),
      started_at: iso(row.started_at) ?? '',
      ended_at: iso(row.ended_at) ?? '',
    },
    gaps: gaps.get(recording.id) ?? [],
  }
}
