import { sql } from 'kysely'
import { byId, column, DELETED_NAME, either, LAW, NO_TIME_LIMIT, ofUser } from './personal-data-columns.ts'
import type { PersonalData } from './personal-data-part.ts'

/** What sessions hold about a person; a part of the table in personal-data.ts. */
export const sessionData: readonly PersonalData[] = [
  {
    part: 'sessions_operated',
    table: 'sessions',
    of: column('operator_id'),
    contains: 'sessions that you drove: robot, times, earnings, rating and its comment',
    kept: LAW,
    why: 'they are what invoices and earnings are made of, and the record of who moved a machine',
    exported: byId(
      `id recorded_robot_name recorded_robot_type recorded_operator_name status scheduled_for started_at ended_at
       end_reason billable_minutes operator_earnings_cents own_operator rating rating_comment created_at`,
    ),
    deletion: {
      set: () => sql`recorded_operator_name = ${DELETED_NAME}, rating_comment = null`,
      text: `your name becomes "${DELETED_NAME}"; the comment of the rating is deleted`,
    },
  },
  {
    part: 'sessions_of_robots',
    table: 'sessions',
    of: column('client_id'),
    contains:
      'sessions with robots of your personal organization: times, charge, your rating and its comment',
    kept: LAW,
    why: 'they are what invoices and earnings are made of, and the record of who moved a machine',
    exported: byId(
      `id robot_id recorded_robot_name recorded_robot_type recorded_client_name status scheduled_for started_at ended_at
       end_reason billable_minutes client_charge_cents own_operator rating rating_comment created_at`,
    ),
    deletion: {
      set: () => sql`recorded_client_name = ${DELETED_NAME}, rating_comment = null`,
      text: `your name becomes "${DELETED_NAME}"; the comment of the rating is deleted`,
    },
  },
  {
    part: 'session_log',
    table: 'session_events',
    of: ({ id }) =>
      sql<boolean>`session_id in (select id from sessions where operator_id = ${id}::uuid or client_id = ${id}::uuid)`,
    contains: 'starts, pauses, stops and ends of your sessions with the id of who caused them and the reason',
    kept: NO_TIME_LIMIT,
    why: 'what happened with a machine must stay known: stops, and who cleared them',
    exported: 'it is in `GET /api/sessions/{id}/events`',
    deletion: {
      where: ({ id }) =>
        sql<boolean>`(type = 'session.rated' and session_id in (
          select id from sessions where operator_id = ${id}::uuid or client_id = ${id}::uuid))`,
      set: () => sql`data = data - 'comment'`,
      text: 'the comment of a rating is deleted',
    },
  },
  {
    part: 'control_held',
    table: 'control_intervals',
    of: ofUser,
    contains: 'when you controlled a robot in a session, in what part, and what that cost and earned',
    kept: LAW,
    why: 'it is what charges and earnings are made of, and the record of who moved a machine',
    exported: 'it is in `GET /api/sessions/{id}/events`',
    deletion: 'kept',
  },
  {
    part: 'control_participants',
    table: 'control_participants',
    of: ofUser,
    contains: 'sessions in which you controlled the robot, were offered control or asked for it',
    kept: NO_TIME_LIMIT,
    why: 'to show you these sessions',
    exported: byId('id session_id created_at'),
    deletion: 'kept',
  },
  {
    part: 'control_requests',
    table: 'control_requests',
    of: either('from_id', 'to_id'),
    contains: 'offers of control and requests for it, with the reason',
    kept: NO_TIME_LIMIT,
    why: 'the other participants read them',
    exported: byId('id session_id kind reason created_at'),
    deletion: {
      where: column('from_id'),
      set: () => sql`reason = null`,
      text: 'the reasons that you wrote are deleted',
    },
  },
]
