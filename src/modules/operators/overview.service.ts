import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { type OperatorOverview, PLANNED_MAX } from './overview.schema.ts'

/** Creates the service that reads an operator's open session and the next scheduled ones. */
export function createOperatorOverview({ db }: { db: Db }) {
  const ownSessions = (operatorId: string) =>
    db
      .selectFrom('sessions')
      .innerJoin('robots', 'robots.id', 'sessions.robot_id')
      .select(['sessions.id', 'sessions.robot_id', 'robots.name as robot_name', 'robots.robot_type'])
      .where('sessions.operator_id', '=', operatorId)

  async function openSession(operatorId: string): Promise<OperatorOverview['open_session']> {
    const row = await ownSessions(operatorId)
      .innerJoin('robot_presence', 'robot_presence.robot_id', 'sessions.robot_id')
      .select(['sessions.status', 'sessions.started_at', 'sessions.stop_at'])
      .select('robot_presence.connected as robot_connected')
      .where('sessions.status', 'in', ['ACTIVE', 'PAUSED'])
      .executeTakeFirst()
    if (!row?.started_at) return null
    const { stop_at, started_at, ...session } = row
    return { ...session, started_at: iso(started_at), stopped: stop_at !== null }
  }

  async function planned(operatorId: string): Promise<OperatorOverview['planned']> {
    const rows = await ownSessions(operatorId)
      .select(['sessions.scheduled_for', 'sessions.planned_minutes'])
      .where('sessions.status', '=', 'PENDING')
      .orderBy('sessions.scheduled_for')
      .orderBy('sessions.id')
      .limit(PLANNED_MAX)
      .execute()
    return rows.map(({ scheduled_for, planned_minutes, ...session }) => ({
      ...session,
      scheduled_for: iso(scheduled_for as Date), // a PENDING session has both: sessions_pending_planned
      planned_minutes: planned_minutes as number,
    }))
  }

  return {
    async of(operatorId: string): Promise<OperatorOverview> {
      const [open_session, next] = await Promise.all([openSession(operatorId), planned(operatorId)])
      return { open_session, planned: next }
    },
  }
}
export type OperatorOverviews = ReturnType<typeof createOperatorOverview>
