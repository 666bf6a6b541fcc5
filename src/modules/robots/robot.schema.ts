import { exampleIds, idOf, RobotStatus, StopClear } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, prose, queryInteger, timestamp } from '../../core/http/fields.ts'
import { LogEventLevel } from './robot-log.schema.ts'

const examples = {
  name: { examples: ['Warehouse arm'] },
  robotType: { examples: ['so-101'] },
  hardwareId: { description: 'Of the motor board; unique to one robot.', examples: ['board-0001'] },
  streamUrl: {
    description:
      'Address of the video of the robot, for its owner and for the operator of an open session: http, https, rtsp, ' +
      'rtsps, ws or wss. Empty when there is none.',
    examples: ['https://cam.example.com/1'],
  },
  tags: { examples: [['arm', 'berlin']] },
  notes: { examples: ['The gripper is new'] },
  requireCertification: {
    description: 'Whether operators need a certification for its type.',
    examples: [false],
  },
  latencyLimit: {
    description:
      'The gateway drops commands that take longer than this, in milliseconds, and stops the robot.',
    examples: [400],
  },
  stopClear: {
    description:
      'Who may clear a remote stop that the owner or an admin requested: the owner or an admin (owner), or the ' +
      'operator of the session too (anyone).',
    examples: ['owner'],
  },
  onHold: {
    description:
      'Whether no session can be started on it. The platform sets it when a session ends under a remote stop that only ' +
      'the owner or an admin can clear, unless one of them ends it; the owner sets and releases it at any time.',
    examples: [false],
  },
  lowBattery: {
    description:
      'Below which charge, 0 to 1, you and the operator in session are notified, once for each discharge; 0: never.',
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

const settings = {
  name: line(100).meta(examples.name),
  stream_url: streamUrl,
  tags,
  notes: prose(4_000).nullable().meta(examples.notes),
  require_certification: z.boolean().meta(examples.requireCertification),
  latency_limit_ms: z.number().int().min(50).max(10_000).meta(examples.latencyLimit),
  stop_clear: StopClear.meta(examples.stopClear),
  on_hold: z.boolean().meta(examples.onHold),
  low_battery_threshold: z.number().min(0).max(1).meta(examples.lowBattery),
  log_event_level: LogEventLevel,
}

/** Body of POST /api/client/robots. */
export const RegisterRobot = z.strictObject({
  name: settings.name,
  robot_type: line(100).meta(examples.robotType),
  hardware_id: line(200).meta(examples.hardwareId),
  stream_url: streamUrl.default(''),
  tags: tags.default([]),
  notes: settings.notes.default(null),
  require_certification: z
    .boolean()
    .meta({ ...examples.requireCertification, description: 'Unless it is given, the platform decides.' })
    .optional(),
})
export type RegisterRobot = z.infer<typeof RegisterRobot>

/** Words of a search that are looked at. */
const MAX_WORDS = 10

/** Query of GET /api/client/robots. A limit over 100 is refused: clamping would make page loops skip rows unseen. */
export const ListRobots = z.strictObject({
  limit: queryInteger(1, 100).default(50),
  offset: queryInteger(0, 10_000_000).default(0),
  search: z
    .string()
    .max(200)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text')
    .refine((text) => wordsOf(text).length <= MAX_WORDS, `must have at most ${MAX_WORDS} words`)
    .meta({
      description: 'Words that all occur in name, type, hardware id or tags, whatever their case.',
      examples: ['warehouse'],
    })
    .optional(),
  status: RobotStatus.optional(),
  robot_type: line(100).meta(examples.robotType).optional(),
})
export type ListRobots = z.output<typeof ListRobots>

/** Returns the words of a search. */
export const wordsOf = (search: string): string[] => search.split(/\s+/).filter((word) => word !== '')

/** Body of PATCH /api/client/robots/{id}. What a robot is (type, hardware) does not change. */
export const UpdateRobot = z
  .strictObject(settings)
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'Name at least one field to change')
export type UpdateRobot = z.infer<typeof UpdateRobot>

/** The Robot of the specification, exactly. */
export const RobotView = z
  .object({
    id: idOf('robot'),
    name: z.string().meta(examples.name),
    robot_type: z.string().meta(examples.robotType),
    status: RobotStatus,
    control_url: z.string().meta({
      description: 'Where the robot connects, over WebSocket.',
      examples: [`wss://gateway.example.com/robots/${exampleIds.robot}/control`],
    }),
    stream_url: z.string().meta(examples.streamUrl),
    hardware_id: z.string().meta(examples.hardwareId),
    last_online: timestamp.nullable().meta({ description: 'Null until the robot has connected once.' }),
    last_heartbeat: timestamp.nullable().meta({ description: 'Null until the robot has connected once.' }),
    total_hours: z.number().meta({ description: 'Hours of session time.', examples: [12.5] }),
    tags: z.array(z.string()).meta(examples.tags),
    notes: z.string().nullable().meta(examples.notes),
    created_at: timestamp.meta({ examples: ['2026-10-05T08:30:00.000Z'] }),
  })
  .meta({ id: 'Robot', description: 'A robot as its owner sees it.' })
export type RobotView = z.infer<typeof RobotView>

/** One robot read alone: also its settings. */
export const RobotDetail = RobotView.extend({
  require_certification: z.boolean().meta(examples.requireCertification),
  latency_limit_ms: z.number().int().meta(examples.latencyLimit),
  stop_clear: StopClear.meta(examples.stopClear),
  on_hold: z.boolean().meta(examples.onHold),
  battery: z
    .number()
    .nullable()
    .meta({
      description: 'Charge as last reported, 0 to 1; null until a heartbeat carries one.',
      examples: [0.83],
    }),
  battery_at: timestamp.nullable().meta({ description: 'When it was reported.' }),
  low_battery_threshold: z.number().meta(examples.lowBattery),
  log_event_level: LogEventLevel,
}).meta({ id: 'RobotDetail', description: 'A robot with its settings.' })
export type RobotDetail = z.infer<typeof RobotDetail>

const robot_token = z.string().meta({
  description: 'What the robot connects with.',
  examples: [`${exampleIds.robot}.1.4f9d…`],
})

/** The answer to a registration; the token is shown this once. */
export const RegisteredRobot = RobotDetail.extend({ robot_token }).meta({
  id: 'RegisteredRobot',
  description: 'A new robot, with its token this once.',
})

/** The answer to a new token; the old one is worth nothing from now on. */
export const RobotToken = z.object({ robot_token }).meta({
  id: 'RobotToken',
  description: 'The token of a robot, shown this once.',
})

/** A robot as an operator may see it: nothing of how to reach or recognise its hardware. */
export const AvailableRobot = z
  .object({
    id: idOf('robot'),
    name: z.string().meta(examples.name),
    robot_type: z.string().meta(examples.robotType),
    status: RobotStatus,
    tags: z.array(z.string()).meta(examples.tags),
    last_heartbeat: timestamp.nullable(),
  })
  .meta({ id: 'AvailableRobot', description: 'A robot as operators see it.' })
