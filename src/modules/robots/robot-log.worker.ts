import type { RobotLogLevel } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { inBatches } from '../../core/database/in-batches.ts'
import type { Db } from '../../core/database/tables.ts'
import type { Transact } from '../../core/events/transactor.ts'

const DAY_MS = 24 * 3_600_000
/** Minimum time between two events of one robot. An event contains the number of lines since the previous event. */
export const EVENT_INTERVAL_MS = 60_000
/** Robots in one transaction, and so in one domain event. */
const ROBOTS_PER_BATCH = 200
/** Newest lines of one robot's log that are kept. */
const LINES_KEPT = 10_000
/** Bytes of the messages of one robot's log that are kept. */
const BYTES_KEPT = 4 * 1024 * 1024
/** Lines that one statement selects for removal. */
const LINES_PER_BATCH = 5_000

export interface LogBounds {
  readonly linesPerRobot?: number
  readonly bytesPerRobot?: number
}

interface DueEvent {
  robot_id: string
  owner_id: string
  robot_name: string
  enabled: boolean
  level: RobotLogLevel
  message: string
  lines: number
  since: Date
}

/** Publishes events of robot logs, and removes lines that exceed the retention time or the bounds. */
export function createRobotLogJobs(deps: {
  db: Db
  transact: Transact
  now: () => Date
  keptDays: number
  bounds?: LogBounds
}) {
  const { db, transact, now, keptDays } = deps
  const { linesPerRobot = LINES_KEPT, bytesPerRobot = BYTES_KEPT } = deps.bounds ?? {}

  /** Publishes one batch of events. Returns the number of robots in it. */
  const publishBatch = () =>
    transact(async (tx) => {
      const at = now()
      const { rows } = await sql<DueEvent>`
        with due as (
          select robot_id, event_lines, event_level, event_message, event_since from robot_log_streams
          where event_lines > 0
            and (event_at is null or event_at <= ${new Date(at.getTime() - EVENT_INTERVAL_MS)}::timestamptz)
          order by robot_id limit ${ROBOTS_PER_BATCH} for no key update skip locked
        ), claimed as (
          update robot_log_streams s
          set event_lines = 0, event_level = null, event_message = null, event_since = null,
            event_at = ${at}::timestamptz
          from due where s.robot_id = due.robot_id returning s.robot_id
        )
        select r.id as robot_id, r.owner_id, r.name as robot_name,
          r.log_event_level <> 'off' and r.deleted_at is null as enabled,
          due.event_level as level, due.event_message as message, due.event_lines as lines, due.event_since as since
        from claimed join due using (robot_id) join robots r on r.id = due.robot_id`.execute(tx.db)
      const robots = rows
        .filter(({ enabled }) => enabled)
        .map(({ enabled: _enabled, since, ...event }) => ({ ...event, since: since.toISOString() }))
      if (robots.length > 0) tx.publish('robots.log', { robots })
      return rows.length
    })

  /** Removes lines up to `up_to` per robot; `upTo` is a query of `robot_id, up_to`. Returns the number of robots. */
  async function prune(upTo: ReturnType<typeof sql>): Promise<number> {
    const { rows } = await sql`
      with old as (${upTo}), locked as (
        select s.robot_id, old.up_to from robot_log_streams s join old using (robot_id)
        order by s.robot_id for no key update of s
      ), removed as (
        delete from robot_logs l using locked where l.robot_id = locked.robot_id and l.seq <= locked.up_to
        returning l.robot_id, octet_length(l.message) as bytes
      ), sums as (
        select robot_id, sum(bytes) as bytes from removed group by robot_id
      )
      update robot_log_streams s
      set pruned_to = least(greatest(s.pruned_to, locked.up_to), s.head), bytes = s.bytes - coalesce(sums.bytes, 0)
      from locked left join sums using (robot_id) where s.robot_id = locked.robot_id
      returning 1`.execute(db)
    return rows.length
  }

  async function removeOld(): Promise<void> {
    const before = new Date(now().getTime() - keptDays * DAY_MS)
    const old = sql`
      select robot_id, max(seq) as up_to from (
        select robot_id, seq from robot_logs where at < ${before}::timestamptz order by at limit ${LINES_PER_BATCH}
      ) as oldest group by robot_id`
    await inBatches(1, () => prune(old))
  }

  async function removeSurplus(): Promise<void> {
    const surplus = sql`
      select s.robot_id, greatest(s.head - ${linesPerRobot}::bigint, s.pruned_to, (
          select max(seq) from (
            select seq, sum(octet_length(message)) over (order by seq desc) as newer
            from robot_logs l where l.robot_id = s.robot_id
          ) as sized where newer > ${bytesPerRobot}::bigint and s.bytes > ${bytesPerRobot}::bigint
        )) as up_to
      from robot_log_streams s
      where s.head - s.pruned_to > ${linesPerRobot}::bigint or s.bytes > ${bytesPerRobot}::bigint
      order by s.robot_id limit ${ROBOTS_PER_BATCH}`
    await inBatches(ROBOTS_PER_BATCH, () => prune(surplus))
  }

  return {
    /** Publishes an event for each robot with unreported lines, at most once a minute per robot. */
    publishEvents: (): Promise<void> => inBatches(ROBOTS_PER_BATCH, publishBatch),

    /** Removes lines beyond the retention time and beyond the bounds of a robot, in batches. */
    async clean(): Promise<void> {
      await removeOld()
      await removeSurplus()
    },
  }
}
