import { sql } from 'kysely'
import type { Db } from '../../../core/database/tables.ts'
import { AppError } from '../../../core/errors/errors.ts'
import type { Transact } from '../../../core/events/transactor.ts'
import type { RoleAttributes, Users } from '../../identity/index.ts'
import { pause } from '../lifecycle/session-pause.ts'
import { latchStop } from '../lifecycle/session-stop.ts'
import type { SessionQueries } from '../record/session-queries.ts'
import { lockRobot } from '../record/session-transitions.ts'

/** How the control frames of some time fared. Ages in milliseconds; the buckets are those of `bucketOf`. */
export interface LatencyIncrement {
  readonly buckets: readonly number[]
  readonly maxMs: number
  /** Frames that reached the robot. */
  readonly frames: number
  /** Frames that did not. */
  readonly dropped: number
}

/** What the gateway has the database know of driving. Everything here throws while the database is away. */
export interface ControlPersistence {
  /**
   * Records a stop that somebody pressed at the gateway, as if they had asked the API for it: latched, logged, both
   * sides notified, audited when it was an admin. Answers a number of the session's log at which the stop is in force;
   * `over` when the session is not open any more, or the user has no part in it. A stop upon a stop latches no second one
   * and answers the present number. An owner or admin who requested it after the user is recorded as well, as theirs it
   * is to clear then.
   */
  recordStop(
    requester: { sessionId: string; userId: string; ownerId?: string | undefined },
    reason: string | undefined,
  ): Promise<number | 'over'>

  /**
   * The operator's control socket has been gone for all of the grace: ACTIVE → PAUSED `operator_lost`, both sides
   * are told. False when the session is not ACTIVE (any more).
   */
  operatorLost(sessionId: string): Promise<boolean>

  /**
   * Records that an operator's control socket joins: from now on the session needs one, and is not paused for the want
   * of a first one. Doing it again changes nothing. Returns the number of the newest entry of its log at that moment, by
   * which the gateway finds a pause that came first; undefined when the session is not open.
   */
  recordJoin(sessionId: string): Promise<number | undefined>

  /** Adds a stretch of driving to what is known of the session; any gateway may, at any time and in any order. */
  addLatency(sessionId: string, increment: LatencyIncrement): Promise<void>

  /** Of these API keys, those that do not work: revoked, expired or gone. */
  endedKeys(apiKeyIds: readonly string[]): Promise<string[]>

  /** Of these visits, those of people who have no part in the session (any more): neither its two sides nor admins. */
  revokedObservers<V extends SessionMembership>(memberships: readonly V[]): Promise<V[]>
}

/** Somebody who looks on at a session. */
export interface SessionMembership {
  readonly sessionId: string
  readonly userId: string
}

/** Longest reason of a stop that is kept, in UTF-16 units. */
const MAX_REASON = 500

/** A stop must not fail for what somebody wrote, so what the database would refuse is left out. */
const sanitizeReason = (reason: string) => reason.slice(0, MAX_REASON).replaceAll('\0', '').toWellFormed()

export function createControlPersistence(deps: {
  db: Db
  transact: Transact
  now: () => Date
  queries: SessionQueries
  users: Users
}): ControlPersistence {
  const { db, transact, now, queries, users } = deps

  /** The robot of a session that the user has a part in, which is who may stop it. */
  async function findStoppableRobot({ sessionId, userId }: { sessionId: string; userId: string }) {
    try {
      const roles = users.rolesOf(await users.byId(userId))
      return (await queries.parties({ userId, roles }, sessionId)).robot_id
    } catch (cause) {
      if (cause instanceof AppError && cause.status === 404) return undefined
      throw cause
    }
  }

  return {
    async recordStop(requester, reason) {
      const { sessionId } = requester
      const requesters: { userId: string; robotId: string }[] = []
      for (const userId of [requester.userId, requester.ownerId]) {
        const robotId = userId && (await findStoppableRobot({ sessionId, userId }))
        if (userId && robotId) requesters.push({ userId, robotId })
      }
      const [first] = requesters
      if (!first) return 'over'
      const seq = await transact(async (tx) => {
        const robot = await lockRobot(tx, first.robotId)
        const context = { at: now(), ...(reason !== undefined && { reason: sanitizeReason(reason) }) }
        let newest: number | undefined
        for (const { userId } of requesters) {
          newest = await latchStop(tx, sessionId, robot, { ...context, actorId: userId })
        }
        return newest
      })
      return seq ?? 'over'
    },

    async operatorLost(sessionId) {
      const session = await db
        .selectFrom('sessions')
        .select(['id', 'robot_id'])
        .where('id', '=', sessionId)
        .where('status', '=', 'ACTIVE')
        .executeTakeFirst()
      if (!session) return false
      return await transact(async (tx) => {
        const robot = await lockRobot(tx, session.robot_id)
        return await pause(tx, session, robot, { at: now(), reason: 'operator_lost' })
      })
    },

    async recordJoin(sessionId) {
      const open = ['ACTIVE', 'PAUSED'] as const
      const joined = await db
        .updateTable('sessions')
        .set({ driven: true })
        .where('id', '=', sessionId)
        .where('status', 'in', open)
        .where('driven', '=', false)
        .returning('event_seq')
        .executeTakeFirst()
      if (joined) return joined.event_seq
      const known = await db
        .selectFrom('sessions')
        .select('event_seq')
        .where('id', '=', sessionId)
        .where('status', 'in', open)
        .executeTakeFirst()
      return known?.event_seq
    },

    async addLatency(sessionId, { buckets, maxMs, frames, dropped }) {
      await sql`
        insert into session_latency (session_id, buckets, max_ms, frames, dropped)
        select id, ${buckets}::bigint[], ${maxMs}::float8, ${frames}::bigint, ${dropped}::bigint
        from sessions where id = ${sessionId}
        on conflict (session_id) do update set
          buckets = (
            select array_agg(b.before + b.more order by b.ordinal)
            from unnest(session_latency.buckets, excluded.buckets) with ordinality as b (before, more, ordinal)
          ),
          max_ms = greatest(session_latency.max_ms, excluded.max_ms),
          frames = session_latency.frames + excluded.frames,
          dropped = session_latency.dropped + excluded.dropped,
          updated_at = now()`.execute(db)
    },

    async endedKeys(apiKeyIds) {
      const { rows } = await sql<{ id: string }>`
        select asked.id from unnest(${apiKeyIds}::uuid[]) as asked (id)
        where not exists (
          select from api_keys k
          where k.id = asked.id and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
        )`.execute(db)
      return rows.map((row) => row.id)
    },

    async revokedObservers(memberships) {
      const sessionIds = memberships.map((membership) => membership.sessionId)
      const userIds = memberships.map((membership) => membership.userId)
      // Only admins are left: the two sides of a session stay the same as long as it lasts.
      const { rows } = await sql<RoleAttributes & { ordinal: number }>`
        select membership.ordinal::int, u.is_client, u.is_operator, u.email, coalesce(u.email_verified, false) as email_verified
        from unnest(${sessionIds}::uuid[], ${userIds}::uuid[]) with ordinality as membership (session_id, user_id, ordinal)
        left join users u on u.id = membership.user_id
        where not exists (
          select from sessions s
          where s.id = membership.session_id and membership.user_id in (s.operator_id, s.client_id)
        )`.execute(db)
      return rows
        .filter((row) => !users.rolesOf(row).includes('admin'))
        .flatMap(({ ordinal }) => memberships[ordinal - 1] ?? [])
    },
  }
}
