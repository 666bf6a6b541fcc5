import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { ControlSchema } from '@wheelhouse/protocol'
import { controlSchemaOfUrdf, UrdfError } from '@wheelhouse/sdk'
import { stringify } from 'yaml'
import type { Context } from '../lib/context.ts'
import { Failure } from '../lib/failure.ts'
import { loadSource } from './agent.ts'
import {
  fieldsOf,
  MAX_RAYS,
  nameOf,
  parseConfig,
  type RobotConfig,
  type SourceType,
  telemetryTypes,
} from './config.ts'
import { textAt } from './readings.ts'
import { type RosSource, type RosTopic, ros2Type, type SourceOptions, type Subscription } from './source.ts'

/** How long an address may take to answer. */
const CONNECT_TIMEOUT_MS = 3_000
/** How long the topic of a robot description may take. */
const DESCRIPTION_TIMEOUT_MS = 1_000
const DESCRIPTION_TOPIC = '/robot_description'
/** Lists of topics are not written beyond this. */
const MAX_LISTED_TOPICS = 100
/** Entries of each list in the written file. */
const MAX_WRITTEN_ENTRIES = 8

/** Where the sources usually are. */
const USUAL_ADDRESSES: Readonly<Record<SourceType, string>> = {
  ros1: 'http://localhost:11311',
  foxglove: 'ws://localhost:8765',
  rosbridge: 'ws://localhost:9090',
}

interface InitOptions {
  readonly from?: SourceType
  readonly url?: string
  readonly out: string
  readonly urdf?: string
  readonly force?: true
}

/** What a robot offers. */
interface RobotOffer {
  readonly source: { readonly type: SourceType; readonly url: string }
  readonly topics: readonly RosTopic[]
  /** The limits of its joints, where a URDF says them. */
  readonly joints: ControlSchema | undefined
}

/** Looks at the topics of a robot, and writes a robot.yaml and schemas for them. */
export async function init(cli: Context, options: InitOptions): Promise<void> {
  const { out } = cli
  const urdf = options.urdf === undefined ? undefined : await readUrdfFile(options.urdf)
  const { source, topics, description } = await find(cli, options)
  const joints = jointsOfUrdf(urdf ?? description, (problem) => out.notice(problem))
  const offer: RobotOffer = { source, topics: [...topics].sort((a, b) => (a.name < b.name ? -1 : 1)), joints }
  const text = configText(offer)
  const config = parseConfig(text, options.out) // what is written must be valid
  const base = options.out.replace(/\.ya?ml$/, '')
  const files: (readonly [string, string])[] = [
    [options.out, text],
    [`${base}.control.json`, json(controlSchemaOf(config, joints))],
    [`${base}.telemetry.json`, json(telemetrySchemaOf(config))],
  ]
  for (const [path, content] of files) await write(path, content, options.force === true)
  out.result({ source, topics: topics.length, files: files.map(([path]) => path) }, () => {
    out.line(
      `Wrote ${options.out} for ${topics.length} topics at ${source.url}. Read it before the robot moves:`,
    )
    out.line('speeds, topics, and what halts the base when this program ends.')
    out.line(`Then: wheelhouse ros run ${options.out} --code CODE`)
    out.line(
      `Schemas for the console: wheelhouse robots update ROBOT --control-schema ${base}.control.json --telemetry-schema ${base}.telemetry.json`,
    )
  })
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

async function readUrdfFile(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new Failure('usage', `${path} cannot be read (${cause.code})`, { cause })
  })
}

async function write(path: string, content: string, replace: boolean): Promise<void> {
  await writeFile(path, content, { flag: replace ? 'w' : 'wx' }).catch((cause: NodeJS.ErrnoException) => {
    const next =
      cause.code === 'EEXIST' ? 'exists: add --force to replace it' : `cannot be written (${cause.code})`
    throw new Failure('usage', `${path} ${next}`, { cause })
  })
}

/** Connects to the source that is named, or to the first one that answers at its usual address. */
async function find(cli: Context, { from, url }: InitOptions) {
  const types = from
    ? [from]
    : (Object.keys(USUAL_ADDRESSES) as SourceType[]).filter((type) => fits(type, url))
  const failures: string[] = []
  for (const type of types) {
    const source = { type, url: url ?? addressOf(cli, type) }
    cli.signal.throwIfAborted()
    try {
      return { source, ...(await look(source)) }
    } catch (cause) {
      failures.push(`${type} at ${source.url}: ${cause instanceof Error ? cause.message : String(cause)}`)
    }
  }
  const next =
    'Start roscore, foxglove_bridge or rosbridge_server, or name its address with --from and --url.'
  throw new Failure('unreachable', `No ROS was found. ${failures.join('; ')}. ${next}`)
}

const addressOf = ({ env }: Context, type: SourceType): string =>
  (type === 'ros1' && env.ROS_MASTER_URI) || USUAL_ADDRESSES[type]

const fits = (type: SourceType, url: string | undefined): boolean =>
  url === undefined || /^ws/.test(url) === (type !== 'ros1')

async function look({ type, url }: RobotOffer['source']) {
  const createSource = await loadSource(type)
  const description = Promise.withResolvers<string>()
  // A description is a topic in ROS 2, and a parameter in ROS 1.
  const subscription: Subscription = { topic: DESCRIPTION_TOPIC, type: 'std_msgs/String', rateHz: 1 }
  const { source, isUp } = connect(createSource, {
    url,
    subscriptions: type === 'ros1' ? [] : [subscription],
    onMessage: (_, message) => description.resolve(textAt(message, 'data')),
  })
  try {
    await isUp
    const topics = await source.topics()
    const fromTopic = topics.some(({ name }) => name === DESCRIPTION_TOPIC)
    const found =
      (await source.robotDescription()) ??
      (fromTopic
        ? await Promise.race([description.promise, delay(DESCRIPTION_TIMEOUT_MS, undefined)])
        : undefined)
    return { topics, description: found }
  } finally {
    await source.close()
  }
}

/** Connects a source without publications. `isUp` rejects when it cannot be reached. */
function connect(
  createSource: (options: SourceOptions) => RosSource,
  options: Pick<SourceOptions, 'url' | 'subscriptions' | 'onMessage'>,
) {
  const up = Promise.withResolvers<void>()
  const timer = setTimeout(() => up.reject(new Error('it does not answer')), CONNECT_TIMEOUT_MS)
  const source = createSource({
    ...options,
    publications: [],
    onUp: up.resolve,
    onDown: (reason) => up.reject(new Error(reason)),
    onProblem: () => {},
  })
  return { source, isUp: up.promise.finally(() => clearTimeout(timer)) }
}

/** Returns the control schema of the joints of a URDF; undefined without movable joints. */
function jointsOfUrdf(xml: string | undefined, report: (problem: string) => void): ControlSchema | undefined {
  if (xml === undefined) return undefined
  try {
    return controlSchemaOfUrdf(xml)
  } catch (cause) {
    if (!(cause instanceof UrdfError)) throw cause
    report(`The URDF is not used: ${cause.message}`)
    return undefined
  }
}

/** Returns the text of a robot.yaml. Written as text, because its comments explain it. */
function configText({ source, topics, joints }: RobotOffer): string {
  const typed = (type: string) => topics.filter((topic) => topic.type === type).slice(0, MAX_WRITTEN_ENTRIES)
  const spell = (type: string) => (source.type === 'foxglove' ? ros2Type(type) : type)
  const entry = (fields: Record<string, unknown>) =>
    `  - ${stringify(fields, { collectionStyle: 'flow', lineWidth: 0 }).trim()}`
  const list = (name: string, comment: string, entries: readonly string[]) =>
    entries.length > 0 ? `${comment}\n${name}:\n${entries.join('\n')}\n` : `${comment}\n${name}: []\n`

  // A topic to which nodes only subscribe has no type behind foxglove_bridge.
  const bases = topics.filter(
    ({ name, type }) =>
      type === 'geometry_msgs/Twist' ||
      type === 'geometry_msgs/TwistStamped' ||
      (type === '' && /cmd_vel$/.test(name)),
  )
  const base = bases.find(({ name }) => name === '/cmd_vel') ?? bases[0]
  const arms = typed('trajectory_msgs/JointTrajectory').filter(() => joints !== undefined)
  const control = [
    ...(base
      ? [
          entry({
            topic: base.name,
            type: spell(base.type || 'geometry_msgs/Twist'),
            fields: { 'linear.x': 'linear_mps', 'angular.z': 'angular_radps' },
            limits: { linear_mps: 0.5, angular_radps: 1 },
          }),
        ]
      : []),
    ...arms.slice(0, 1).map(({ name, type }) =>
      entry({
        topic: name,
        type: spell(type),
        joints: Object.fromEntries(jointNames(joints).map((joint) => [joint, `joints.${joint}`])),
        rate_hz: 20,
      }),
    ),
  ]
  const planner = plannerOf(source.type, topics)
  const transforms = planner.isThere
    ? typed('tf2_msgs/TFMessage').find(({ name }) => name === '/tf')
    : undefined
  const hasAmclPose = typed('geometry_msgs/PoseWithCovarianceStamped').some(({ name }) =>
    /amcl_pose$/.test(name),
  )
  const telemetry = telemetryTypes.flatMap((type) => {
    if (type.startsWith('std_msgs/') || type === 'geometry_msgs/PoseStamped') return []
    if (type === 'tf2_msgs/TFMessage')
      return transforms
        ? [entry({ topic: transforms.name, type: spell(type), frame: 'map', child: 'base_link' })]
        : []
    // The pose is then that of the transforms.
    if (type === 'geometry_msgs/PoseWithCovarianceStamped' && transforms) return []
    const found = typed(type).filter(
      ({ name }) => type !== 'geometry_msgs/PoseWithCovarianceStamped' || /amcl_pose$/.test(name),
    )
    const [first] = found
    if (!first) return []
    const more = type === 'nav_msgs/Odometry' && (hasAmclPose || transforms) ? { pose: false } : {}
    return [
      entry({
        topic: first.name,
        type: spell(type),
        rate_hz: type === 'sensor_msgs/BatteryState' ? 1 : 10,
        ...more,
      }),
    ]
  })
  const logs = [
    ...[...typed('rosgraph_msgs/Log'), ...typed('rcl_interfaces/Log')]
      .filter(({ name }) => name === '/rosout')
      .map(({ name, type }) => entry({ topic: name, type: spell(type), level: 'warn' })),
    ...typed('diagnostic_msgs/DiagnosticArray')
      .slice(0, 1)
      .map(({ name, type }) => entry({ topic: name, type: spell(type), level: 'warn' })),
  ]
  const pictures = [...typed('sensor_msgs/CompressedImage'), ...typed('sensor_msgs/Image')]
  const shown = pictures.filter(
    ({ name }) =>
      !/depth|\/theora|compressedDepth/i.test(name) &&
      !pictures.some((other) => other.name === `${name}/compressed`),
  )
  const cameras = shown
    .slice(0, MAX_WRITTEN_ENTRIES)
    .map(({ name, type }, index) =>
      entry({ name: cameraName(name, index), topic: name, type: spell(type), fps: 15, max_kbps: 2_000 }),
    )
  const others = topics.slice(0, MAX_LISTED_TOPICS).map(({ name, type }) => `#   ${name}  ${type}`)
  return [
    '# A robot with ROS. Every setting is explained in docs/ros.md.',
    '',
    `source: ${stringify(source, { collectionStyle: 'flow' }).trim()}`,
    '',
    list(
      'control',
      '# Fields of a command, and the messages that they become. A field that is missing in a command is 0.\n# The base must halt by itself when these messages cease: this program cannot brake it when ROS is gone.',
      control,
    ),
    list('telemetry', '# Topics that the operator sees, at most rate_hz times a second.', telemetry),
    list('logs', "# Lines of the robot's log.", logs),
    list('cameras', '# Pictures of cameras.', cameras),
    goalText(planner),
    '# All topics of the robot:',
    ...others,
    '',
  ].join('\n')
}

/** Returns the settings of a robot's planner, move_base or Nav2, and whether it is there. */
function plannerOf(type: SourceType, topics: readonly RosTopic[]) {
  const offers = (name: string) => topics.some((topic) => topic.name === name)
  const isMoveBase = offers('/move_base_simple/goal')
  const status = isMoveBase ? '/move_base/status' : '/navigate_to_pose/_action/status'
  const settings = {
    ...(isMoveBase
      ? { topic: '/move_base_simple/goal', cancel_topic: '/move_base/cancel' }
      : { topic: '/goal_pose', cancel_service: '/navigate_to_pose/_action/cancel_goal' }),
    ...(offers(status) && { status_topic: status }),
    frame: 'map',
  }
  return { isThere: isMoveBase || (type !== 'ros1' && offers('/goal_pose')), settings }
}

function goalText({ isThere, settings }: ReturnType<typeof plannerOf>): string {
  const mark = isThere ? '' : '# '
  return [
    '# Goals of a planner. The pose in telemetry must be in the same frame: otherwise the robot drives to another place.',
    `${mark}goal:`,
    ...Object.entries(settings).map(([name, value]) => `${mark}  ${name}: ${value}`),
    '',
  ].join('\n')
}

const jointNames = (joints: ControlSchema | undefined): string[] => {
  const group = joints?.properties.joints
  return group?.type === 'object' ? Object.keys(group.properties) : []
}

/** Returns a name for a camera from its topic: `/front/image_raw/compressed` is `front`. */
const cameraName = (topic: string, index: number): string => {
  const words = topic.toLowerCase().split(/[^a-z0-9]+/)
  const word = words.find((part) => part !== '' && !/^(camera|image|raw|rgb|color|compressed)$/.test(part))
  return index === 0 ? (word ?? 'front').slice(0, 28) : `${(word ?? 'camera').slice(0, 28)}-${index + 1}`
}

const number = (unit: string, more: object = {}) => ({ type: 'number', 'x-unit': unit, ...more })

/** Returns the control schema for the settings: what the robot accepts, and how fast. */
function controlSchemaOf({ control }: RobotConfig, joints: ControlSchema | undefined): object {
  const speeds = control.flatMap(({ fields = {}, limits }) =>
    Object.entries(fields).map(([field, name]) => {
      const limit = limits[name] ?? 1
      const bounds = { minimum: -limit, maximum: limit, 'x-speed': true }
      return [name, number(field.startsWith('linear') ? 'm/s' : 'rad/s', bounds)] as const
    }),
  )
  const drivesJoints = control.some((entry) => entry.joints !== undefined)
  return {
    type: 'object',
    properties: { ...Object.fromEntries(speeds), ...(drivesJoints && joints?.properties) },
  }
}

/** Returns the telemetry schema for the settings. */
function telemetrySchemaOf({ telemetry }: RobotConfig): object {
  const pose = {
    type: 'object',
    'x-kind': 'pose',
    properties: { x_m: number('m'), y_m: number('m'), heading_rad: number('rad') },
  }
  const velocity = {
    type: 'object',
    'x-kind': 'velocity',
    properties: { linear_mps: number('m/s'), angular_radps: number('rad/s') },
  }
  const scan = {
    type: 'object',
    'x-kind': 'scan',
    properties: {
      angle_min_rad: number('rad'),
      angle_increment_rad: number('rad'),
      range_max_m: number('m'),
      ranges_m: { type: 'array', items: number('m'), maxItems: MAX_RAYS },
    },
  }
  const byName = telemetry.flatMap((entry) => {
    const kinds: Readonly<Record<string, object>> = {
      'sensor_msgs/LaserScan': scan,
      'sensor_msgs/BatteryState': { type: 'number', minimum: 0, maximum: 1, 'x-kind': 'battery' },
    }
    return fieldsOf(entry).flatMap((name) => {
      if (name === 'velocity' && entry.type === 'nav_msgs/Odometry') return [[name, velocity] as const]
      const kind = kinds[entry.type] ?? (entry.type === 'sensor_msgs/JointState' ? undefined : pose)
      return kind && name === nameOf(entry) ? [[name, kind] as const] : []
    })
  })
  return { type: 'object', properties: { ...Object.fromEntries(byName), standing: { type: 'boolean' } } }
}
