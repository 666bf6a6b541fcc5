import { readFile, stat } from 'node:fs/promises'
import { CAMERA_NAME } from '@wheelhouse/protocol'
import { type Document, isNode, LineCounter, parseDocument } from 'yaml'
import { z } from 'zod'
import { Failure } from '../lib/failure.ts'
import { plainType } from './source.ts'

/** Size of a robot.yaml. */
const MAX_CONFIG_BYTES = 256 * 1024
/** Entries of each list. */
const MAX_ENTRIES = 32
/** Joints of a command or of telemetry. */
export const MAX_JOINTS = 64
/** Problems that one message names. */
const MAX_PROBLEMS = 10
/** Rays of a lidar scan in telemetry: two for each degree. */
export const MAX_RAYS = 720

const driveTypes = [
  'geometry_msgs/Twist',
  'geometry_msgs/TwistStamped',
  'sensor_msgs/Joy',
  'trajectory_msgs/JointTrajectory',
  'std_msgs/Float64MultiArray',
] as const
export const telemetryTypes = [
  'nav_msgs/Odometry',
  'sensor_msgs/JointState',
  'sensor_msgs/LaserScan',
  'sensor_msgs/BatteryState',
  'tf2_msgs/TFMessage',
  'geometry_msgs/PoseStamped',
  'geometry_msgs/PoseWithCovarianceStamped',
  'std_msgs/Float64',
  'std_msgs/Float32',
  'std_msgs/Int32',
  'std_msgs/Bool',
  'std_msgs/String',
] as const
const logTypes = ['rosgraph_msgs/Log', 'rcl_interfaces/Log', 'diagnostic_msgs/DiagnosticArray'] as const
const cameraTypes = ['sensor_msgs/CompressedImage', 'sensor_msgs/Image'] as const
const TWIST_FIELDS = ['linear.x', 'linear.y', 'linear.z', 'angular.x', 'angular.y', 'angular.z'] as const

const number = (min: number, max: number, what = 'must be') => {
  const error = `${what} from ${min} to ${max}`
  return z.number({ error }).min(min, { error }).max(max, { error })
}
const whole = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`
  return z.int({ error }).min(min, { error }).max(max, { error })
}
const text = (pattern: RegExp, error: string) => z.string({ error }).regex(pattern, { error })
/** The full name of a topic: `cmd_vel` is `/cmd_vel`. */
const topic = text(/^\/?[A-Za-z_][\w/]{0,254}$/, 'must be the name of a topic, such as /cmd_vel').transform(
  (name) => (name.startsWith('/') ? name : `/${name}`),
)
const frame = text(/^[\w/.-]{1,100}$/, 'must be the name of a frame, such as base_link')
/** Names of fields, as schemas write them, with those of the objects around them. */
const fieldName = text(
  /^\p{L}[\p{L}\p{M}\p{N}_./-]{0,255}$/u,
  'must be the name of a field, such as linear_mps',
)
const list = <T extends z.ZodType>(item: T) =>
  z
    .array(item, { error: 'must be a list' })
    .max(MAX_ENTRIES, { error: `must have at most ${MAX_ENTRIES} entries` })
/** The type of a message in either spelling, as ROS 1 writes it. */
const type = <T extends string>(types: readonly [T, ...T[]]) =>
  z
    .string({ error: 'must be the type of the topic, such as geometry_msgs/Twist' })
    .transform(plainType)
    .pipe(z.enum(types, { error: `must be one of ${types.join(', ')}` }))

const Source = z.strictObject({
  type: z.enum(['ros1', 'rosbridge', 'foxglove'], { error: 'must be ros1, rosbridge or foxglove' }),
  url: z.url({ protocol: /^(https?|wss?)$/, error: 'must be an address, such as ws://localhost:9090' }),
})

const Control = z
  .strictObject({
    topic,
    type: type(driveTypes),
    /** Twist and TwistStamped: fields of the message, and the fields of a command that they get. */
    fields: z
      .partialRecord(
        z.enum(TWIST_FIELDS, { error: `has a field that is none of ${TWIST_FIELDS.join(', ')}` }),
        fieldName,
      )
      .optional(),
    /** Joy: fields of a command, in the order of the message. */
    axes: list(fieldName).optional(),
    buttons: list(fieldName).optional(),
    /** JointTrajectory and Float64MultiArray: joints in their order, and the fields of a command that they get. */
    joints: z
      .record(z.string().max(100), fieldName, { error: 'must name joints and their fields' })
      .refine((joints) => Object.keys(joints).length <= MAX_JOINTS, {
        error: `must have at most ${MAX_JOINTS} joints`,
      })
      .optional(),
    /** Float64MultiArray: what the numbers are. */
    mode: z.enum(['position', 'velocity'], { error: 'must be position or velocity' }).default('velocity'),
    /** JointTrajectory: the time to reach the positions. */
    reach_ms: whole(1, 10_000).default(200),
    /** Largest absolute value of fields of a command; larger ones are clamped. */
    limits: z.record(fieldName, number(0, 1_000)).default({}),
    rate_hz: number(5, 200).default(50),
    frame_id: frame.default('base_link'),
  })
  .superRefine((entry, context) => {
    const wanted = partOf(entry.type)
    for (const part of ['fields', 'axes', 'buttons', 'joints'] as const) {
      if (entry[part] !== undefined && part !== wanted && !(part === 'buttons' && wanted === 'axes'))
        context.addIssue({ code: 'custom', path: [part], message: `is not a setting of ${entry.type}` })
    }
    if (entry[wanted] === undefined || Object.keys(entry[wanted]).length === 0)
      context.addIssue({ code: 'custom', path: [], message: `needs ${wanted} for ${entry.type}` })
  })

/** Returns which setting assigns the fields of a command to a type. */
const partOf = (name: (typeof driveTypes)[number]) =>
  name === 'sensor_msgs/Joy' ? 'axes' : name.startsWith('geometry_msgs/') ? 'fields' : 'joints'

const Telemetry = z.strictObject({
  topic,
  type: type(telemetryTypes),
  rate_hz: number(0.1, 50).default(10),
  /** The field of telemetry; of Odometry the pose. */
  name: fieldName.optional(),
  /** Odometry: whether its pose is sent. Switch it off where another topic has the pose in the map. */
  pose: z.boolean({ error: 'must be true or false' }).default(true),
  /** TFMessage: the frames of the pose. */
  frame: frame.default('map'),
  child: frame.default('base_link'),
  /** LaserScan: the direction in which the lidar is mounted, counter-clockwise from the heading of the robot. */
  yaw_rad: number(-7, 7).default(0),
  max_rays: whole(1, MAX_RAYS).default(MAX_RAYS),
})

const Log = z.strictObject({
  topic,
  type: type(logTypes),
  level: z
    .enum(['debug', 'info', 'warn', 'error'], { error: 'must be debug, info, warn or error' })
    .default('warn'),
})

const Camera = z.strictObject({
  name: text(CAMERA_NAME, 'must be 1 to 32 lower-case letters, digits, - and _'),
  topic,
  type: type(cameraTypes).default('sensor_msgs/CompressedImage'),
  fps: number(1, 60).default(15),
  max_kbps: number(100, 20_000).default(2_000),
})

const Goal = z
  .strictObject({
    topic,
    /** The topic of actionlib_msgs/GoalID that cancels goals (ROS 1). */
    cancel_topic: topic.optional(),
    /** The service of action_msgs/srv/CancelGoal that cancels goals (ROS 2). */
    cancel_service: topic.optional(),
    /** The topic that says how goals end: of actionlib_msgs/GoalStatusArray with a cancel_topic, otherwise of action_msgs/GoalStatusArray. */
    status_topic: topic.optional(),
    /** The coordinate frame of goals, that of the pose in telemetry. */
    frame: frame.default('map'),
    frames: z.never({ error: 'is not a setting any more: write one frame, such as frame: map' }).optional(),
  })
  .refine(
    ({ cancel_topic, cancel_service }) => (cancel_topic === undefined) !== (cancel_service === undefined),
    { error: 'needs cancel_topic or cancel_service, one of them: a stop must end the way to a goal' },
  )

const Stop = z.strictObject({
  /** Topics of telemetry that say whether the robot has halted. Default: the odometry of a base, the joints of an arm. */
  halted_by: list(topic).optional(),
  /** Below these speeds the robot counts as halted. */
  linear_mps: number(0, 1).default(0.01),
  angular_radps: number(0, 1).default(0.02),
  joint_radps: number(0, 1).default(0.02),
})

const Mjpeg = z.strictObject({
  host: z.string({ error: 'must be an address of this machine' }).max(255).default('127.0.0.1'),
  port: whole(0, 65_535).default(8_090),
})

const RobotConfig = z
  .strictObject({
    source: Source,
    control: list(Control).default([]),
    telemetry: list(Telemetry).default([]),
    logs: list(Log).default([]),
    cameras: list(Camera).default([]),
    goal: Goal.optional(),
    stop: Stop.prefault({}),
    mjpeg: Mjpeg.prefault({}),
  })
  .superRefine(({ source, telemetry, control, cameras, goal, stop }, context) => {
    const repeated = (items: readonly string[], part: string, what: string) => {
      for (const [index, item] of items.entries())
        if (items.indexOf(item) < index)
          context.addIssue({ code: 'custom', path: [part, index], message: `repeats the ${what} ${item}` })
    }
    repeated(
      control.map((entry) => entry.topic),
      'control',
      'topic',
    )
    repeated(telemetry.flatMap(fieldsOf), 'telemetry', 'field')
    repeated(
      cameras.map(({ name }) => name),
      'cameras',
      'name',
    )
    if (source.type === 'ros1' && goal?.cancel_service !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['goal', 'cancel_service'],
        message: 'cannot be called with ros1: write cancel_topic',
      })
    for (const [index, name] of (stop.halted_by ?? []).entries()) {
      const entry = telemetry.find((item) => item.topic === name)
      if (!entry || !(entry.type === 'nav_msgs/Odometry' || entry.type === 'sensor_msgs/JointState'))
        context.addIssue({
          code: 'custom',
          path: ['stop', 'halted_by', index],
          message: 'must be a topic of telemetry with the type nav_msgs/Odometry or sensor_msgs/JointState',
        })
    }
  })
/** The settings of a robot with ROS. */
export type RobotConfig = z.infer<typeof RobotConfig>
export type SourceType = RobotConfig['source']['type']
export type ControlEntry = RobotConfig['control'][number]
export type TelemetryEntry = RobotConfig['telemetry'][number]
export type CameraEntry = RobotConfig['cameras'][number]
export type GoalSettings = NonNullable<RobotConfig['goal']>
export type LogEntry = RobotConfig['logs'][number]

const defaultNames: Readonly<Record<string, string>> = {
  'nav_msgs/Odometry': 'pose',
  'sensor_msgs/JointState': 'joints',
  'sensor_msgs/LaserScan': 'scan',
  'sensor_msgs/BatteryState': 'battery',
  'tf2_msgs/TFMessage': 'pose',
  'geometry_msgs/PoseStamped': 'pose',
  'geometry_msgs/PoseWithCovarianceStamped': 'pose',
}

/** Returns the field of telemetry that an entry fills; of odometry the one of the pose. */
export const nameOf = ({ name, type: messageType, topic: from }: TelemetryEntry): string =>
  name ?? defaultNames[messageType] ?? from.replace(/^\/+/, '').replaceAll('/', '_')

/** Returns all fields of telemetry that an entry fills. */
export function fieldsOf(entry: TelemetryEntry): readonly string[] {
  if (entry.type !== 'nav_msgs/Odometry') return [nameOf(entry)]
  return entry.pose ? [nameOf(entry), 'velocity'] : ['velocity']
}

/** Returns the type of the statuses of goals: that of ROS 1 with its way to cancel them, otherwise that of ROS 2. */
export const goalStatusType = ({ cancel_topic }: GoalSettings): string =>
  cancel_topic === undefined ? 'action_msgs/GoalStatusArray' : 'actionlib_msgs/GoalStatusArray'

/**
 * Reads a robot.yaml.
 * @throws Failure that names the file, the line and the setting of each problem
 */
export async function loadConfig(path: string): Promise<RobotConfig> {
  const text = await readConfig(path).catch((cause: NodeJS.ErrnoException) => {
    const next = cause.code === 'ENOENT' ? ' Write one with: wheelhouse ros init' : ''
    throw new Failure('usage', `${path} cannot be read (${cause.code ?? cause.message}).${next}`, { cause })
  })
  return parseConfig(text, path)
}

async function readConfig(path: string): Promise<string> {
  if ((await stat(path)).size > MAX_CONFIG_BYTES) throw new Error(`more than ${MAX_CONFIG_BYTES} bytes`)
  return readFile(path, 'utf8')
}

/** Reads the text of a robot.yaml. @throws Failure that names the line of each problem */
export function parseConfig(source: string, path: string): RobotConfig {
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false })
  const [syntax] = document.errors
  if (syntax) throw new Failure('usage', `${path}:${lines.linePos(syntax.pos[0]).line}: ${syntax.message}`)
  let value: unknown
  try {
    // Aliases could make a small file large.
    value = document.toJS({ maxAliasCount: 0 })
  } catch (cause) {
    throw new Failure('usage', `${path}: aliases (*name) are not supported`, { cause })
  }
  const config = RobotConfig.safeParse(value ?? {}, { reportInput: false })
  if (config.success) return config.data
  const problems = config.error.issues.slice(0, MAX_PROBLEMS).map((issue) => {
    const [at, message] = describe(issue)
    return `${path}:${lineOf(document, lines, at)}: ${[settingAt(at), message].join(' ').trim()}`
  })
  throw new Failure('usage', problems.join('; '))
}

/** Returns where an issue is, and what is wrong there. */
function describe(issue: z.core.$ZodIssue): readonly [PropertyKey[], string] {
  if (issue.code === 'unrecognized_keys')
    return [[...issue.path, issue.keys[0] ?? ''], 'is not a known setting']
  if (issue.code === 'invalid_key') return [issue.path, issue.issues[0]?.message ?? issue.message]
  const missing = issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')
  return [
    issue.path,
    missing
      ? `must be ${issue.expected === 'object' ? 'a group of settings' : issue.expected}`
      : issue.message,
  ]
}

/** Returns a setting as it is written in code: `control[0].rate_hz`. */
const settingAt = (path: readonly PropertyKey[]): string =>
  path
    .map((key, index) =>
      typeof key === 'number' ? `[${key}]` : index === 0 ? String(key) : `.${String(key)}`,
    )
    .join('')

/** Returns the line of a setting, or of the innermost one around it that exists. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    const start = isNode(node) ? node.range?.[0] : undefined
    if (start !== undefined) return lines.linePos(start).line
  }
  return 1
}
