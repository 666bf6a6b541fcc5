import { exampleIds, idOf, Role, SessionStatus, StopClear } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../../core/http/fields.ts'

/** Answer of POST /api/sessions. */
export const CreatedSession = z
  .object({
    sessionId: idOf('session'),
    status: SessionStatus.meta({ description: 'ACTIVE when it has started, PENDING when it is scheduled.' }),
  })
  .meta({ id: 'CreatedSession', description: 'The id and status of a new session.' })

const cents = 'In cents; null until the session is COMPLETED.'
const whole = z.number().int()

const shared = {
  id: idOf('session'),
  status: SessionStatus,
  started_at: timestamp.nullable().meta({ description: 'Null until it has started.' }),
  ended_at: timestamp.nullable().meta({ description: 'Null until it is COMPLETED or CANCELLED.' }),
  duration_minutes: whole.nullable().meta({
    description: 'From start to end, or to now, begun minutes counted whole; null until it has started.',
  }),
  client_charge_cents: whole.nullable().meta({ description: cents }),
  rating: whole.min(1).max(5).nullable().meta({ description: 'Stars, 1 to 5; null until it is rated.' }),
  created_at: timestamp,
  robot_id: idOf('robot'),
  robot_name: z.string(),
  robot_type: z.string(),
  operator_name: z.string(),
}

/** A session of half an hour that is over: 24 begun minutes were ACTIVE, at 50 cents each. */
const example = {
  id: exampleIds.session,
  status: 'COMPLETED',
  started_at: '2026-11-20T09:30:00.000Z',
  ended_at: '2026-11-20T09:54:20.000Z',
  duration_minutes: 25,
  client_charge_cents: 1_200,
  rating: 5,
  created_at: '2026-11-19T17:05:00.000Z',
  robot_id: exampleIds.robot,
  robot_name: 'Warehouse arm',
  robot_type: 'so-101',
  operator_name: 'Grace',
}
const clientExample = { ...example, episodes_collected: 12, data_collected_mb: 340.5 }
const operatorExample = { ...example, operator_earnings_cents: 840 }

const clientView = { ...shared, episodes_collected: z.number(), data_collected_mb: z.number() }
/** The Session as the robot's owner sees it. */
export const ClientSession = z.object(clientView).meta({
  id: 'ClientSession',
  description: 'A session as the owner of the robot sees it.',
  examples: [clientExample],
})
const operatorView = { ...shared, operator_earnings_cents: whole.nullable().meta({ description: cents }) }
/** The Session as its operator sees it. */
export const OperatorSession = z.object(operatorView).meta({
  id: 'OperatorSession',
  description: 'A session as its operator sees it.',
  examples: [operatorExample],
})
export const SessionView = z.union([ClientSession, OperatorSession]).meta({
  id: 'Session',
  description:
    'A session of yours: as its operator you see your earnings, as the owner of the robot what was collected.',
})
export type SessionView = z.infer<typeof SessionView>

/** Answer of GET /api/sessions, and what an export to JSON holds. */
export const SessionList = z.object({ sessions: z.array(SessionView) })

const age = (which: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `${which}, in milliseconds; null when none was measured.` })
const latency = z.object({
  p50_ms: age('Half of the commands were no later than this'),
  p95_ms: age('19 of 20 were no later than this'),
  max_ms: age('The latest'),
  frames: whole.meta({ description: 'Commands that reached the robot.' }),
  dropped: whole.meta({ description: 'Commands that did not.' }),
})

const details = {
  operator_id: idOf('operator').meta({ description: 'The user who drives.' }),
  client_id: idOf('client').meta({ description: 'The user who owns the robot.' }),
  rate_cents_per_minute: whole.nullable().meta({
    description: 'What a begun minute costs the client; null until it has started.',
  }),
  billable_seconds: whole.meta({
    description:
      'ACTIVE time so far without outages of the robot, begun seconds counted whole; its begun minutes are charged.',
  }),
  outage_seconds: whole.meta({
    description:
      'ACTIVE time in which the robot was away, begun seconds counted whole: neither billed nor earned.',
  }),
  scheduled_for: timestamp.nullable().meta({ description: 'Null when it was started at once.' }),
  planned_minutes: whole.nullable().meta({
    description: 'The length that was planned, extensions included; null when no end is planned.',
  }),
  planned_end: timestamp.nullable().meta({
    description:
      'So long after its scheduled time, or after its start when it started early or at once. It does not end by itself then.',
  }),
  paused_seconds: whole.meta({ description: 'Of all pauses, the present one included.' }),
  pause_reason: z.string().nullable().meta({ description: 'Null unless it is PAUSED.' }),
  rating_comment: z.string().nullable().meta({ description: 'Null without a rating, or without a comment.' }),
  end_reason: z.string().nullable().meta({ description: 'Null until it is COMPLETED or CANCELLED.' }),
  stream_url: z.string().nullable().meta({
    description:
      "Where the robot's video is; null when it has none, and to its operator while the session is not open.",
  }),
  control: z.object({
    connected: z.boolean().meta({ description: 'Whether the robot is connected.' }),
    operator_joined: z.boolean().meta({
      description:
        "Whether the operator's control connection has been there once. An ACTIVE session that the operator has joined " +
        'and lost is PAUSED with operator_lost after a grace.',
    }),
    stop: z
      .object({
        reason: z.string(),
        at: timestamp,
        by: idOf('client').nullable().meta({ description: 'The user who stopped the robot.' }),
        by_role: Role.nullable().meta({
          description: 'In which part they did: as the owner (client), the operator or an admin.',
        }),
        clearable_by: StopClear.meta({
          description:
            'Who may clear it: the owner or an admin (owner), or the operator too (anyone). It is owner as soon as ' +
            'the owner or an admin has requested one of the stops in force, unless the robot is set otherwise.',
        }),
        may_clear: z.boolean().meta({ description: 'Whether you may clear it.' }),
        clear_requested_at: timestamp.nullable().meta({
          description: 'When the operator last asked for its clearing; null while they have not.',
        }),
      })
      .nullable()
      .meta({
        description:
          "The remote stop in force; null when there is none. It complements the machine's own emergency stop " +
          'device and never replaces it.',
      }),
  }),
  latency: latency.nullable().meta({
    description:
      'How late commands arrived at the gateway, compared with the quickest of their connection; ' +
      'null when the session was never driven.',
  }),
}
const operatorDetails = {
  ...details,
  earnings_pending_until: timestamp.nullable().meta({
    description:
      'Until when at the latest the earnings are not available for a payout; null until COMPLETED, and once they are available.',
  }),
}
const detailsExample = {
  operator_id: exampleIds.operator,
  client_id: exampleIds.client,
  rate_cents_per_minute: 50,
  billable_seconds: 1_420,
  outage_seconds: 0,
  scheduled_for: '2026-11-20T09:30:00.000Z',
  planned_minutes: 30,
  planned_end: '2026-11-20T10:00:00.000Z',
  paused_seconds: 40,
  pause_reason: null,
  rating_comment: 'Careful with the vase, as asked.',
  end_reason: 'ended',
  stream_url: null,
  control: { connected: true, operator_joined: true, stop: null },
  latency: { p50_ms: 3.1, p95_ms: 10.9, max_ms: 84.2, frames: 43_180, dropped: 12 },
}
export const SessionDetail = z
  .union([
    z.object({ ...clientView, ...details }).meta({
      id: 'ClientSessionDetail',
      description: 'One session in full, as the owner of the robot sees it.',
      examples: [{ ...clientExample, ...detailsExample }],
    }),
    z.object({ ...operatorView, ...operatorDetails }).meta({
      id: 'OperatorSessionDetail',
      description: 'One session in full, as its operator sees it.',
      examples: [
        { ...operatorExample, ...detailsExample, earnings_pending_until: '2027-01-04T09:54:20.000Z' },
      ],
    }),
  ])
  .meta({ id: 'SessionDetail', description: 'One session in full, in your view of it.' })
export type SessionDetail = z.infer<typeof SessionDetail>
