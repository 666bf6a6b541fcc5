import { FIRST_EPOCH } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { Db } from '../../../core/database/tables.ts'
import { AppError } from '../../../core/errors/errors.ts'
import type { Transact } from '../../../core/events/transactor.ts'
import { hasEnded, memberMay } from '../../../core/permissions/authorization.ts'
import type { RoleAttributes, Users } from '../../identity/index.ts'
import type { ControlLeases } from '../lease/control-lease.service.ts'
import { latchStop } from '../lifecycle/session-stop.ts'
import { pause } from '../record/session-pause.ts'
import type { SessionQueries } from '../record/session-queries.ts'
import { broadcastTransition, lockRobot } from '../record/session-transitions.ts'
import type { TicketPart } from '../tickets/ticket.ts'

/** Latency measurements of control frames over some period. The buckets are those of `bucketOf`. */
export interface LatencyIncrement {
  readonly buckets: readonly number[]
  readonly maxMs: number
  /** Number of frames that reached the robot. */
  readonly frames: number
  /** Number of frames that the gateway dropped. */
  readonly dropped: number
  readonly speed: SpeedIncrement
  readonly video: VideoIncrement
}

/** How old the picture was by which commands were given over some period. */
export interface VideoIncrement {
  /** Commands that reached the robot, by the age of the picture; null if the operator reported none. */
  readonly buckets: readonly number[] | null
  readonly maxMs: number
  /** Number of commands that the gateway dropped because the picture was too old. */
  readonly dropped: number
}

/** How far the latency has limited the speed over some period. All zero, and a scale of 1, without a latency budget. */
export interface SpeedIncrement {
  /** Time in which the robot could be driven under a latency budget and the latency was known, in milliseconds. */
  readonly budgetedMs: number
  /** The integral of the speed scale over that time. */
  readonly scaledMs: number
  /** Time in which the robot could be driven and the scale was below 1, also because the latency was unknown. */
  readonly limitedMs: number
  /** The part of `limitedMs` in which the age of the operator's picture was the larger cause. */
  readonly pictureLimitedMs: number
  /** Lowest speed scale of a measured latency. */
  readonly minScale: number
}

/** Persists the gateway's control state of sessions. Every method throws while the database is unreachable. */
export interface ControlPersistence {
  /**
   * Records a stop that a user requested at the gateway, with the same effect as through the API: it is latched and
   * logged, client and operator are notified, and it is audited. Returns the number of a log entry at which
   * the stop is latched; `over` when the session is no longer open or the user may not stop it. A repeated stop returns
   * the current number. Also records `ownerId`, an owner or admin who requested the stop after the user, because only the
   * owner or an admin may then clear it.
   */
  recordStop(
    requester: {
      sessionId: string
      userId: string
      ownerId?: string | undefined
      /** With what `userId` is signed in, for the audit log. */
      credential?: string | undefined
    },
    reason: string | undefined,
  ): Promise<number | 'over'>

  /**
   * Records that the control socket of who holds control was disconnected for the grace period: control passes on, or an ACTIVE session
   * is paused with `operator_lost`. Notifies client and operator. Returns false when the session is not open, or somebody else holds
   * control by now.
   */
  operatorLost(sessionId: string, lost?: LostHolder): Promise<boolean>

  /**
   * Records that a control socket of the operator has connected. From then on the session requires one, and the
   * abandonment worker no longer pauses it for a missing operator. Idempotent. Returns the number of the newest log entry,
   * by which the gateway detects an earlier pause; undefined when the session is not open.
   */
  recordJoin(sessionId: string): Promise<number | undefined>

  /**
   * Records that the operator of a PAUSED session is connected again, which cancels its announced end. Notifies the
   * client. Does nothing when the operator is not recorded as gone.
   */
  recordReturn(sessionId: string): Promise<void>

  /** Adds latency measurements to those of the session. Gateways may add increments in any order. */
  addLatency(sessionId: string, increment: LatencyIncrement): Promise<void>

  /** Returns those of the API keys and sign-ins that are revoked, expired or deleted. */
  endedCredentials(ids: readonly string[]): Promise<string[]>

  /**
   * Returns the memberships of users who may no longer take part: they are neither the operator, who must still be a member if the
   * session is driven for a team, nor operators to whom control was offered, nor members of the organization that they act for, nor admins.
   */
  revokedParticipants(memberships: readonly SessionMembership[]): Promise<SessionMembership[]>
}

/** The epoch in which the connection of who held control was lost, and who else is connected to drive. */
interface LostHolder {
  readonly epoch: number
  readonly connectedUserIds: readonly string[]
}

/** The operator of a session whose control never changed hands, while nobody else is connected. */
const FIRST_HOLDER: LostHolder = { epoch: FIRST_EPOCH, connectedUserIds: [] }

/** A participant of a session. */
export interface SessionMembership {
  readonly sessionId: string
  readonly userId: string
  /** The organization that the user acts for. */
  readonly organizationId: string
  readonly part: TicketPart
  /** Whether the user is signed in with the provider of the platform: neither a key nor a sign-in with that of an organization. */
  readonly byPlatform: boolean
}

/** Maximum stored length of a stop reason, in UTF-16 units. */
const MAX_REASON_LENGTH = 500

/** Removes what the database would reject: a stop must never fail because of its reason. */
const sanitizeReason = (reason: string) =>
  reason.slice(0, MAX_REASON_LENGTH).replaceAll('\0', '').toWellFormed()

export function createControlPersistence(deps: {
  db: Db
  transact: Transact
  now: () => Date
  queries: SessionQueries
  users: Users
  controlLeases: Pick<ControlLeases, 'passOn'>
}): ControlPersistence {
  const { db, transact, now, queries, users, controlLeases } = deps

  /** Returns the robot of a session if the user may stop it. */
  async function findStoppableRobot({ sessionId, userId }: { sessionId: string; userId: string }) {
    try {
      const isAdmin = users.rolesOf(await users.byId(userId)).includes('admin')
      return await queries.stoppableRobot(userId, isAdmin, sessionId)
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
          newest = await latchStop(tx, sessionId, robot, {
            ...context,
            actorId: userId,
            ...(userId === requester.userId && requester.credential && { credential: requester.credential }),
          })
        }
        return newest
      })
      return seq ?? 'over'
    },

    async operatorLost(sessionId, lost = FIRST_HOLDER) {
      const session = await db
        .selectFrom('sessions')
        .select(['id', 'robot_id'])
        .where('id', '=', sessionId)
        .where('status', 'in', ['ACTIVE', 'PAUSED'])
        .executeTakeFirst()
      if (!session) return false
      return await transact(async (tx) => {
        const robot = await lockRobot(tx, session.robot_id)
        const passed = await controlLeases.passOn(tx, sessionId, robot, lost)
        if (passed !== 'unchanged') return passed === 'passed'
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

    async recordReturn(sessionId) {
      const session = await db
        .selectFrom('sessions')
        .select('robot_id')
        .where('id', '=', sessionId)
        .where('operator_gone_at', 'is not', null)
        .executeTakeFirst()
      if (!session) return
      await transact(async (tx) => {
        const robot = await lockRobot(tx, session.robot_id)
        const at = now()
        const returned = await tx.db
          .updateTable('sessions')
          .set((eb) => ({ operator_gone_at: null, ends_at: null, event_seq: eb('event_seq', '+', 1) }))
          .where('id', '=', sessionId)
          .where('operator_gone_at', 'is not', null)
          .returningAll()
          .executeTakeFirst()
        if (!returned) return
        await broadcastTransition(tx, returned, robot, {
          type: 'operator.back',
          at,
          notifyUserIds: [returned.client_id],
        })
      })
    },

    async addLatency(sessionId, { buckets, maxMs, frames, dropped, speed, video }) {
      await sql`
        insert into session_latency
          (session_id, buckets, max_ms, frames, dropped, budgeted_ms, scaled_ms, limited_ms, picture_limited_ms, min_speed_scale,
            video_buckets, video_max_ms, video_dropped)
        select id, ${buckets}::bigint[], ${maxMs}::float8, ${frames}::bigint, ${dropped}::bigint,
          ${speed.budgetedMs}::float8, ${speed.scaledMs}::float8, ${speed.limitedMs}::float8, ${speed.pictureLimitedMs}::float8,
          ${speed.minScale}::float8,
          ${video.buckets}::bigint[], ${video.maxMs}::float8, ${video.dropped}::bigint
        from sessions where id = ${sessionId}
        on conflict (session_id) do update set
          buckets = (
            select array_agg(bucket.current_count + bucket.added_count order by bucket.ordinal)
            from unnest(session_latency.buckets, excluded.buckets) with ordinality
              as bucket (current_count, added_count, ordinal)
          ),
          max_ms = greatest(session_latency.max_ms, excluded.max_ms),
          frames = session_latency.frames + excluded.frames,
          dropped = session_latency.dropped + excluded.dropped,
          budgeted_ms = session_latency.budgeted_ms + excluded.budgeted_ms,
          scaled_ms = session_latency.scaled_ms + excluded.scaled_ms,
          limited_ms = session_latency.limited_ms + excluded.limited_ms,
          picture_limited_ms = session_latency.picture_limited_ms + excluded.picture_limited_ms,
          min_speed_scale = least(session_latency.min_speed_scale, excluded.min_speed_scale),
          video_buckets = coalesce((
            select array_agg(bucket.current_count + bucket.added_count order by bucket.ordinal)
            from unnest(session_latency.video_buckets, excluded.video_buckets) with ordinality
              as bucket (current_count, added_count, ordinal)
            where session_latency.video_buckets is not null and excluded.video_buckets is not null
          ), session_latency.video_buckets, excluded.video_buckets),
          video_max_ms = greatest(session_latency.video_max_ms, excluded.video_max_ms),
          video_dropped = session_latency.video_dropped + excluded.video_dropped,
          updated_at = now()`.execute(db)
    },

    async endedCredentials(ids) {
      const { rows } = await sql<{ id: string }>`
        select requested.id from unnest(${ids}::uuid[]) as requested (id)
        where ${hasEnded(sql.ref('requested.id'))}`.execute(db)
      return rows.map((row) => row.id)
    },

    async revokedParticipants(memberships) {
      const ids = {
        session: memberships.map(({ sessionId }) => sessionId),
        user: memberships.map(({ userId }) => userId),
        organization: memberships.map(({ organizationId }) => organizationId),
        part: memberships.map(({ part }) => part),
        byPlatform: memberships.map(({ byPlatform }) => byPlatform),
      }
      const asMember = (action: 'sessions.watch' | 'sessions.drive') =>
        memberMay(action, {
          user: sql.ref('membership.user_id'),
          organization: sql.ref('s.client_id'),
          group: sql.ref('r.group_id'),
        })
      // The query returns the other users. Operator and owner of a session never change.
      const { rows } = await sql<RoleAttributes & { ordinal: number }>`
        select membership.ordinal::int, u.is_client, u.is_operator, u.email, coalesce(u.email_verified, false) as email_verified,
          u.suspended_at
        from unnest(${ids.session}::uuid[], ${ids.user}::uuid[], ${ids.organization}::uuid[], ${ids.part}::text[],
            ${ids.byPlatform}::boolean[])
          with ordinality as membership (session_id, user_id, organization_id, part, by_platform, ordinal)
        left join users u on u.id = membership.user_id
        where membership.by_platform and exists (
          select from organization_sign_ins own_sign_in join organization_members m using (organization_id)
          where own_sign_in.organization_id = membership.organization_id and own_sign_in.enforced
            and m.user_id = membership.user_id and m.role <> 'owner'
        ) or not exists (
          select from sessions s join robots r on r.id = s.robot_id
          where s.id = membership.session_id and (
            membership.user_id = s.operator_id and (not s.own_operator or ${asMember('sessions.drive')})
            or membership.organization_id = membership.user_id and exists (
              select from control_participants guest
              where guest.session_id = s.id and guest.user_id = membership.user_id and not guest.as_member)
            or membership.part = 'control' and membership.organization_id = s.client_id and ${asMember('sessions.drive')}
            or membership.part = 'watch' and membership.organization_id = s.client_id and ${asMember('sessions.watch')})
        )`.execute(db)
      return rows
        .filter((row) => !users.rolesOf(row).includes('admin'))
        .flatMap(({ ordinal }) => memberships[ordinal - 1] ?? [])
    },
  }
}
