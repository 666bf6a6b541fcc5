import type { SessionStatus } from '@wheelhouse/protocol'
import { type QueryCreator, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../../core/database/tables.ts'

/** Returns the milliseconds between two times, never negative even if a clock was set back. */
export const elapsedMs = (from: RawBuilder<unknown>, to: RawBuilder<unknown>) =>
  sql<number>`greatest(0, (extract(epoch from ${to} - ${from}) * 1000)::bigint)`

/**
 * Returns the columns that count ACTIVE time, by which a session is billed, for a transition to `to`. Every change of a
 * session's status must set them (see `transition`); a check constraint rejects an update that does not.
 */
export function countActiveTime(to: SessionStatus, at: Date, lastSignOfRobot?: Date) {
  return to === 'ACTIVE' ? { active_since: at, active_until: null } : endOfActiveTime(at, lastSignOfRobot)
}

/** Ends the current ACTIVE period at its start, so that none of it is billed. */
export const discardActiveTime = { active_until: sql<Date | null>`active_since` }

/**
 * Ends the newest ACTIVE period unless it has ended. If the robot is disconnected, the period ends at the robot's last
 * sign of life, and the rest counts as an outage. An outage is subtracted only once, whether the loss is found during
 * the period or in the pause after it. A period never ends before it began.
 *
 * Presence has the last sign of life of a disconnected robot. For a robot that has already reconnected, the caller that
 * observed the loss passes `lastSignOfRobot`.
 */
function endOfActiveTime(at: Date, lastSignOfRobot: Date | undefined) {
  // `least` ignores null, which a connected robot yields.
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
 * Reads and locks the outage time of a session before a statement that counts its ACTIVE time. The column aliases differ
 * from all columns of `sessions`, so that the statement can join the result.
 */
export const selectOutageBefore = (db: QueryCreator<Tables>) =>
  db.selectFrom('sessions').select(['id as counted_id', 'outage_ms as outage_before_ms']).forNoKeyUpdate()

/** Returns the outage that the last statement added, as log details in seconds; empty without an outage. */
export function newOutage(session: { outage_ms: number; outage_before_ms?: number }) {
  const ms = session.outage_ms - (session.outage_before_ms ?? session.outage_ms)
  return ms > 0 ? { outage_seconds: ms / 1_000 } : {}
}
