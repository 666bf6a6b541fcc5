import type { AutonomyMode, ControlHolder, RobotState } from '@wheelhouse/protocol'
import { sql } from 'kysely'
import { iso } from '../../core/database/iso.ts'
import type { Db } from '../../core/database/tables.ts'
import { ownedBy, type Scope } from '../../core/permissions/authorization.ts'
import { firstLiveCamera } from '../video/index.ts'
import type { ListLiveRobots, LiveRobot, LiveRobotList } from './live-robot.schema.ts'

const OPEN = ['ACTIVE', 'PAUSED'] as const

/** The state of a robot in a session, in SQL. Requires `robot_presence` and the open session. */
const stateInSession = sql<RobotState>`case
  when not robot_presence.connected then 'LOST'
  when sessions.stop_at is not null then 'STOPPED'
  when sessions.status = 'PAUSED' then 'PAUSED'
  else 'DRIVING' end`
const liveState = sql<RobotState>`case when robots.status = 'AVAILABLE' then 'READY' else ${stateInSession} end`

/** Robots that need attention first, then other open sessions, then the rest. */
const attentionOrder = sql<number>`array_position(array['STOPPED', 'LOST', 'PAUSED', 'DRIVING', 'READY'], ${liveState})`

/** Selects the live robots of an owner from the index of owner and status, with their open sessions. */
const liveRobots = (db: Db, scope: Scope, robotId?: string) =>
  db
    .selectFrom('robots')
    .innerJoin('robot_presence', 'robot_presence.robot_id', 'robots.id')
    .leftJoin('sessions', (join) =>
      join.onRef('sessions.robot_id', '=', 'robots.id').on('sessions.status', 'in', OPEN),
    )
    .where(ownedBy(scope))
    .where('robots.deleted_at', 'is', null)
    .where('robots.status', 'in', ['AVAILABLE', 'IN_SESSION'])
    .$if(robotId !== undefined, (query) => query.where('robots.id', '=', robotId as string))

/** The oldest open question about control that no single user is to answer, in SQL. */
const asksForControl = (at: Date) => sql<LiveSession['asks_for_control']>`(
  select json_build_object('kind', asked.kind, 'from_name', asking.display_name)
  from control_requests as asked join users as asking on asking.id = asked.from_id
  where asked.session_id = sessions.id and asked.closed_at is null and asked.expires_at > ${at} and asked.to_id is null
  order by asked.created_at limit 1)`

const listQuery = (db: Db, scope: Scope, { robotId, limit }: ListLiveRobots, at: Date) =>
  liveRobots(db, scope, robotId)
    .leftJoin('users as operators', 'operators.id', 'sessions.operator_id')
    .leftJoin('users as stoppers', 'stoppers.id', 'sessions.stop_by_id')
    .leftJoin('session_extensions as extensions', (join) =>
      join.onRef('extensions.session_id', '=', 'sessions.id').on('extensions.status', '=', 'REQUESTED'),
    )
    .leftJoin('control_intervals as held', (join) =>
      join.onRef('held.session_id', '=', 'sessions.id').on('held.ended_at', 'is', null),
    )
    .leftJoin('users as holders', 'holders.id', 'held.user_id')
    .leftJoin('recordings', 'recordings.session_id', 'sessions.id')
    .select(['extensions.additional_minutes as requested_minutes', 'sessions.stop_clear_requested_at'])
    .select(['recordings.mode', 'recordings.status as recording_status', 'recordings.paused_reason'])
    .select(['held.epoch', 'held.user_id as holder_id', 'held.kind as holder_kind'])
    .select(['holders.display_name as holder_name', asksForControl(at).as('asks_for_control')])
    .select(['robots.tags'])
    .select(['robots.id', 'robots.name', 'robots.robot_type', 'robots.stream_url', 'robots.on_hold'])
    .select(['robot_presence.battery', 'robot_presence.battery_at', 'robot_presence.last_heartbeat'])
    .select(['sessions.id as session_id', 'sessions.status', 'sessions.started_at', 'sessions.operator_id'])
    .select(['sessions.pause_reason', 'sessions.paused_at', 'sessions.ends_at'])
    .select(['sessions.stop_reason', 'sessions.stop_at'])
    .select(['operators.display_name as operator_name', 'stoppers.display_name as stop_by_name'])
    .select([
      sql<AutonomyMode | null>`case when robot_presence.connected then robot_presence.mode end`.as('mode'),
    ])
    .select([liveState.as('state'), firstLiveCamera.as('camera')])
    .orderBy(attentionOrder)
    .orderBy('robots.name')
    .orderBy('robots.id')
    .limit(limit)

type LiveSession = NonNullable<LiveRobot['session']>
type LiveRow = Awaited<ReturnType<ReturnType<typeof listQuery>['execute']>>[number]

function holderOf({ holder_id, holder_kind, holder_name }: LiveRow): LiveSession['holder'] {
  if (holder_id === null || holder_kind === null) return null
  return { user_id: holder_id, kind: holder_kind as ControlHolder['kind'], name: holder_name ?? '' }
}

function sessionOf(row: LiveRow): LiveSession | null {
  const { session_id: id, status, started_at, operator_id, operator_name, stop_reason, stop_at } = row
  const { mode, recording_status, paused_reason } = row
  if (id === null || status === null || started_at === null || operator_id === null) return null
  return {
    id,
    status,
    started_at: iso(started_at),
    operator_id,
    operator_name: operator_name ?? '',
    pause_reason: row.pause_reason,
    paused_at: iso(row.paused_at),
    ends_at: iso(row.ends_at),
    stop:
      stop_at === null || stop_reason === null
        ? null
        : {
            reason: stop_reason,
            at: iso(stop_at),
            by_name: row.stop_by_name,
            clear_requested_at: iso(row.stop_clear_requested_at),
          },
    requested_minutes: row.requested_minutes,
    ...(row.epoch !== null && { holder: holderOf(row) }),
    asks_for_control: row.asks_for_control,
    recording: mode && recording_status && { mode, status: recording_status, paused_reason },
  }
}

const robotOf = (row: LiveRow): LiveRobot => ({
  id: row.id,
  name: row.name,
  robot_type: row.robot_type,
  tags: row.tags,
  state: row.state,
  on_hold: row.on_hold,
  stream_url: row.stream_url,
  camera: row.camera,
  battery: row.battery,
  battery_at: iso(row.battery_at),
  mode: row.mode,
  last_heartbeat: iso(row.last_heartbeat),
  session: sessionOf(row),
})

/** Creates the service that reads the live robots of owners: connected, or in an open session. */
export function createLiveRobots({ db, now }: { db: Db; now: () => Date }) {
  /** Counts the robots by state. Counts without sessions come from an index; sessions are few. */
  async function counts(scope: Scope): Promise<Record<RobotState, number>> {
    const [byStatus, bySession] = await Promise.all([
      db
        .selectFrom('robots')
        .select(['status', ({ fn }) => fn.countAll<string>().as('count')])
        .where(ownedBy(scope))
        .where('deleted_at', 'is', null)
        .groupBy('status')
        .execute(),
      liveRobots(db, scope)
        .where('robots.status', '=', 'IN_SESSION')
        .select([stateInSession.as('state'), ({ fn }) => fn.countAll<string>().as('count')])
        .groupBy(stateInSession)
        .execute(),
    ])
    const inStatus = (status: string) => Number(byStatus.find((row) => row.status === status)?.count ?? 0)
    const inState = (state: RobotState) => Number(bySession.find((row) => row.state === state)?.count ?? 0)
    return {
      READY: inStatus('AVAILABLE'),
      DRIVING: inState('DRIVING'),
      PAUSED: inState('PAUSED'),
      STOPPED: inState('STOPPED'),
      LOST: inState('LOST'),
      OFFLINE: inStatus('OFFLINE'),
    }
  }

  return {
    counts,

    /** Returns the live robots of an owner, at most `limit`, and their total number. */
    async list(scope: Scope, query: ListLiveRobots): Promise<LiveRobotList> {
      const at = now()
      const [rows, { total }] = await Promise.all([
        listQuery(db, scope, query, at).execute(),
        liveRobots(db, scope, query.robotId)
          .select(({ fn }) => fn.countAll<string>().as('total'))
          .executeTakeFirstOrThrow(),
      ])
      return { at: iso(at), total: Number(total), robots: rows.map(robotOf) }
    },
  }
}
export type LiveRobots = ReturnType<typeof createLiveRobots>
