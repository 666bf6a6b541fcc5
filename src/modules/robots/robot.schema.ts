import {
  ControlLoss,
  exampleIds,
  idOf,
  RecordingMode,
  RobotOperators,
  RobotStatus,
  StopClear,
} from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, prose, timestamp } from '../../core/http/fields.ts'
import {
  ControlSchemaInput,
  controlSchemaExamples,
  StoredControlSchema,
  StoredTelemetrySchema,
  TelemetrySchemaInput,
  telemetrySchemaExamples,
} from './declared-schema-fields.ts'
import { LogEventLevel } from './robot-log.schema.ts'

const examples = {
  name: { examples: ['Warehouse arm'] },
  robotType: { examples: ['so-101'] },
  hardwareId: { description: 'Id of the motor board, unique per robot.', examples: ['board-0001'] },
  streamUrl: {
    description:
      "Address of the robot's video, visible to its owner and to the operator of an open session: http, https, rtsp, " +
      'rtsps, ws or wss. Empty when the robot has no video.',
    examples: ['https://cam.example.com/1'],
  },
  tags: { examples: [['arm', 'berlin']] },
  notes: { examples: ['The gripper is new'] },
  operatorNotes: {
    description: 'Notes of the owner for operators, who see them before they start a session; null for none.',
    examples: ['Keep away from the shelf on the left.'],
  },
  requireCertification: {
    description: "Whether operators need a certification for the robot's type.",
    examples: [false],
  },
  latencyLimit: {
    description:
      'Latency limit in milliseconds. The gateway drops commands that take longer, and stops the robot.',
    examples: [400],
  },
  latencyBudget: {
    description:
      'Latency budget in milliseconds. Above it the platform limits the speed of the robot to budget divided by latency, ' +
      'so that the robot drives no farther within the latency than at full speed within the budget; null: no limit.',
    examples: [200],
  },
  videoLimit: {
    description:
      "Limit of the age of the operator's picture in milliseconds. The gateway drops commands that were given by an older " +
      'picture, and halts the robot; null: no limit. It has no effect on programs of operators that do not report the age.',
    examples: [500],
  },
  controlSchema: {
    description: "Overrides the control schema of the robot's model; null for none.",
    examples: controlSchemaExamples,
  },
  telemetrySchema: {
    description: "Overrides the telemetry schema of the robot's model; null for none.",
    examples: telemetrySchemaExamples,
  },
  strictControl: {
    description:
      'Whether the gateway drops commands that the control schema does not allow, and all binary commands. Without a ' +
      'control schema it has no effect.',
    examples: [false],
  },
  stopClear: {
    description:
      'The users who may clear a remote stop that the owner or an admin requested: only the owner or an admin (owner), or also ' +
      'the operator of the session (anyone).',
    examples: ['owner'],
  },
  recording: {
    description:
      'The content of the recordings of its sessions: nothing (off), control and telemetry (control), or these with the ' +
      'cameras (video). Operators see it before and during a session. A change applies to an open session at once.',
    examples: ['control'],
  },
  recordingDays: {
    description:
      'Days after which a recording is deleted, counted from the end of its session; null: it is kept.',
    examples: [90],
  },
  onHold: {
    description:
      'Whether the robot rejects new sessions. The platform sets it when a session ends under a remote stop that only ' +
      'the owner or an admin can clear, unless one of them ends the session. The owner can set and release it at any time.',
    examples: [false],
  },
  group: {
    description: 'The group of the organization that the robot belongs to; null for none.',
  },
  lowBattery: {
    description:
      'Charge, 0 to 1, below which the platform notifies the owner and the operator in session, once per discharge; ' +
      '0: never.',
    examples: [0.2],
  },
}

const streamUrl = z
  .union(
    [z.literal(''), z.url({ protocol: /^(https?|rtsps?|wss?)$/ }).max(2_000)],
    'must be a web address (https, rtsp or wss), or empty',
  )
  .meta(examples.streamUrl)
const tags = z.array(line(50)).max(20).meta(examples.tags)

/** The latency budget of a new robot whose owner does not specify one. */
const DEFAULT_LATENCY_BUDGET_MS = 200

/** The limit of the picture's age of a new robot whose owner does not specify one. */
const DEFAULT_VIDEO_LIMIT_MS = 500

const settings = {
  name: line(100).meta(examples.name),
  stream_url: streamUrl,
  tags,
  notes: prose(4_000).nullable().meta(examples.notes),
  operator_notes: prose(2_000).nullable().meta(examples.operatorNotes),
  require_certification: z.boolean().meta(examples.requireCertification),
  latency_limit_ms: z.number().int().min(50).max(10_000).meta(examples.latencyLimit),
  latency_budget_ms: z.number().int().min(50).max(10_000).nullable().meta(examples.latencyBudget),
  video_limit_ms: z.number().int().min(100).max(60_000).nullable().meta(examples.videoLimit),
  control_schema: ControlSchemaInput.nullable().meta(examples.controlSchema),
  telemetry_schema: TelemetrySchemaInput.nullable().meta(examples.telemetrySchema),
  strict_control: z.boolean().meta(examples.strictControl),
  stop_clear: StopClear.meta(examples.stopClear),
  recording: RecordingMode.meta(examples.recording),
  recording_days: z.number().int().min(1).max(3_650).nullable().meta(examples.recordingDays),
  on_hold: z.boolean().meta(examples.onHold),
  low_battery_threshold: z.number().min(0).max(1).meta(examples.lowBattery),
  log_event_level: LogEventLevel,
  group_id: idOf('group').nullable().meta(examples.group),
  operators: RobotOperators,
  control_loss: ControlLoss,
}

/** Body of POST /api/client/robots. */
export const RegisterRobot = z.strictObject({
  name: settings.name,
  robot_type: line(100).meta(examples.robotType),
  hardware_id: line(200).meta(examples.hardwareId),
  stream_url: streamUrl.default(''),
  tags: tags.default([]),
  notes: settings.notes.default(null),
  latency_budget_ms: settings.latency_budget_ms.default(DEFAULT_LATENCY_BUDGET_MS),
  video_limit_ms: settings.video_limit_ms.default(DEFAULT_VIDEO_LIMIT_MS),
  require_certification: z
    .boolean()
    .meta({
      ...examples.requireCertification,
      description:
        "Whether operators need a certification for the robot's type. Defaults to the platform's setting.",
    })
    .optional(),
})
export type RegisterRobot = z.infer<typeof RegisterRobot>

/** Body of PATCH /api/client/robots/{id}. Type and hardware id of a robot cannot change. */
export const UpdateRobot = z
  .strictObject(settings)
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'Name at least one field to change')
export type UpdateRobot = z.infer<typeof UpdateRobot>

/** The Robot of the specification, without additional fields. */
export const RobotView = z
  .object({
    id: idOf('robot'),
    name: z.string().meta(examples.name),
    robot_type: z.string().meta(examples.robotType),
    status: RobotStatus,
    control_url: z.string().meta({
      description: 'WebSocket URL that the robot connects to.',
      examples: [`wss://gateway.example.com/robots/${exampleIds.robot}/control`],
    }),
    stream_url: z.string().meta(examples.streamUrl),
    hardware_id: z.string().meta(examples.hardwareId),
    last_online: timestamp
      .nullable()
      .meta({ description: 'When the robot was last online; null before its first connection.' }),
    last_heartbeat: timestamp
      .nullable()
      .meta({ description: 'Time of the last heartbeat; null before the first one.' }),
    total_hours: z.number().meta({ description: 'Hours of session time.', examples: [12.5] }),
    tags: z.array(z.string()).meta(examples.tags),
    notes: z.string().nullable().meta(examples.notes),
    created_at: timestamp.meta({ examples: ['2026-10-05T08:30:00.000Z'] }),
  })
  .meta({ id: 'Robot', description: 'A robot as its owner sees it.' })
export type RobotView = z.infer<typeof RobotView>

/** One robot with its settings. */
export const RobotDetail = RobotView.extend({
  operator_notes: z.string().nullable().meta(examples.operatorNotes),
  require_certification: z.boolean().meta(examples.requireCertification),
  latency_limit_ms: z.number().int().meta(examples.latencyLimit),
  latency_budget_ms: z.number().int().nullable().meta(examples.latencyBudget),
  video_limit_ms: z.number().int().nullable().meta(examples.videoLimit),
  control_schema: StoredControlSchema.nullable().meta(examples.controlSchema),
  telemetry_schema: StoredTelemetrySchema.nullable().meta(examples.telemetrySchema),
  strict_control: z.boolean().meta(examples.strictControl),
  stop_clear: StopClear.meta(examples.stopClear),
  recording: RecordingMode.meta(examples.recording),
  recording_days: z.number().int().nullable().meta(examples.recordingDays),
  on_hold: z.boolean().meta(examples.onHold),
  battery: z
    .number()
    .nullable()
    .meta({
      description: 'Last reported charge, 0 to 1; null until a heartbeat reports a charge.',
      examples: [0.83],
    }),
  battery_at: timestamp.nullable().meta({ description: 'When the robot reported the charge.' }),
  low_battery_threshold: z.number().meta(examples.lowBattery),
  log_event_level: LogEventLevel,
  group_id: idOf('group')
    .optional()
    .meta({ description: 'The group that the robot belongs to; missing without one.' }),
  operators: RobotOperators.optional().meta({
    description:
      'Who may drive the robot; missing for members of the organization and operators of the marketplace.',
  }),
  control_loss: ControlLoss.optional().meta({
    description:
      'Who gets control when the connection of its holder is lost; missing for the last person who held it before and is connected.',
  }),
}).meta({ id: 'RobotDetail', description: 'A robot with its settings.' })
export type RobotDetail = z.infer<typeof RobotDetail>

const robot_token = z.string().meta({
  description: 'The token with which the robot connects.',
  examples: [`${exampleIds.robot}.1.4f9d…`],
})

/** Response of POST /api/client/robots, the only one that contains the first token. */
export const RegisteredRobot = RobotDetail.extend({ robot_token }).meta({
  id: 'RegisteredRobot',
  description: 'A new robot with its token. The token is shown only once.',
})

/** Response of POST /api/client/robots/{id}/token. The old token is invalid from then on. */
export const RobotToken = z.object({ robot_token }).meta({
  id: 'RobotToken',
  description: 'The new token of a robot. It is shown only once.',
})

/** A robot as operators see it, without its addresses and its hardware id. */
export const AvailableRobot = z
  .object({
    id: idOf('robot'),
    name: z.string().meta(examples.name),
    robot_type: z.string().meta(examples.robotType),
    status: RobotStatus,
    tags: z.array(z.string()).meta(examples.tags),
    last_heartbeat: timestamp.nullable(),
    battery: z
      .number()
      .nullable()
      .meta({
        description: 'Last reported charge, 0 to 1; null until the robot reports it.',
        examples: [0.83],
      }),
    owner_name: z.string().meta({ examples: ['Ada'] }),
    earnings_cents_per_minute: z
      .number()
      .meta({ description: 'Your earnings for each started minute, at the present price.', examples: [35] }),
    gateway_url: z
      .string()
      .nullable()
      .meta({
        description:
          'WebSocket origin of the gateway that the robot is connected to, for a measurement of the round trip; null while ' +
          'the robot is offline.',
        examples: ['wss://gateway.example.com'],
      }),
    busy_since: timestamp
      .nullable()
      .meta({ description: 'When its open session started; null without one.', examples: [null] }),
    free_at: timestamp.nullable().meta({
      description: 'The planned end of its open session; null without one, or if no end is planned.',
      examples: [null],
    }),
  })
  .meta({ id: 'AvailableRobot', description: 'A robot as operators see it.' })

/** Body of POST /api/client/robots/{id}/transfer. */
export const TransferRobot = z.strictObject({
  organizationId: idOf('organization').meta({
    description: 'The organization that gets the robot. You must be allowed to register robots in it.',
  }),
})
