import type { SessionLogEvent } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'
import { createBatchLoader } from '../../../core/database/batch-loader.ts'
import { columnsOf } from '../../../core/database/columns.ts'
import { compiled } from '../../../core/database/compiled.ts'
import type { Db } from '../../../core/database/tables.ts'
import { forbidden, notFound } from '../../../core/errors/errors.ts'
import { memberCan, memberMay } from '../../../core/permissions/authorization.ts'
import {
  controlParts,
  isGuestOf,
  isOperatorOf,
  partsIn,
  type SessionPart,
  type SessionViewer,
} from '../../../core/permissions/session-part.ts'
import { Session, SessionEvent } from './session.entity.ts'
import { eventView, guestTerms, type SessionDetailRow, type SessionRow } from './session.view.ts'
import { selectWithNames } from './session-list.service.ts'

/** Maximum number of logs that one query reads, and the number of entries after which it reads no further log. */
const MAX_LOGS_PER_QUERY = 500
const MAX_ENTRIES_PER_QUERY = 5_000
/** Maximum number of sessions that one query reads. */
const MAX_SESSIONS_PER_QUERY = 500
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export type SessionParties = SessionPart & Pick<SessionRow, 'id' | 'robot_id' | 'event_seq'>

interface Ids {
  readonly ids: readonly string[]
}

const partiesOf = compiled<Ids>()((db, _param, oneOf) =>
  db
    .selectFrom('sessions')
    .innerJoin('robots', 'robots.id', 'sessions.robot_id')
    .select(['sessions.id', 'sessions.operator_id', 'sessions.client_id', 'sessions.own_operator'])
    .select(['sessions.robot_id', 'sessions.event_seq', 'robots.group_id', ...controlParts])
    .where('sessions.id', '=', oneOf('ids', 'uuid')),
)

const detailsOf = compiled<Ids>()((db, _param, oneOf) =>
  selectWithNames(db)
    .select(columnsOf(Session).map((column) => `sessions.${column}` as const))
    .innerJoin('robot_presence', 'robot_presence.robot_id', 'sessions.robot_id')
    .select(['robot_presence.connected as robot_connected', 'robots.stream_url', 'robots.stop_clear'])
    .select(['robots.group_id', ...controlParts, guestTerms.as('guest_terms')])
    .leftJoin('robot_models', 'robot_models.robot_type', 'robots.robot_type')
    .select(({ fn }) => [
      fn.coalesce('robots.control_schema', 'robot_models.control_schema').as('control_schema'),
      fn.coalesce('robots.telemetry_schema', 'robot_models.telemetry_schema').as('telemetry_schema'),
    ])
    .leftJoin('session_latency', 'session_latency.session_id', 'sessions.id')
    .select(['session_latency.buckets as latency_buckets', 'session_latency.max_ms as latency_max_ms'])
    .select(['session_latency.frames as latency_frames', 'session_latency.dropped as latency_dropped'])
    .select(['session_latency.budgeted_ms', 'session_latency.scaled_ms', 'session_latency.limited_ms'])
    .select('session_latency.picture_limited_ms')
    .select(['session_latency.min_speed_scale', 'session_latency.video_buckets'])
    .select(['session_latency.video_max_ms', 'session_latency.video_dropped'])
    .where('sessions.id', '=', oneOf('ids', 'uuid')),
)

/** Up to `limit` entries of a session's log with numbers above `after`. */
interface LogRange {
  readonly sessionId: string
  readonly after: number
  readonly limit: number
  /** The number of entries that it probably has. */
  readonly expected: number
}

interface LogRanges {
  readonly sessionIds: readonly string[]
  readonly afters: readonly number[]
  readonly limits: readonly number[]
}

/** Builds a table of log ranges with their position in the request. */
const logRanges = (param: <N extends keyof LogRanges>(name: N) => RawBuilder<LogRanges[N]>) =>
  sql<{ session_id: string; after: number; max_entries: number; ordinal: number }>`unnest(
    ${param('sessionIds')}::uuid[], ${param('afters')}::bigint[], ${param('limits')}::bigint[]
  ) with ordinality`.as<'log_range'>(sql`log_range (session_id, after, max_entries, ordinal)`)

/** Matches the entries of a range. The numbers of a log have no gaps, so a range needs no `limit`. */
const isInRange = sql<boolean>`entry.seq > log_range.after and entry.seq <= log_range.after + log_range.max_entries`

/** Selects the entries of log ranges, chat entries with their message. */
const entriesOf = compiled<LogRanges>()((db, param) =>
  db
    .selectFrom(logRanges(param))
    .innerJoin('session_events as entry', 'entry.session_id', 'log_range.session_id')
    .leftJoin('messages as message', (join) =>
      join.onRef('message.session_id', '=', 'entry.session_id').onRef('message.seq', '=', 'entry.seq'),
    )
    .where(isInRange)
    .select('log_range.ordinal')
    .select(columnsOf(SessionEvent).map((column) => `entry.${column}` as const))
    .select(['message.id as message_id', 'message.sender_id', 'message.sender_name', 'message.sender_role'])
    .select(['message.body', 'message.created_at'])
    .orderBy('entry.session_id')
    .orderBy('entry.seq'),
)

/**
 * Returns whether a session exists for a user: its operator, its owner or a member of its team, or an admin. Routes and commands check
 * the scopes of a key: one that may not read stops a robot nevertheless.
 */
const isVisibleTo = (viewer: SessionViewer, session: SessionPart) =>
  isOperatorOf(viewer, session) ||
  isGuestOf(viewer, session) ||
  viewer.roles.includes('admin') ||
  memberCan(viewer.organization, 'sessions.read', {
    organizationId: session.client_id,
    groupId: session.group_id,
  })

/** Selects the robot of a session that a user may stop, as its operator or as a member of its organization. */
const stoppableRobot = compiled<{ sessionId: string; userId: string }>()((db, param) =>
  db
    .selectFrom('sessions')
    .innerJoin('robots', 'robots.id', 'sessions.robot_id')
    .select('sessions.robot_id')
    .where('sessions.id', '=', param('sessionId'))
    .where((eb) =>
      eb.or([
        eb('sessions.operator_id', '=', param('userId')),
        sql<boolean>`exists (select from control_participants as guest
          where guest.session_id = sessions.id and guest.user_id = ${param('userId')}::uuid and not guest.as_member)`,
        memberMay('sessions.stop', {
          user: sql`${param('userId')}::uuid`,
          organization: sql.ref('sessions.client_id'),
          group: sql.ref('robots.group_id'),
        }),
      ]),
    ),
)

/** Reads sessions and their logs, and checks visibility. Concurrent reads of one kind share a query. */
export function createSessionQueries({ db }: { db: Db }) {
  const loadById =
    <Row extends { id: string }>(find: (db: Db, values: Ids) => Promise<Row[]>) =>
    async (ids: readonly string[]) => {
      const rowById = new Map((await find(db, { ids })).map((row) => [row.id, row]))
      return ids.map((id) => rowById.get(id))
    }
  const batches = { maxBatchSize: MAX_SESSIONS_PER_QUERY }
  const findParties = createBatchLoader(loadById(partiesOf), batches)
  const findDetail = createBatchLoader(loadById<SessionDetailRow>(detailsOf), batches)
  const findEvents = createBatchLoader(
    async (ranges: readonly LogRange[]) => {
      const pages = await Promise.all(splitBySize(ranges).map((part) => eventsOf(db, part)))
      return pages.flat()
    },
    { maxBatchSize: MAX_LOGS_PER_QUERY },
  )

  /** @throws 404 when the session does not exist or the caller may not see it. */
  async function get(caller: SessionViewer, id: string): Promise<SessionDetailRow> {
    const row = await findDetail(id)
    if (!row || !isVisibleTo(caller, row)) throw notFound('Session')
    return row
  }

  return {
    /**
     * Returns the operator, the client and the robot of a session.
     * @throws 404 when the session does not exist or the caller may not see it.
     */
    async parties(caller: SessionViewer, id: string): Promise<SessionParties> {
      const session = await findParties(id)
      if (!session || !isVisibleTo(caller, session)) throw notFound('Session')
      return session
    },

    /** Returns whether the session exists and the caller may see it. Accepts malformed ids. */
    async isParticipant(caller: SessionViewer, id: string): Promise<boolean> {
      const session = UUID.test(id) ? await findParties(id.toLowerCase()) : undefined
      return session !== undefined && isVisibleTo(caller, session)
    },

    /**
     * Returns the robot of a session if the user may stop it, in whatever organization; undefined otherwise.
     * @param isAdmin whether the user is an admin, who may stop every robot
     */
    async stoppableRobot(userId: string, isAdmin: boolean, sessionId: string): Promise<string | undefined> {
      if (isAdmin) return (await findParties(sessionId))?.robot_id
      return (await stoppableRobot(db, { sessionId, userId }))[0]?.robot_id
    },

    /**
     * Returns a session for a caller who may watch it: its pictures and telemetry.
     * @throws 404 when the caller may not see the session, 403 when the role in the organization does not include watching
     */
    async watched(caller: SessionViewer, id: string): Promise<SessionDetailRow> {
      const row = await get(caller, id)
      if (partsIn(caller, row, 'sessions.watch').length === 0)
        throw forbidden(
          'permission_required',
          'Your role in the organization does not include watching sessions.',
        )
      return row
    },

    get,

    /**
     * Returns a session for a caller who wants to stop its robot. A person may stop it whatever organization the request acts for: a stop
     * must not fail for a header.
     * @throws 404 when the caller may neither see nor stop it
     */
    async stoppable(caller: SessionViewer, id: string): Promise<SessionDetailRow> {
      const row = await findDetail(id)
      if (row && isVisibleTo(caller, row)) return row
      const isPerson = caller.credential.kind === 'session'
      const robots = row && isPerson ? await stoppableRobot(db, { sessionId: id, userId: caller.userId }) : []
      if (!row || robots.length === 0) throw notFound('Session')
      return row
    },

    /**
     * Returns log entries with numbers above `after`, oldest first. Chat entries contain their message. With the `head` of
     * the log, as a caller has just read it, more short ranges share a query.
     */
    events: (
      sessionId: string,
      after: number,
      limit: number,
      head = Number.POSITIVE_INFINITY,
    ): Promise<SessionLogEvent[]> =>
      findEvents({ sessionId, after, limit, expected: Math.max(0, Math.min(limit, head - after)) }),
  }
}
export type SessionQueries = ReturnType<typeof createSessionQueries>

/** Splits ranges into queries with a limited number of entries each. A query has at least one range. */
function splitBySize(ranges: readonly LogRange[]): LogRange[][] {
  const parts: LogRange[][] = []
  let left = 0
  for (const range of ranges) {
    if (range.expected > left || parts.length === 0) {
      parts.push([])
      left = MAX_ENTRIES_PER_QUERY
    }
    parts.at(-1)?.push(range)
    left -= range.expected
  }
  return parts
}

/** Returns the entries of each range, in the order of the ranges. */
async function eventsOf(db: Db, ranges: readonly LogRange[]): Promise<SessionLogEvent[][]> {
  const entries = await entriesOf(db, {
    sessionIds: ranges.map(({ sessionId }) => sessionId),
    afters: ranges.map(({ after }) => after),
    limits: ranges.map(({ limit }) => limit),
  })
  const results = ranges.map((): SessionLogEvent[] => [])
  for (const entry of entries) results[entry.ordinal - 1]?.push(eventView(entry))
  return results
}
