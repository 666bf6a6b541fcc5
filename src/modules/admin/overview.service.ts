import { type RobotStatus, SessionStatus } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import type { Overview } from './overview.schema.ts'

/** Most sessions and gateways in one response. */
const LIST_LIMIT = 100
const OPEN = [SessionStatus.enum.ACTIVE, SessionStatus.enum.PAUSED]

/** Reads the current state of the platform. Every query reads open or connected rows from an index. */
export async function readOverview(db: Db): Promise<Overview> {
  const [counts, open, notRecorded, gateways] = await Promise.all([
    readCounts(db),
    openSessions(db),
    unrecordedSessions(db),
    runningGateways(db),
  ])
  const sessions = { total: counts.robots.IN_SESSION, open }
  return { ...counts, sessions, not_recorded: notRecorded, gateways }
}

/** Counts robots by status. A robot is IN_SESSION exactly while a session is open, so one count serves both. */
async function readCounts(db: Db): Promise<{ at: string; robots: Record<RobotStatus, number> }> {
  const { rows } = await sql<{ at: Date; robots: string; available: string; open: string }>`
    select now() as at,
      (select count(*) from robots where deleted_at is null) as robots,
      (select count(*) from robots where status = 'AVAILABLE' and deleted_at is null) as available,
      (select count(*) from sessions where status in ('ACTIVE', 'PAUSED')) as open`.execute(db)
  const [row] = rows
  if (!row) throw new Error('a count without a row')
  const [AVAILABLE, IN_SESSION] = [Number(row.available), Number(row.open)]
  const OFFLINE = Number(row.robots) - AVAILABLE - IN_SESSION
  return { at: iso(row.at), robots: { OFFLINE, AVAILABLE, IN_SESSION } }
}

async function openSessions(db: Db): Promise<Overview['sessions']['open']> {
  const rows = await db
    .selectFrom('sessions')
    .innerJoin('robots', 'robots.id', 'sessions.robot_id')
    .innerJoin('robot_presence', 'robot_presence.robot_id', 'sessions.robot_id')
    .innerJoin('users as operators', 'operators.id', 'sessions.operator_id')
    .innerJoin('organizations as clients', 'clients.id', 'sessions.client_id')
    .leftJoin('users as stoppers', 'stoppers.id', 'sessions.stop_by_id')
    .select(['sessions.id', 'sessions.status', 'sessions.started_at', 'sessions.pause_reason'])
    .select(['sessions.stop_reason', 'sessions.stop_at', 'sessions.stop_by_id'])
    .select(['sessions.robot_id', 'robots.name as robot_name', 'robots.robot_type'])
    .select('robot_presence.connected as robot_connected')
    .select(['sessions.operator_id', 'operators.display_name as operator_name'])
    .select(['sessions.client_id', 'clients.name as client_name'])
    .select('stoppers.display_name as stop_by_name')
    .where('sessions.status', 'in', OPEN)
    .orderBy('sessions.started_at', 'desc')
    .orderBy('sessions.id', 'desc')
    .limit(LIST_LIMIT)
    .execute()
  return rows.map(({ started_at, stop_reason, stop_at, stop_by_id, stop_by_name, ...row }) => ({
    ...row,
    started_at: iso(started_at as Date), // an open session has one: sessions_open_started
    stop:
      stop_at === null || stop_reason === null
        ? null
        : { reason: stop_reason, at: iso(stop_at), by: stop_by_id, by_name: stop_by_name },
  }))
}

/** Counts the interrupted recordings of open sessions by reason. `off` is the choice of the owner. */
async function unrecordedSessions(db: Db): Promise<Overview['not_recorded']> {
  const rows = await db
    .selectFrom('recordings')
    .innerJoin('sessions', 'sessions.id', 'recordings.session_id')
    .select('recordings.paused_reason as reason')
    .select(({ fn }) => fn.countAll<string>().as('sessions'))
    .where('recordings.status', '=', 'RECORDING')
    .where('recordings.paused_reason', 'is not', null)
    .where('recordings.paused_reason', '<>', 'off')
    .where('sessions.status', 'in', OPEN)
    .groupBy('recordings.paused_reason')
    .orderBy('recordings.paused_reason')
    .execute()
  return rows.map(({ reason, sessions }) => ({ reason: reason ?? '', sessions: Number(sessions) }))
}

async function runningGateways(db: Db): Promise<Overview['gateways']> {
  const rows = await db
    .selectFrom('gateway_nodes')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('robot_presence')
        .select((count) => count.fn.countAll<string>().as('robots'))
        .whereRef('robot_presence.node_id', '=', 'gateway_nodes.id')
        .where('robot_presence.connected', '=', true)
        .as('robots'),
    )
    .orderBy('started_at')
    .limit(LIST_LIMIT)
    .execute()
  return rows.map(({ started_at, seen_at, robots, ...row }) => ({
    ...row,
    started_at: iso(started_at),
    seen_at: iso(seen_at),
    robots: Number(robots),
  }))
}
