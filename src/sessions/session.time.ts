import type { SessionStatus } from '@wheelhouse/protocol'
import { type RawBuilder, sql } from 'kysely'

/** Milliseconds between two moments, never negative: a clock that stepped back takes no time away. */
const elapsedMs = (from: RawBuilder<unknown>, to: Date) =>
  sql<number>`greatest(0, (extract(epoch from ${to}::timestamptz - ${from}) * 1000)::bigint)`

/**
 * What entering a state does to the counted ACTIVE time, which is what a session is billed by. Every change of
 * a session's status goes through here (see `move`); a constraint refuses one that does not.
 */
export function countActiveTime(to: SessionStatus, at: Date, lastSignOfRobot?: Date) {
  return to === 'ACTIVE' ? { active_since: at } : endOfActiveTime(at, lastSignOfRobot)
}

/**
 * Closes the present stretch of ACTIVE time, if there is one. When the robot is gone, its silence is an outage:
 * from its last sign of life, but never from before the stretch began, so no pause is ever subtracted as well.
 * Presence knows the last sign of a robot that is away; of one that is back already only who saw it go does,
 * and says so with `lastSignOfRobot`.
 */
function endOfActiveTime(at: Date, lastSignOfRobot: Date | undefined) {
  const silentSince = (sign: RawBuilder<unknown>) =>
    elapsedMs(sql`greatest(sessions.active_since, ${sign})`, at)
  const outageMs = lastSignOfRobot
    ? sql`case when active_since is null then 0 else ${silentSince(sql`${lastSignOfRobot}::timestamptz`)} end`
    : sql`coalesce((
        select ${silentSince(sql`p.last_online`)} from robot_presence p
        where p.robot_id = sessions.robot_id and not p.connected
          and p.last_online is not null and sessions.active_since is not null), 0)`
  return {
    active_ms: sql<number>`active_ms + case when active_since is null then 0
      else ${elapsedMs(sql`active_since`, at)} end`,
    outage_ms: sql<number>`outage_ms + ${outageMs}`,
    active_since: null,
  }
}
