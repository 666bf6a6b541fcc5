import { RobotLogLevel } from '@wheelhouse/protocol'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { notFound } from '../../core/errors/errors.ts'
import { grantedTo, ownedBy, type Scope } from '../../core/permissions/authorization.ts'
import type { RobotLogQuery, RobotLogView } from './robot-log.schema.ts'

const ROBOT_COLUMNS = { robot: 'robots.id', owner: 'robots.owner_id' }

/** Reads robot logs for the robots' owners, and for organizations with a grant. */
export function createRobotLogs({ db }: { db: Db }) {
  return {
    /**
     * Returns one page of a robot's log: newest first, or oldest first with `after`.
     * @throws 404 when the robot does not exist or belongs to another user
     */
    async page(scope: Scope, robotId: string, query: RobotLogQuery): Promise<RobotLogView[]> {
      const { level, before, after, limit } = query
      const robot = await db
        .selectFrom('robots')
        .select('id')
        .where('id', '=', robotId)
        .where(({ or }) => or([ownedBy(scope), grantedTo('log', scope, ROBOT_COLUMNS)]))
        .where('deleted_at', 'is', null)
        .executeTakeFirst()
      if (!robot) throw notFound('Robot')
      const levels = RobotLogLevel.options.slice(RobotLogLevel.options.indexOf(level))
      const rows = await db
        .selectFrom('robot_logs')
        .select(['seq', 'level', 'message', 'dropped', 'at'])
        .where('robot_id', '=', robotId)
        // Dropped lines may have had any level.
        .where((eb) => eb.or([eb('level', 'in', levels), eb('dropped', '>', 0)]))
        .$if(before !== undefined, (lines) => lines.where('seq', '<', before as number))
        .$if(after !== undefined, (lines) => lines.where('seq', '>', after as number))
        .orderBy('seq', after === undefined ? 'desc' : 'asc')
        .limit(limit)
        .execute()
      return rows.map((row) => ({ ...row, at: iso(row.at) }))
    },
  }
}
export type RobotLogs = ReturnType<typeof createRobotLogs>
