import type { SessionStatus } from '@wheelhouse/protocol'
import { type QueryCreator, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../../core/database/tables.ts'

/** Milliseconds between two moments, never negative: a clock that stepped back takes no time away. */
const elapsedMs = (from: RawBuilder<unknown>, to: RawBuilder<unknown>) =>
  sql<number>`greatest(0, (extract(epoch from ${to} - ${from}) * 1000)::bigint)`

/**
 * What entering a state does to the counted ACTIVE time, which is what a session is billed by. Every change of
 * a session's status goes through here (see `move`); a constraint refuses one that does not.
 */
export function countActiveTime(to: SessionStatus, at: Date, lastSignOfRobot?: Date) {
  return to === 'ACTIVE' ? { active_since: at, active_until: null } : endOfActiveTime(at, lastSignOfRobot)
}

/** Closes the newest stretch of ACTIVE time as if it had not been: nothing of it is billed. */
export const discardActiveTime = { active_until: sql<Date | null>`active_since` }

/**
 * Closes the newest stretch of ACTIVE time, unless it is closed already. When the robot is gone, the stretch ends
 * with its last sign of life; what it loses by that is an outage. So nothing is subtracted twice, be a loss
 * found during the stretch or in the pause after it, and no stretch ends before it began.
 *
 * Presence knows the last sign of a robot that is away. Of one that is back already only who saw it go does, and
 * says so with `lastSignOfRobot`.
 */
function endOfActiveTime(at: Date, lastSignOfRobot: Date | undefined) {
  // `least` ignores the null of a robot that is there.
  const lastSign = lastSignOfRobot
    ? sql`${lastSignOfRobot}::timestamptz`
    : sql`(select p.last_online from robot_presence p where p.robot_id = sessions.robot_id and not p.connected)`
  const now = sql`${at}::timestamptz`
  const knownEnd = sql`coalesce(active_until, ${now})`
  const end = sql`greatest(active_since, least(${knownEnd}, ${lastSign}))`
  const ifStarted = <T>(value: RawBuilder<unknown>, otherwise: RawBuilder<unknown>) =>
    sql<T>`case when active_since is null then ${otherwise} else ${value} end`
  return {
    active_ms: sql<number>`active_ms + case when active_since is null or active_until is not null then 0
      else ${elapsedMs(sql`active_since`, now)} end`,
    outage_ms: sql<number>`outage_ms + ${ifStarted(elapsedMs(end, knownEnd), sql`0`)}`,
    active_until: ifStarted<Date | null>(end, sql`null`),
  }
}

/**
 * Reads, and locks, what is known of a session's outages before a statement that counts its ACTIVE time. The names of
 * the columns are those of no column of sessions, so that the statement can join it.
 */
export const selectOutageBefore = (db: QueryCreator<Tables>) =>
  db.selectFrom('sessions').select(['id as counted_id', 'outage_ms as outage_before_ms']).forNoKeyUpdate()

/** Returns for the session's log the outage that the last statement found, in seconds to the millisecond, if there is one. */
export function newOutage(session: { outage_ms: number; outage_before_ms?: number }) {
  const ms = session.outage_ms - (session.outage_before_ms ?? session.outage_ms)
  return ms > 0 ? { outage_seconds: ms / 1_000 } : {}
}
