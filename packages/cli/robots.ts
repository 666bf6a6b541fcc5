import { answerOf, type RobotLogLevel, type Schemas } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { Failure } from './lib/failure.ts'
import { ownRobots, robotId } from './lib/ids.ts'
import { choice, collectValues, given, integer, integerOrNone, readSchema } from './lib/options.ts'
import type { Column, Output } from './lib/output.ts'
import { readPages } from './lib/pages.ts'
import { type Style, styled } from './lib/text.ts'
import { formatTime, statusPiece } from './lib/views.ts'

const ROBOT = 'its id, a prefix of the id, or its name'

export const commands = { robots: declareRobots }

/** Declares `wheelhouse robots …`: the robots of an owner, and those that are available to an operator. */
function declareRobots(robots: Command, action: CreateAction): void {
  const robot = (name: string, description: string) =>
    robots.command(name).description(description).argument('<robot>', ROBOT)
  robots
    .command('list')
    .description('list your robots, newest first')
    .addOption(
      choice('--status <status>', 'only robots with this status', ['OFFLINE', 'AVAILABLE', 'IN_SESSION']),
    )
    .option('--type <type>', 'only robots of this type')
    .option('--tag <tag>', 'only robots with this tag')
    .option(
      '--battery-below <percent>',
      'only robots whose last reported charge is below this',
      integer(1, 100),
    )
    .option('--search <words>', 'only robots with all these words in name, type, hardware id or tags')
    .option('--limit <number>', 'largest number of robots', integer(1, 10_000), 50)
    .option('--offset <number>', 'skip this many of the newest robots', integer(0, 10_000_000))
    .action(action(list))
  robots
    .command('available')
    .description('list the robots that are available to you as an operator')
    .action(action(available))
  robot('show', 'show one of your robots').action(action(show))
  robot('logs', "print the newest lines of a robot's log, oldest first; as JSON Lines with --json")
    .addOption(
      choice(
        '--level <level>',
        'only lines of this level or above',
        ['debug', 'info', 'warn', 'error'],
        'debug',
      ),
    )
    .option('--limit <number>', 'largest number of lines', integer(1, 10_000), 100)
    .action(action(logs))
  robots
    .command('register')
    .description('register a robot and show its token, only this once')
    .argument('<name>')
    .requiredOption('--type <type>', 'type of the robot, such as so-101')
    .requiredOption('--hardware-id <id>', 'unique id of its board')
    .option('--stream-url <url>', 'address of its video')
    .option('--tag <tag>', 'a tag; repeatable', collectValues)
    .option('--notes <text>', 'notes that only you see')
    .option('--require-certification', 'only operators certified for its type may drive it')
    .option(
      '--no-require-certification',
      'every operator may drive it (default: the setting of the platform)',
    )
    .action(action(register))
  robot('update', 'change the settings of a robot')
    .option('--name <name>')
    .option('--stream-url <url>', 'address of its video; "" for none')
    .option('--tag <tag>', 'a tag, which replaces all current tags; repeatable', collectValues)
    .option('--notes <text>', 'notes that only you see; "" for none')
    .option('--operator-notes <text>', 'notes that operators see before they start a session; "" for none')
    .option('--require-certification', 'only operators certified for its type may drive it')
    .option('--no-require-certification', 'every operator may drive it')
    .option('--latency-limit <ms>', 'stop the robot while commands take longer', integer(50, 10_000))
    .option(
      '--latency-budget <ms>',
      'limit its speed in proportion while commands take longer; 0 for no limit',
      integer(0, 10_000),
    )
    .option(
      '--video-limit <ms>',
      'stop the robot while the operator sees an older picture; 0 for no limit',
      integer(0, 60_000),
    )
    .option(
      '--control-schema <file>',
      'JSON file with the commands that it accepts; "" for those of its model',
    )
    .option(
      '--telemetry-schema <file>',
      'JSON file with the telemetry that it sends; "" for that of its model',
    )
    .option('--strict-control', 'the gateway drops commands that the control schema does not allow')
    .option('--no-strict-control', 'only the robot checks its commands')
    .addOption(
      choice(
        '--stop-clear <who>',
        'who may clear your remote stops: owner (you and admins), or anyone (also the operator)',
        ['owner', 'anyone'],
      ),
    )
    .addOption(
      choice(
        '--recording <mode>',
        'record its sessions: control (commands and telemetry), video (also its cameras) or off',
        ['off', 'control', 'video'],
      ),
    )
    .option(
      '--recording-days <number>',
      'delete recordings this many days after their sessions; none: keep them',
      integerOrNone(1, 3_650),
    )
    .option('--hold', 'prevent new sessions on it')
    .option('--no-hold', 'allow new sessions again')
    .option('--low-battery <percent>', 'notify you below this charge; 0 for never', integer(0, 100))
    .addOption(
      choice('--log-events <level>', 'publish events for log lines of this level or above', [
        'off',
        'warn',
        'error',
      ]),
    )
    .action(action(update))
  robot(
    'pairing-code',
    'create a code with which a robot or a phone connects once, within ten minutes',
  ).action(action(createPairingCode))
  robot('rotate-token', 'replace the token of a robot; the old one stops working at once').action(
    action(rotateToken),
  )
  robot('remove', 'remove a robot').action(action(remove))
}

interface ListOptions {
  readonly status?: Schemas['RobotStatus']
  readonly type?: string
  readonly tag?: string
  /** A charge in percent. */
  readonly batteryBelow?: number
  readonly search?: string
  readonly limit: number
  readonly offset?: number
}

/** Prints the caller's robots, newest first. */
async function list(cli: Context, options: ListOptions): Promise<void> {
  const { limit, offset = 0, status, type, tag, batteryBelow, search } = options
  const battery_below = batteryBelow === undefined ? undefined : batteryBelow / 100
  const filters = given({ status, robot_type: type, tag, battery_below, search })
  const robots = await ownRobots(cli, filters, { limit, offset })
  const emptyText = Object.keys(filters).length > 0 || offset > 0 ? 'No matching robots.' : NO_ROBOTS
  cli.out.list(robots, robotColumns, emptyText)
}

const NO_ROBOTS = 'No robots. Register one with: wheelhouse robots register'

/** Prints the robots that are available to the caller as an operator. */
async function available(cli: Context): Promise<void> {
  const { robots } = await answerOf(cli.rest.GET('/api/operator/available-robots'))
  cli.out.list(
    robots,
    [
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'NAME', value: ({ name }) => name },
      { title: 'TYPE', value: ({ robot_type }) => robot_type },
      { title: 'TAGS', value: ({ tags }) => tags.join(', ') },
      { title: 'LAST HEARTBEAT', value: ({ last_heartbeat }) => formatTime(last_heartbeat) },
    ],
    'No robot of a type that you are certified for is available.',
  )
}

/** Prints one robot with its settings. */
async function show(cli: Context, idOrName: string): Promise<void> {
  const id = await robotId(cli, idOrName)
  const robot = await answerOf(cli.rest.GET('/api/client/robots/{id}', { params: { path: { id } } }))
  cli.out.result(robot, () => showRobot(cli.out, robot))
}

const LOG_PAGE = 200
const LEVEL_STYLES: Readonly<Record<RobotLogLevel, Style>> = {
  debug: 'dim',
  info: 'reset',
  warn: 'yellow',
  error: 'red',
}

interface LogsOptions {
  readonly level: RobotLogLevel
  readonly limit: number
}

/** Prints the newest lines of a robot's log, oldest first. */
async function logs(cli: Context, idOrName: string, { level, limit }: LogsOptions): Promise<void> {
  const id = await robotId(cli, idOrName)
  const lines = await readPages<Schemas['RobotLogLine']>(
    { limit, pageSize: LOG_PAGE },
    async (size, found) => {
      const before = found.at(-1)?.seq
      const query = { level, limit: size, ...(before !== undefined && { before }) }
      const params = { path: { id }, query }
      return (await answerOf(cli.rest.GET('/api/client/robots/{id}/logs', { params }))).logs
    },
  )
  if (lines.length === 0 && !cli.out.json) cli.out.note('No recent log lines of that level.')
  for (const line of lines.reverse()) {
    if (cli.out.json) cli.out.entry(line)
    else
      cli.out.line(
        styled('dim', `${formatTime(line.at)}  `),
        styled(LEVEL_STYLES[line.level], line.level.padEnd(5)),
        `  ${line.message}`,
      )
  }
}

interface RegisterOptions {
  readonly type: string
  readonly hardwareId: string
  readonly streamUrl?: string
  readonly tag?: string[]
  readonly notes?: string
  readonly requireCertification?: boolean
}

/** Registers a robot and prints its token. */
async function register(cli: Context, name: string, options: RegisterOptions): Promise<void> {
  const body = {
    name,
    robot_type: options.type,
    hardware_id: options.hardwareId,
    ...given({
      stream_url: options.streamUrl,
      tags: options.tag,
      notes: options.notes,
      require_certification: options.requireCertification,
    }),
  }
  const robot = await answerOf(cli.rest.POST('/api/client/robots', { body }))
  cli.out.result(robot, () => {
    showRobot(cli.out, robot)
    showConnection(cli.out, robot)
  })
}

interface UpdateOptions {
  readonly name?: string
  readonly streamUrl?: string
  readonly tag?: string[]
  readonly notes?: string
  readonly operatorNotes?: string
  readonly requireCertification?: boolean
  readonly latencyLimit?: number
  /** In milliseconds; 0 for no limit of the speed. */
  readonly latencyBudget?: number
  /** In milliseconds; 0 for no limit. */
  readonly videoLimit?: number
  /** A file, or an empty text. */
  readonly controlSchema?: string
  /** A file, or an empty text. */
  readonly telemetrySchema?: string
  readonly strictControl?: boolean
  readonly stopClear?: 'owner' | 'anyone'
  readonly recording?: Schemas['RobotDetail']['recording']
  readonly recordingDays?: number | 'none'
  readonly hold?: boolean
  readonly lowBattery?: number
  readonly logEvents?: Schemas['RobotDetail']['log_event_level']
}

/** Changes the given settings of a robot. */
async function update(cli: Context, idOrName: string, options: UpdateOptions): Promise<void> {
  const { controlSchema, telemetrySchema, lowBattery, recordingDays } = options
  const body = given({
    name: options.name,
    stream_url: options.streamUrl,
    tags: options.tag,
    notes: orNull(options.notes),
    operator_notes: orNull(options.operatorNotes),
    require_certification: options.requireCertification,
    latency_limit_ms: options.latencyLimit,
    latency_budget_ms: orNull(options.latencyBudget),
    video_limit_ms: orNull(options.videoLimit),
    control_schema: await readSchema(controlSchema, 'control schema'),
    telemetry_schema: await readSchema(telemetrySchema, 'telemetry schema'),
    strict_control: options.strictControl,
    stop_clear: options.stopClear,
    recording: options.recording,
    recording_days: recordingDays === 'none' ? null : recordingDays,
    on_hold: options.hold,
    low_battery_threshold: lowBattery === undefined ? undefined : lowBattery / 100,
    log_event_level: options.logEvents,
  })
  if (Object.keys(body).length === 0) {
    throw new Failure('usage', 'Set at least one option. See: wheelhouse robots update --help')
  }
  const id = await robotId(cli, idOrName)
  const robot = await answerOf(cli.rest.PATCH('/api/client/robots/{id}', { params: { path: { id } }, body }))
  cli.out.result(robot, () => showRobot(cli.out, robot))
}

/** Returns null for a setting that is turned off: an empty text, or 0. */
const orNull = <T>(value: T | undefined) => (value === undefined ? undefined : value || null)

/** Creates a pairing code of a robot, and prints how a computer and a phone use it. */
async function createPairingCode(cli: Context, idOrName: string): Promise<void> {
  const path = { id: await robotId(cli, idOrName) }
  const created = await answerOf(cli.rest.POST('/api/client/robots/{id}/pairing-code', { params: { path } }))
  const { server, out } = cli
  out.result(created, () => {
    out.line(styled('bold', 'Pairing code, valid once, for ten minutes: '), created.code)
    out.line()
    out.line(styled('bold', 'Start a simulated robot'), ' with Node 22 or newer, and enter the code:')
    out.line('  ', `curl -fsS ${server}/connect/robot.mjs -o robot.mjs && node robot.mjs`)
    out.line(styled('bold', 'Or make a phone the robot'), ' with this address:')
    out.line('  ', `${server}/phone-robot#code=${created.code}`)
  })
}

/** Replaces the token of a robot. The platform drops the connection with the old token. */
async function rotateToken(cli: Context, idOrName: string): Promise<void> {
  const path = { id: await robotId(cli, idOrName) }
  const robot = await answerOf(cli.rest.GET('/api/client/robots/{id}', { params: { path } }))
  await cli.prompts.confirm(
    `Replace the token of ${robot.name}? The robot stays disconnected until it uses the new token.`,
  )
  const rotated = await answerOf(cli.rest.POST('/api/client/robots/{id}/token', { params: { path } }))
  cli.out.result(rotated, () => showConnection(cli.out, { ...robot, ...rotated }))
}

/** Removes a robot. The platform refuses while the robot is in an open session. */
async function remove(cli: Context, idOrName: string): Promise<void> {
  const path = { id: await robotId(cli, idOrName) }
  const robot = await answerOf(cli.rest.GET('/api/client/robots/{id}', { params: { path } }))
  await cli.prompts.confirm(`Remove ${robot.name} (${robot.id})? That cannot be undone.`)
  await answerOf(cli.rest.DELETE('/api/client/robots/{id}', { params: { path } }))
  cli.out.result({ id: robot.id, removed: true }, () => cli.out.line(`${robot.name} is removed.`))
}

const robotColumns: readonly Column<Schemas['Robot']>[] = [
  { title: 'ID', value: ({ id }) => id, noTruncate: true },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'TYPE', value: ({ robot_type }) => robot_type },
  { title: 'STATUS', value: ({ status }) => statusPiece(status), noTruncate: true },
  { title: 'LAST HEARTBEAT', value: ({ last_heartbeat }) => formatTime(last_heartbeat) },
]

const recordingTexts = {
  off: 'off',
  control: 'control and telemetry',
  video: 'control, telemetry and cameras',
} as const

const percent = (share: number) => `${Math.round(share * 100)} %`

function showRobot(out: Output, robot: Schemas['RobotDetail']): void {
  out.record([
    ['Id', robot.id],
    ['Name', robot.name],
    ['Type', robot.robot_type],
    ['Status', statusPiece(robot.status)],
    ['Hardware', robot.hardware_id],
    ['Tags', robot.tags.join(', ') || undefined],
    ['Notes', robot.notes ?? undefined],
    ['Notes for operators', robot.operator_notes ?? undefined],
    ['Video', robot.stream_url || undefined],
    ['Control', robot.control_url],
    ['Last heartbeat', formatTime(robot.last_heartbeat)],
    [
      'Battery',
      robot.battery === null ? undefined : `${percent(robot.battery)}, ${formatTime(robot.battery_at)}`,
    ],
    ['Hours', robot.total_hours.toFixed(1)],
    ['Certification', robot.require_certification ? 'required' : 'not required'],
    ['Latency limit', `${robot.latency_limit_ms} ms`],
    [
      'Latency budget',
      robot.latency_budget_ms === null ? 'none, the speed is not limited' : `${robot.latency_budget_ms} ms`,
    ],
    [
      'Picture age limit',
      robot.video_limit_ms === null ? 'none, the age is not checked' : `${robot.video_limit_ms} ms`,
    ],
    ['Control schema', robot.control_schema === null ? undefined : 'its own'],
    ['Telemetry schema', robot.telemetry_schema === null ? undefined : 'its own'],
    ['Strict control', robot.strict_control ? 'the gateway checks every command' : undefined],
    [
      'Your stops',
      robot.stop_clear === 'owner' ? 'you or an admin can clear them' : 'the operator can also clear them',
    ],
    ['Recording', recordingTexts[robot.recording]],
    [
      'Recordings kept',
      robot.recording_days === null ? 'until you delete them' : `${robot.recording_days} days`,
    ],
    ['On hold', robot.on_hold ? 'no new sessions; release it with robots update --no-hold' : undefined],
    [
      'Low battery',
      robot.low_battery_threshold === 0 ? 'never' : `below ${percent(robot.low_battery_threshold)}`,
    ],
    ['Log events', robot.log_event_level],
    ['Registered', formatTime(robot.created_at)],
  ])
}

/** Prints the token of a robot and a program that connects with it. */
function showConnection(out: Output, robot: { control_url: string; robot_token: string }): void {
  const { control_url, robot_token } = robot
  out.line()
  out.line(styled('bold', 'Robot token, shown only once:'))
  out.line(robot_token)
  out.line()
  out.line(styled('bold', 'Connect the robot'), ' with @wheelhouse/sdk:')
  for (const line of [
    "import { RobotLink } from '@wheelhouse/sdk'",
    'const link = new RobotLink({',
    `  url: '${control_url}',`,
    '  token: robotToken, // the token above',
    '  onControl: ({ seq, data }) => { drive(data); link.ack(seq) },',
    '  onStop: ({ reason }) => { brake(); link.stopped(reason) },',
    '})',
    'await link.connect()',
  ]) {
    out.line('  ', line)
  }
}
