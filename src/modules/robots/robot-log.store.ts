import type { RobotLogLevel } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import type { Db } from '../../core/database/tables.ts'

/** A line of a robot's log as the gateway received it. */
export interface ReportedLogLine {
  readonly robotId: string
  readonly level: RobotLogLevel
  readonly message: string
  /** Number of lines that this line replaces; 0 for a line of the robot. */
  readonly dropped: number
  /** When the gateway received it, Unix milliseconds. */
  readonly atMs: number
}

/** Persists log lines of robots, many in one statement. */
export function createRobotLogStore({ db }: { db: Db }) {
  return {
    /**
     * Appends lines to the logs of their robots, in order. Counts lines at or above the robot's event level for its next
     * event. Discards lines of removed robots. Appends all lines or none.
     */
    async append(lines: readonly ReportedLogLine[]): Promise<void> {
      await sql`
        with input as (
          select i.*, i.dropped = 0 and case r.log_event_level
              when 'error' then i.level = 'error'
              when 'warn' then i.level in ('warn', 'error')
              else false end as reported
          from unnest(
            ${lines.map((line) => line.robotId)}::uuid[], ${lines.map((line) => line.level)}::text[],
            ${lines.map((line) => line.message)}::text[], ${lines.map((line) => line.dropped)}::int[],
            ${lines.map((line) => line.atMs)}::float8[]
          ) with ordinality as i (robot_id, level, message, dropped, at_ms, ordinal)
            join robots r on r.id = i.robot_id and r.deleted_at is null
        ), sizes as (
          select robot_id, count(*) as lines, sum(octet_length(message)) as bytes,
            count(*) filter (where reported) as event_lines,
            (array_agg(level order by (level = 'error') desc, ordinal) filter (where reported))[1] as event_level,
            (array_agg(message order by (level = 'error') desc, ordinal) filter (where reported))[1] as event_message,
            to_timestamp(min(at_ms) filter (where reported) / 1000) as event_since
          from input group by robot_id
        ), counted as (
          insert into robot_log_streams as s
            (robot_id, head, bytes, event_lines, event_level, event_message, event_since)
          select robot_id, lines, bytes, event_lines, event_level, event_message, event_since
          from sizes order by robot_id
          on conflict (robot_id) do update set
            head = s.head + excluded.head,
            bytes = s.bytes + excluded.bytes,
            event_lines = s.event_lines + excluded.event_lines,
            event_level = ${representativeColumn(sql`event_level`)},
            event_message = ${representativeColumn(sql`event_message`)},
            event_since = coalesce(s.event_since, excluded.event_since)
          returning robot_id, head
        )
        insert into robot_logs (robot_id, seq, level, message, dropped, at)
        select robot_id, head - lines + row_number() over (partition by robot_id order by ordinal),
          level, message, dropped, to_timestamp(at_ms / 1000)
        from input join sizes using (robot_id) join counted using (robot_id)`.execute(db)
    },
  }
}
export type RobotLogStore = ReturnType<typeof createRobotLogStore>

/** Selects a column of the line that represents the event: the first error, else the first reported line. */
const representativeColumn = (column: ReturnType<typeof sql>) => sql`
  case when s.event_level is null or (excluded.event_level = 'error' and s.event_level <> 'error')
    then excluded.${column} else s.${column} end`
