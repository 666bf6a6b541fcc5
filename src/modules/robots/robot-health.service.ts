import { sql } from 'kysely'
import { inBatches } from '../../core/database/in-batches.ts'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import { grantedTo, ownedBy, type Scope } from '../../core/permissions/authorization.ts'
import { HEALTH_HOURS, INCIDENTS_MAX, type RobotHealth, SAMPLE_MINUTES } from './robot-health.schema.ts'

const SAMPLE_MS = SAMPLE_MINUTES * 60_000
const KEPT_MS = HEALTH_HOURS * 3_600_000
/** Sessions whose logs are searched for incidents, newest first. */
const SESSIONS_MAX = 200
/** Rows that one statement removes. */
const ROWS_PER_BATCH = 5_000

interface IncidentRow {
  type: RobotHealth['incidents'][number]['type']
  at: Date
  session_id: string | null
  reason: string | null
  actor_name: string | null
}

/** Samples the health of connected robots, and reads the health of one robot. */
export function createRobotHealth({ db, now }: { db: Db; now: () => Date }) {
  const keptSince = () => new Date(now().getTime() - KEPT_MS)

  const removeOld = (): Promise<void> =>
    inBatches(ROWS_PER_BATCH, async () => {
      const { rows } = await sql`
        delete from robot_health_samples where (robot_id, at) in (
          select robot_id, at from robot_health_samples where at < ${keptSince()}::timestamptz
          order by at limit ${ROWS_PER_BATCH}
        ) returning 1`.execute(db)
      return rows.length
    })

  /** Returns stops and lost connections in the sessions of a robot, newest first. */
  const incidentsOf = (robotId: string, since: Date) =>
    sql<IncidentRow>`
      with recent as (
        select id from sessions
        where robot_id = ${robotId}::uuid and started_at is not null
          and (ended_at is null or ended_at >= ${since}::timestamptz)
        order by started_at desc limit ${SESSIONS_MAX}
      )
      select e.type, e.at, e.session_id, e.data->>'reason' as reason, u.display_name as actor_name
      from recent join session_events e on e.session_id = recent.id
        left join users u on u.id = (e.data->>'actor_id')::uuid
      where e.type in ('session.stopped', 'robot.lost', 'robot.back') and e.at >= ${since}::timestamptz
      order by e.at desc, e.seq desc limit ${INCIDENTS_MAX}`.execute(db)

  return {
    /** Writes one sample for each connected robot, once per interval, and removes old samples. */
    async sample(): Promise<void> {
      const atMs = now().getTime()
      const at = new Date(atMs - (atMs % SAMPLE_MS))
      await sql`
        insert into robot_health_samples (robot_id, at, battery)
        select robot_id, ${at}::timestamptz,
          case when battery_at > ${new Date(atMs - SAMPLE_MS)}::timestamptz then battery end
        from robot_presence where connected
        on conflict (robot_id, at) do nothing`.execute(db)
      await removeOld()
    },

    /**
     * Returns the health of a robot for its owner, or for an organization with a grant.
     * @throws 404 when the robot does not exist or belongs to another user.
     */
    async of(scope: Scope, robotId: string): Promise<RobotHealth> {
      const robot = await db
        .selectFrom('robots')
        .select(['id', ownedBy(scope).as('is_own')])
        .where('id', '=', robotId)
        .where(({ or }) =>
          or([ownedBy(scope), grantedTo('health', scope, { robot: 'robots.id', owner: 'robots.owner_id' })]),
        )
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
      if (!robot) throw notFound('Robot')
      const since = keptSince()
      const [samples, incidents] = await Promise.all([
        db
          .selectFrom('robot_health_samples')
          .select(['at', 'battery'])
          .where('robot_id', '=', robotId)
          .where('at', '>=', since)
          .orderBy('at')
          .execute(),
        incidentsOf(robotId, since),
      ])
      return {
        since: iso(since),
        samples: samples.map(({ at, battery }) => ({ at: iso(at), battery })),
        // A grant includes when the robot stopped; not in which session, nor who stopped it and why.
        incidents: incidents.rows.map((row) => ({
          ...row,
          ...(!robot.is_own && { session_id: null, reason: null, actor_name: null }),
          at: iso(row.at),
        })),
      }
    },
  }
}
export type RobotHealthService = ReturnType<typeof createRobotHealth>
