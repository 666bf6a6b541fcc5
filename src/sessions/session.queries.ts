import type { SessionLogEvent, SessionStatus } from '@wheelhouse/protocol'
import type { Db } from '../db/orm.ts'
import type { Caller } from '../http/endpoint.ts'
import { notFound } from '../http/errors.ts'
import type { ListSessions } from './session.schema.ts'
import { eventView, type SessionDetailRow, type SessionRow } from './session.view.ts'

const sessionsWithNames = (db: Db) =>
  db
    .selectFrom('sessions')
    .innerJoin('robots', 'robots.id', 'sessions.robot_id')
    .innerJoin('users as operators', 'operators.id', 'sessions.operator_id')
    .selectAll('sessions')
    .select(['robots.name as robot_name', 'robots.robot_type', 'operators.display_name as operator_name'])

/** On which side a caller's sessions are theirs: operators' those they operated, clients' those on their robots. */
export function sidesOf(caller: Pick<Caller, 'roles'>): ('operator_id' | 'client_id')[] {
  return [
    ...(caller.roles.includes('operator') ? (['operator_id'] as const) : []),
    ...(caller.roles.includes('client') ? (['client_id'] as const) : []),
  ]
}

/** Reading sessions: who may see one, lists, the log. */
export function createSessionQueries({ db }: { db: Db }) {
  return {
    /**
     * Newest first. Operators see sessions they operated, clients those on their robots; who is both sees
     * both. One role reads straight from that side's own index.
     */
    async list(caller: Caller, filter: ListSessions): Promise<SessionRow[]> {
      const sides = sidesOf(caller)
      if (sides.length === 0) return []
      const { status } = filter
      return await sessionsWithNames(db)
        .where((eb) => eb.or(sides.map((side) => eb(`sessions.${side}`, '=', caller.userId))))
        .$if(status !== undefined, (query) => query.where('sessions.status', '=', status as SessionStatus))
        .orderBy('sessions.created_at', 'desc')
        .orderBy('sessions.id', 'desc')
        .limit(filter.limit)
        .offset(filter.offset)
        .execute()
    },

    /** @throws 404 when it does not exist or the caller has no part in it. */
    async get(caller: Pick<Caller, 'userId' | 'roles'>, id: string): Promise<SessionDetailRow> {
      const row = await sessionsWithNames(db)
        .innerJoin('robot_presence', 'robot_presence.robot_id', 'sessions.robot_id')
        .select('robot_presence.connected as robot_connected')
        .where('sessions.id', '=', id)
        .executeTakeFirst()
      const visible =
        row &&
        (row.operator_id === caller.userId ||
          row.client_id === caller.userId ||
          caller.roles.includes('admin'))
      if (!visible) throw notFound('Session')
      return row
    },

    /** Log entries after `after`, oldest first; chat entries carry their message. */
    async events(sessionId: string, after: number, limit: number): Promise<SessionLogEvent[]> {
      const rows = await db
        .selectFrom('session_events')
        .selectAll()
        .where('session_id', '=', sessionId)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(limit)
        .execute()
      const last = rows.at(-1)
      if (!last) return []
      const messages = await db
        .selectFrom('messages')
        .selectAll()
        .where('session_id', '=', sessionId)
        .where('seq', '>', after)
        .where('seq', '<=', last.seq)
        .execute()
      const bySeq = new Map(messages.map((message) => [message.seq, message]))
      return rows.map((row) => eventView(row, bySeq.get(row.seq)))
    },
  }
}
export type SessionQueries = ReturnType<typeof createSessionQueries>
