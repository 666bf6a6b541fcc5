import { exampleIds, idOf, Role, SessionStatus, StopClear } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../../core/http/fields.ts'
import { StoredControlSchema, StoredTelemetrySchema } from '../../robots/index.ts'

/** Response of POST /api/sessions. */
export const CreatedSession = z
  .object({
    sessionId: idOf('session'),
    status: SessionStatus.meta({ description: 'ACTIVE for a started session, PENDING for a scheduled one.' }),
  })
  .meta({ id: 'CreatedSession', description: 'The id and status of a new session.' })

const cents = 'Amount in cents; null until the session is COMPLETED.'
const whole = z.number().int()

const shared = {
  id: idOf('session'),
  status: SessionStatus,
  started_at: timestamp.nullable().meta({ description: 'Null until the session starts.' }),
  ended_at: timestamp.nullable().meta({ description: 'Null until the session is COMPLETED or CANCELLED.' }),
  duration_minutes: whole.nullable().meta({
    description: 'Minutes from start to end, or to now, rounded up; null until the session starts.',
  }),
  client_charge_cents: whole.nullable().meta({
    description: `${cents} Also null for members of the owner's organization who may not see its costs.`,
  }),
  rating: whole
    .min(1)
    .max(5)
    .nullable()
    .meta({ description: 'Number of stars, 1 to 5; null until the session is rated.' }),
  created_at: timestamp,
  robot_id: idOf('robot'),
  robot_name: z.string(),
  robot_type: z.string(),
  operator_name: z.string(),
  own_operator: z.literal(true).optional().meta({
    description:
      "Present if the operator drives as a member of the robot's organization. Such a session costs nothing.",
  }),
}

/** A completed session with 24 billed minutes at 50 cents each. */
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
  description: 'A session. The operator sees the earnings, the owner of the robot sees the collected data.',
})
export type SessionView = z.infer<typeof SessionView>

/** Response of GET /api/sessions, and the content of a JSON export. */
export const SessionList = z.object({ sessions: z.array(SessionView) })

const age = (which: string) =>
  z
    .number()
    .nullable()
    .meta({ description: `${which}, in milliseconds; null without measurements.` })
const speedScale = (which: string) =>
  z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .meta({ description: `${which}, 0 to 1; null if the latency was never known.` })
const speed = z
  .object({
    min_scale: speedScale('Lowest speed scale'),
    mean_scale: speedScale(
      'Mean speed scale over the time in which the robot could be driven and the latency was known',
    ),
    limited_seconds: whole.meta({
      description: 'Time in which the speed was limited, also because the latency was unknown.',
    }),
    picture_limited_seconds: whole.meta({
      description: "The part of it in which the age of the operator's picture was the larger cause.",
    }),
  })
  .nullable()
  .meta({
    description:
      'How far the latency and the age of the picture limited the speed; null without a latency budget of the robot.',
  })
const video = z
  .object({
    p50_ms: age(
      "50th percentile of the age of the operator's picture, over the commands that reached the robot",
    ),
    p95_ms: age('95th percentile of that age'),
    max_ms: age('Maximum of that age'),
    dropped: whole.meta({
      description:
        "Number of commands that the gateway dropped because the picture was older than the robot's limit.",
    }),
  })
  .nullable()
  .meta({ description: 'By which picture the operator drove; null if its program reported no age.' })
const latency = z.object({
  p50_ms: age('50th percentile of the latency'),
  p95_ms: age('95th percentile of the latency'),
  max_ms: age('Maximum latency'),
  frames: whole.meta({ description: 'Number of commands that reached the robot.' }),
  dropped: whole.meta({ description: 'Number of commands that the gateway dropped.' }),
  speed,
  video,
})

const details = {
  operator_id: idOf('operator').meta({ description: 'The user who operates the robot.' }),
  client_id: idOf('client').meta({ description: 'The user who owns the robot.' }),
  rate_cents_per_minute: whole.nullable().meta({
    description:
      'Price of a begun minute for the client; null until the session starts, and for members who may not see costs.',
  }),
  billable_seconds: whole.meta({
    description:
      'ACTIVE time so far without outages of the robot, rounded up to seconds. The client pays each begun minute of it.',
  }),
  outage_seconds: whole.meta({
    description:
      'ACTIVE time in which the robot was disconnected, rounded up to seconds. It is neither billed nor earned.',
  }),
  robot_offline_seconds: whole.meta({
    description: 'Time in which the robot was offline, in ACTIVE time and in pauses, rounded up to seconds.',
  }),
  scheduled_for: timestamp.nullable().meta({ description: 'Null when the session started immediately.' }),
  planned_minutes: whole.nullable().meta({
    description: 'Planned length, including extensions; null when no end is planned.',
  }),
  planned_end: timestamp.nullable().meta({
    description:
      'The scheduled time plus the planned length, or the start plus the planned length when the session started early ' +
      'or immediately. The session does not end automatically at this time.',
  }),
  paused_seconds: whole.meta({ description: 'Length of all pauses, including the current one.' }),
  pause_reason: z.string().nullable().meta({ description: 'Null unless the session is PAUSED.' }),
  ends_at: timestamp.nullable().meta({
    description:
      'When the platform ends the PAUSED session because its operator is gone; null unless that is announced.',
  }),
  rating_comment: z.string().nullable().meta({ description: 'Null without a rating, or without a comment.' }),
  end_reason: z
    .string()
    .nullable()
    .meta({ description: 'Null until the session is COMPLETED or CANCELLED.' }),
  stream_url: z
    .string()
    .nullable()
    .meta({
      description:
        "Address of the robot's video; null when the robot has no video, and for the operator while the session is not " +
        'open.',
    }),
  control: z.object({
    connected: z.boolean().meta({ description: 'Whether the robot is connected.' }),
    operator_joined: z.boolean().meta({
      description:
        'Whether the operator has opened a control connection before. When the connection is lost later, the ACTIVE ' +
        'session is PAUSED with operator_lost after a grace period.',
    }),
    operator_gone_since: timestamp.nullable().meta({
      description:
        'When the connection of the operator was found missing in the current pause; null when it is not known to be missing.',
    }),
    stop: z
      .object({
        reason: z.string(),
        at: timestamp,
        by: idOf('client').nullable().meta({ description: 'The user who requested the stop.' }),
        by_role: Role.nullable().meta({
          description: 'The role in which that user requested it: owner (client), operator or admin.',
        }),
        clearable_by: StopClear.meta({
          description:
            'The users who may clear the stop: only the owner or an admin (owner), or also the operator (anyone). It becomes owner ' +
            'as soon as the owner or an admin requests a stop, unless the setting of the robot is anyone.',
        }),
        may_clear: z.boolean().meta({ description: 'Whether you may clear the stop.' }),
        clear_requested_at: timestamp.nullable().meta({
          description: 'When the operator last asked to clear the stop; null without such a request.',
        }),
      })
      .nullable()
      .meta({
        description:
          "The latched remote stop; null when no stop is latched. It complements the machine's own emergency stop " +
          'device and never replaces it.',
      }),
  }),
  latency: latency.nullable().meta({
    description:
      'Latency of commands at the gateway, relative to the fastest command of their connection; ' +
      'null when no control connection has sent commands.',
  }),
  control_schema: StoredControlSchema.nullable().meta({
    description:
      'The commands that the robot accepts: its own control schema or that of its model; null when none is declared.',
  }),
  telemetry_schema: StoredTelemetrySchema.nullable().meta({
    description:
      'The telemetry that the robot sends: its own telemetry schema or that of its model; null when none is declared.',
  }),
}
const operatorDetails = {
  ...details,
  operator_share_percent: whole.min(0).max(100).nullable().meta({
    description:
      'Your share of the charge in percent, by the price plan of the owner; null until the session starts.',
  }),
  earnings_pending_until: timestamp.nullable().meta({
    description:
      'Latest time at which the earnings become available for a payout; null until the session is COMPLETED, and after ' +
      'the earnings have become available.',
  }),
}
const detailsExample = {
  operator_id: exampleIds.operator,
  client_id: exampleIds.client,
  rate_cents_per_minute: 50,
  billable_seconds: 1_420,
  outage_seconds: 0,
  robot_offline_seconds: 0,
  scheduled_for: '2026-11-20T09:30:00.000Z',
  planned_minutes: 30,
  planned_end: '2026-11-20T10:00:00.000Z',
  paused_seconds: 40,
  pause_reason: null,
  ends_at: null,
  rating_comment: 'Careful with the vase, as asked.',
  end_reason: 'ended',
  stream_url: null,
  control: { connected: true, operator_joined: true, operator_gone_since: null, stop: null },
  latency: {
    p50_ms: 3.1,
    p95_ms: 10.9,
    max_ms: 84.2,
    frames: 43_180,
    dropped: 12,
    speed: { min_scale: 1, mean_scale: 1, limited_seconds: 0, picture_limited_seconds: 0 },
    video: { p50_ms: 28.1, p95_ms: 67.2, max_ms: 512, dropped: 0 },
  },
  control_schema: null,
  telemetry_schema: null,
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
        {
          ...operatorExample,
          ...detailsExample,
          operator_share_percent: 70,
          earnings_pending_until: '2027-01-04T09:54:20.000Z',
        },
      ],
    }),
  ])
  .meta({ id: 'SessionDetail', description: 'One session in full, in the view of the caller.' })
export type SessionDetail = z.infer<typeof SessionDetail>
