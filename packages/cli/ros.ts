import { chmod, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { answerOf, type RobotLinkEnd } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import { z } from 'zod'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { configDirectory, OWNER_ONLY_FILE, writeOwnerFile } from './lib/credentials.ts'
import { Failure } from './lib/failure.ts'
import { choice } from './lib/options.ts'
import { styled } from './lib/text.ts'
import { clockOf } from './lib/views.ts'
import { loadSource, RosAgent } from './ros/agent.ts'
import { loadConfig } from './ros/config.ts'
import { init } from './ros/init.ts'

export const commands = { ros: declareRos }

const CONFIG = 'robot.yaml'

/** Declares `wheelhouse ros`: robots with ROS. */
function declareRos(command: Command, action: CreateAction): void {
  command
    .command('init')
    .description("look at the robot's topics and write a robot.yaml for them; the robot does not move")
    .addOption(
      choice('--from <source>', 'what to connect to (default: what answers at its usual address)', [
        'ros1',
        'rosbridge',
        'foxglove',
      ]),
    )
    .option('--url <address>', 'its address, such as ws://robot.local:9090')
    .option('--out <file>', 'the file to write, with schemas beside it', CONFIG)
    .option(
      '--urdf <file>',
      "the robot's URDF, for the limits of its joints (default: its robot_description)",
    )
    .option('--force', 'replace files')
    .action(action(init))
  command
    .command('run')
    .description('connect a robot with ROS to the platform, until Ctrl-C; halts the robot first')
    .argument('[file]', 'the settings, as init writes them', CONFIG)
    .option('--code <code>', 'pair with this code of the console; needed once')
    .action(action(run))
}

/** Runs the agent of a robot until Ctrl-C, or until the platform has refused the robot. */
async function run(cli: Context, file: string, { code }: { readonly code?: string }): Promise<void> {
  const config = await loadConfig(file)
  const createSource = await loadSource(config.source.type)
  const { name, control_url, robot_token } = await accessOf(cli, file, code)
  const ended = Promise.withResolvers<RobotLinkEnd | undefined>()
  const agent = new RosAgent({
    url: control_url,
    token: robot_token,
    config,
    createSource,
    ownHost: cli.env.ROS_HOSTNAME || cli.env.ROS_IP,
    onLine: (level, message) => {
      const at = new Date().toISOString()
      if (cli.out.json) return cli.out.entry({ at, type: 'line', level, message })
      cli.out.line(styled('dim', `${clockOf(at)}  `), level === 'info' ? message : `${level}: ${message}`)
    },
    onClosed: ended.resolve,
  })
  const leave = () => ended.resolve(undefined)
  cli.signal.addEventListener('abort', leave, { once: true })
  try {
    if (!cli.signal.aborted) agent.start()
    else leave()
    const end = await ended.promise
    cli.signal.throwIfAborted()
    throw new Failure('refused', `The platform has refused ${name}: ${end?.reason}`)
  } finally {
    cli.signal.removeEventListener('abort', leave)
    await agent.close()
  }
}

const VERSION = 1
/** Robots of this user on this machine; of more, the oldest is forgotten. */
const MAX_STORED_ROBOTS = 64

/** How a robot connects to the platform. */
const RobotAccess = z.object({
  name: z.string(),
  control_url: z.url({ protocol: /^wss?$/ }),
  robot_token: z.string().min(1),
})
type RobotAccess = z.infer<typeof RobotAccess>

const StoredAccess = z.object({
  version: z.literal(VERSION),
  /** By the path of the robot.yaml. */
  robots: z.record(z.string(), RobotAccess),
})

/**
 * Returns how the robot of a robot.yaml connects: from a pairing code, which works once and is stored for the next start; from
 * CONTROL_URL and ROBOT_TOKEN; or from an earlier pairing.
 * @throws Failure without any of them; ApiError for a code that the platform refuses
 */
async function accessOf(cli: Context, config: string, code: string | undefined): Promise<RobotAccess> {
  const { CONTROL_URL, ROBOT_TOKEN } = cli.env
  const path = join(configDirectory(cli.env), 'ros-robots.json')
  const key = resolve(config)
  if (code !== undefined) {
    const paired = RobotAccess.parse(await answerOf(cli.publicRest.POST('/api/pairing', { body: { code } })))
    await store(cli, path, key, paired)
    cli.out.note(`Paired with ${paired.name}. The next start needs no code.`)
    return paired
  }
  if (CONTROL_URL && ROBOT_TOKEN)
    return { name: 'The robot', control_url: CONTROL_URL, robot_token: ROBOT_TOKEN }
  const stored = (await read(path))[key]
  if (stored) return stored
  const next = 'Take a pairing code from the page of the robot in the console and add --code CODE'
  throw new Failure(
    'usage',
    `The robot of ${config} is not paired. ${next}, or set CONTROL_URL and ROBOT_TOKEN.`,
  )
}

async function store(cli: Context, path: string, key: string, access: RobotAccess): Promise<void> {
  // Under the lock of the settings folder, because robots may be paired at once.
  await cli.store.update(async (credentials) => {
    const { [key]: _, ...others } = await read(path)
    const robots = Object.fromEntries([...Object.entries(others).slice(1 - MAX_STORED_ROBOTS), [key, access]])
    await writeOwnerFile(path, { version: VERSION, robots })
    return [credentials, undefined] as const
  }, cli.signal)
}

async function read(path: string): Promise<Readonly<Record<string, RobotAccess>>> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw new Failure('refused', `${path} cannot be read (${cause.code})`, { cause })
  })
  if (text === undefined) return {}
  await chmod(path, OWNER_ONLY_FILE)
  try {
    return StoredAccess.parse(JSON.parse(text)).robots
  } catch (cause) {
    throw new Failure('refused', `${path} is damaged. Move it away and pair the robots again.`, { cause })
  }
}
