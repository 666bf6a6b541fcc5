import type { SessionLogEvent, SessionStatus } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import { columnsOf } from '../../core/database/columns.ts'
import { compiled } from '../../core/database/compiled.ts'
import { gathered } from '../../core/database/gathered.ts'
import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import type { Caller } from '../../core/http/endpoint.ts'
import { Message, Session, SessionEvent } from './session.entity.ts'
import type { ListSessions } from './session.schema.ts'
import {
  eventView,
  type ListedSession,
  type SessionDetailRow,
  type SessionRow,
  viewColumns,
} from './session.view.ts'

/** Logs read by one query: each may be a page long. */
const LOGS_AT_ONCE = 25
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A session that is over keeps the names that it ended with; the others have those of now. */
const withNames = (db: Db) =>
  db
    .selectFrom('sessions')
    .innerJoin('robots', 'robots.id', 'sessions.robot_id')
    .innerJoin('users as operators', 'operators.id', 'sessions.operator_id')
    .select(({ fn }) => [
      fn.coalesce('sessions.recorded_robot_name', 'robots.name').as('robot_name'),
      fn.coalesce('sessions.recorded_robot_type', 'robots.robot_type').as('robot_type'),
      fn.coalesce('sessions.recorded_operator_name', 'operators.display_name').as('operator_name'),
    ])

export type SessionParties = Pick<SessionRow, 'id' | 'operator_id' | 'client_id' | 'robot_id'>

type Side = 'operator_id' | 'client_id'

/** On which side a caller's sessions are theirs: operators' those they operated, clients' those on their robots. */
export function sidesOf(caller: Pick<Caller, 'roles'>): Side[] {
  return [
    ...(caller.roles.includes('operator') ? (['operator_id'] as const) : []),
    ...(caller.roles.includes('client') ? (['client_id'] as const) : []),
  ]
}

interface Page {
  readonly userId: string
  readonly status?: SessionStatus | undefined
  readonly limit: number
  readonly offset: number
}
type FilteredPage = ListSessions & { readonly userId: string }

/** Newest first, straight from the side's own index. */
const listOfSide = (side: Side, { byStatus }: { byStatus: boolean }) =>
  compiled<Page>()((db, place) =>
    withNames(db)
      .select(viewColumns)
      .where(`sessions.${side}`, '=', place('userId'))
      .$if(byStatus, (query) => query.where('sessions.status', '=', sql<SessionStatus>`${place('status')}`))
      .orderBy('sessions.created_at', 'desc')
      .orderBy('sessions.id', 'desc')
      .limit(place('limit'))
      .offset(place('offset')),
  )

const pageOf = {
  operator_id: {
    all: listOfSide('operator_id', { byStatus: false }),
    byStatus: listOfSide('operator_id', { byStatus: true }),
  },
  client_id: {
    all: listOfSide('client_id', { byStatus: false }),
    byStatus: listOfSide('client_id', { byStatus: true }),
  },
}

/**
 * A page of what is on one side or on both, and passes the filter. The newest of both sides are among the newest of
 * each; `union` leaves one of what is on both.
 */
async function listOf(db: Db, sides: readonly Side[], page: FilteredPage): Promise<ListedSession[]> {
  const { userId, status, robotId, from, to, limit, offset } = page
  const newest = (side: Side) =>
    db
      .selectFrom('sessions')
      .select(['id', 'created_at'])
      .where(side, '=', userId)
      .$if(status !== undefined, (query) => query.where('status', '=', status as SessionStatus))
      .$if(robotId !== undefined, (query) => query.where('robot_id', '=', robotId as string))
      .$if(from !== undefined, (query) => query.where('created_at', '>=', new Date(from as string)))
      .$if(to !== undefined, (query) => query.where('created_at', '<', new Date(to as string)))
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(offset + limit)
      .as(side)
  const [first, second] = sides.map(newest)
  const found = db
    .selectFrom(first as ReturnType<typeof newest>)
    .selectAll()
    .$if(second !== undefined, (query) =>
      query.union(db.selectFrom(second as ReturnType<typeof newest>).selectAll()),
    )
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
  return await withNames(db)
    .select(viewColumns)
    .innerJoin(found.as('page'), 'page.id', 'sessions.id')
    .orderBy('sessions.created_at', 'desc')
    .orderBy('sessions.id', 'desc')
    .execute()
}

interface Ids {
  readonly ids: readonly string[]
}

const partiesOf = compiled<Ids>()((db, place) =>
  db
    .selectFrom('sessions')
    .select(['id', 'operator_id', 'client_id', 'robot_id'])
    .where('id', '=', sql<string>`any(${place('ids')}::uuid[])`),
)

const detailsOf = compiled<Ids>()((db, place) =>
  withNames(db)
    .select(columnsOf(Session).map((column) => `sessions.${column}` as const))
    .innerJoin('robot_presence', 'robot_presence.robot_id', 'sessions.robot_id')
    .select(['robot_presence.connected as robot_connected', 'robots.stream_url', 'robots.stop_clear'])
    .leftJoin('session_latency', 'session_latency.session_id', 'sessions.id')
    .select(['session_latency.buckets as latency_buckets', 'session_latency.max_ms as latency_max_ms'])
    .select(['session_latency.frames as latency_frames', 'session_latency.dropped as latency_dropped'])
    .where('sessions.id', '=', sql<string>`any(${place('ids')}::uuid[])`),
)

/** Entries of a session's log that follow number `after`, at most so many. */
interface Stretch {
  readonly sessionId: string
  readonly after: number
  readonly limit: number
}

interface Stretches {
  readonly sessionIds: readonly string[]
  readonly afters: readonly number[]
  readonly limits: readonly number[]
}

/** Several stretches as a table; each knows its place among them. */
const stretches = (place: <N extends keyof Stretches>(name: N) => RawBuilder<Stretches[N]>) =>
  sql<{ session_id: string; after: number; most: number; place: number }>`unnest(
    ${place('sessionIds')}::uuid[], ${place('afters')}::bigint[], ${place('limits')}::bigint[]
  ) with ordinality`.as<'stretch'>(sql`stretch (session_id, after, most, place)`)

/** Numbers have no gaps: the last one of a stretch follows from its first. */
const inStretch = sql<boolean>`found.seq > stretch.after and found.seq <= stretch.after + stretch.most`

const entriesOf = compiled<Stretches>()((db, place) =>
  db
    .selectFrom(stretches(place))
    .innerJoin('session_events as found', 'found.session_id', 'stretch.session_id')
    .where(inStretch)
    .select('stretch.place')
    .select(columnsOf(SessionEvent).map((column) => `found.${column}` as const))
    .orderBy('found.session_id')
    .orderBy('found.seq'),
)

const messagesOf = compiled<Stretches>()((db, place) =>
  db
    .selectFrom(stretches(place))
    .innerJoin('messages as found', 'found.session_id', 'stretch.session_id')
    .where(inStretch)
    .select('stretch.place')
    .select(columnsOf(Message).map((column) => `found.${column}` as const)),
)

/** Whether somebody may see a session: who drives, who owns, and admins. */
const isVisibleTo = (
  { userId, roles }: Pick<Caller, 'userId' | 'roles'>,
  session: { operator_id: string; client_id: string },
) => session.operator_id === userId || session.client_id === userId || roles.includes('admin')

/** Reading sessions: who may see one, lists, the log. What many ask for in the same moment is one query. */
export function createSessionQueries({ db }: { db: Db }) {
  const byId =
    <Row extends { id: string }>(find: (db: Db, values: Ids) => Promise<Row[]>) =>
    async (ids: readonly string[]) => {
      const found = new Map((await find(db, { ids })).map((row) => [row.id, row]))
      return ids.map((id) => found.get(id))
    }
  const findParties = gathered(byId(partiesOf))
  const findDetail = gathered(byId<SessionDetailRow>(detailsOf))
  const findEvents = gathered(async (asked: readonly Stretch[]) => await eventsOf(db, asked), LOGS_AT_ONCE)

  return {
    /** Newest first. Operators see sessions they operated, clients those on their robots; who is both sees both. */
    async list(caller: Caller, query: ListSessions): Promise<ListedSession[]> {
      const sides = sidesOf(caller)
      const [side, other] = sides
      if (!side) return []
      const { status, robotId, from, to } = query
      const page = { ...query, userId: caller.userId }
      if (other || robotId || from || to) return await listOf(db, sides, page)
      return await pageOf[side][status === undefined ? 'all' : 'byStatus'](db, page)
    },

    /**
     * The two people of a session and its robot: what most that happens in it needs to know.
     * @throws 404 when it does not exist or the caller has no part in it.
     */
    async parties(caller: Pick<Caller, 'userId' | 'roles'>, id: string): Promise<SessionParties> {
      const session = await findParties(id)
      if (!session || !isVisibleTo(caller, session)) throw notFound('Session')
      return session
    },

    /** Whether the caller may see the session: its operator, its owner, and admins; never for one that does not exist. */
    async takesPart(caller: Pick<Caller, 'userId' | 'roles'>, id: string): Promise<boolean> {
      const session = UUID.test(id) ? await findParties(id.toLowerCase()) : undefined
      return session !== undefined && isVisibleTo(caller, session)
    },

    /** @throws 404 when it does not exist or the caller has no part in it. */
    async get(caller: Pick<Caller, 'userId' | 'roles'>, id: string): Promise<SessionDetailRow> {
      const row = await findDetail(id)
      if (!row || !isVisibleTo(caller, row)) throw notFound('Session')
      return row
    },

    /** Log entries after `after`, oldest first; chat entries carry their message. */
    events: (sessionId: string, after: number, limit: number): Promise<SessionLogEvent[]> =>
      findEvents({ sessionId, after, limit }),
  }
}
export type SessionQueries = ReturnType<typeof createSessionQueries>

/** The entries of each stretch, in the order of the stretches. */
async function eventsOf(db: Db, asked: readonly Stretch[]): Promise<SessionLogEvent[][]> {
  const stretches = {
    sessionIds: asked.map(({ sessionId }) => sessionId),
    afters: asked.map(({ after }) => after),
    limits: asked.map(({ limit }) => limit),
  }
  const entries = await entriesOf(db, stretches)
  const answers = asked.map((): SessionLogEvent[] => [])
  if (entries.length === 0) return answers
  const messages = await messagesOf(db, stretches)
  const messageOf = new Map(messages.map((message) => [`${message.session_id} ${message.seq}`, message]))
  for (const { place, ...entry } of entries) {
    answers[place - 1]?.push(eventView(entry, messageOf.get(`${entry.session_id} ${entry.seq}`)))
  }
  return answers
}
