import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { inScope, type Scope } from '../../core/permissions/authorization.ts'
import {
  ACTIVITY_CHANGES_MAX,
  ACTIVITY_HOURS,
  ACTIVITY_SESSIONS_MAX,
  type Activity,
  type ReadActivity,
  type SessionActivity,
} from './activity.schema.ts'
import { costUntil } from './running-cost.ts'

type Span = SessionActivity['spans'][number]

/** The state that begins with an entry of a session's log. A cleared stop leaves the session paused. */
const states: Readonly<Record<string, Span['state'] | null>> = {
  'session.started': 'DRIVING',
  'session.resumed': 'DRIVING',
  'session.paused': 'PAUSED',
  'session.stop_cleared': 'PAUSED',
  'session.stopped': 'STOPPED',
  'session.ended': null,
}

interface Change {
  readonly session_id: string
  readonly type: string
  readonly at: Date
}

/** Returns the spans of a session by the changes in its log, oldest first. */
function spansOf(changes: readonly Pick<Change, 'type' | 'at'>[]): Span[] {
  const spans: Span[] = []
  for (const { type, at } of changes) {
    const state = states[type]
    const open = spans.at(-1)
    // A stop also pauses the session: whichever entry comes first, it is stopped.
    if (state === undefined || open?.state === state) continue
    if (type === 'session.paused' && open?.state === 'STOPPED') continue
    if (open) open.to = iso(at)
    if (state !== null) spans.push({ state, from: iso(at), to: null })
  }
  return spans.filter(({ from, to }) => from !== to)
}

/** Creates the service that reads what an owner's robots did in their sessions of the last day. */
export function createActivity({ db, now }: { db: Db; now: () => Date }) {
  /** Selects open sessions, and those that ended since, each from its index. */
  const sessionsSince = (scope: Scope, since: Date, at: Date, robotId: string | undefined) =>
    db
      .selectFrom('sessions')
      .innerJoin('robots', 'robots.id', 'sessions.robot_id')
      .innerJoin('users', 'users.id', 'sessions.operator_id')
      .select(['sessions.id', 'sessions.robot_id', 'robots.name as robot_name'])
      .select(['users.display_name as operator_name'])
      .select(
        sql<string>`floor((active_ms + case when active_until is null and active_since is not null
          then greatest(0, extract(epoch from ${at}::timestamptz - active_since) * 1000) else 0 end) / 1000)`.as(
          'driven_seconds',
        ),
      )
      .select(sql<string>`coalesce(client_charge_cents, ${costUntil(at)})`.as('cost_cents'))
      .where(inScope('sessions', scope))
      .where(({ eb, or, and }) =>
        or([
          eb('sessions.status', 'in', ['ACTIVE', 'PAUSED']),
          and([eb('sessions.status', '=', 'COMPLETED'), eb('sessions.ended_at', '>=', since)]),
        ]),
      )
      .$if(robotId !== undefined, (query) => query.where('sessions.robot_id', '=', robotId as string))
      .orderBy('sessions.started_at', 'desc')
      .orderBy('sessions.id')
      .limit(ACTIVITY_SESSIONS_MAX)
      .execute()

  const changesOf = (sessionIds: readonly string[]): Promise<Change[]> =>
    db
      .selectFrom('session_events')
      .select(['session_id', 'type', 'at'])
      .where('session_id', 'in', sessionIds)
      .where('type', 'in', Object.keys(states))
      .orderBy('session_id')
      .orderBy('seq')
      .limit(ACTIVITY_CHANGES_MAX)
      .execute()

  return {
    /** Returns the activity of a client's robots, or of one. */
    async of(scope: Scope, { robotId }: ReadActivity): Promise<Activity> {
      const at = now()
      const since = new Date(at.getTime() - ACTIVITY_HOURS * 3_600_000)
      const rows = await sessionsSince(scope, since, at, robotId)
      const changes = rows.length === 0 ? [] : await changesOf(rows.map(({ id }) => id))
      const bySession = Map.groupBy(changes, ({ session_id }) => session_id)
      return {
        at: iso(at),
        since: iso(since),
        sessions: rows.map(({ driven_seconds, cost_cents, ...row }) => ({
          ...row,
          driven_seconds: Number(driven_seconds),
          cost_cents: Number(cost_cents),
          spans: spansOf(bySession.get(row.id) ?? []),
        })),
      }
    },
  }
}
export type ActivityOfRobots = ReturnType<typeof createActivity>
