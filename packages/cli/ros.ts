import type { RobotLinkEnd } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { Failure } from './lib/failure.ts'
import { choice } from './lib/options.ts'
import { styled } from './lib/text.ts'
import { clockOf } from './lib/views.ts'
import { RosAgent } from './ros/agent.ts'
import { loadConfig } from './ros/config.ts'
import { init } from './ros/init.ts'
import { accessOf } from './ros/robot-access.ts'
import { loadSource } from './ros/sources.ts'

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
