import { type Command, Option } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { collectValues, integer, integerOrNone } from '../option-parsers.ts'

const ROBOT = 'its id, a prefix of the id, or its name'

/** Declares `wheelhouse robots …`: the robots of an owner, and those that are available to an operator. */
export function addRobots(program: Command, lazyAction: LazyAction): void {
  const robots = program.command('robots').description('your robots, and those that you may drive')
  robots
    .command('list')
    .description('list your robots, newest first')
    .addOption(
      new Option('--status <status>', 'only robots with this status').choices([
        'OFFLINE',
        'AVAILABLE',
        'IN_SESSION',
      ]),
    )
    .option('--type <type>', 'only robots of this type')
    .option('--tag <tag>', 'only robots with this tag')
    .option(
      '--battery-below <percent>',
      'only robots whose last reported charge is below this',
      integer(1, 100),
    )
    .option('--search <words>', 'only robots with all these words in name, type, hardware id or tags')
    .addOption(
      new Option('--limit <number>', 'largest number of robots').argParser(integer(1, 10_000)).default(50),
    )
    .option('--offset <number>', 'skip this many of the newest robots', integer(0, 10_000_000))
    .action(lazyAction(() => import('./list.ts')))
  robots
    .command('available')
    .description('list the robots that are available to you as an operator')
    .action(lazyAction(() => import('./available.ts')))
  robots
    .command('show')
    .description('show one of your robots')
    .argument('<robot>', ROBOT)
    .action(lazyAction(() => import('./show.ts')))
  robots
    .command('logs')
    .description("print the newest lines of a robot's log, oldest first; as JSON Lines with --json")
    .argument('<robot>', ROBOT)
    .addOption(
      new Option('--level <level>', 'only lines of this level or above')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('debug'),
    )
    .option('--limit <number>', 'largest number of lines', integer(1, 10_000), 100)
    .action(lazyAction(() => import('./logs.ts')))
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
    .action(lazyAction(() => import('./register.ts')))
  robots
    .command('update')
    .description('change the settings of a robot')
    .argument('<robot>', ROBOT)
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
      new Option(
        '--stop-clear <who>',
        'who may clear your remote stops: owner (you and admins), or anyone (also the operator)',
      ).choices(['owner', 'anyone']),
    )
    .addOption(
      new Option(
        '--recording <mode>',
        'record its sessions: control (commands and telemetry), video (also its cameras) or off',
      ).choices(['off', 'control', 'video']),
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
      new Option('--log-events <level>', 'publish events for log lines of this level or above').choices([
        'off',
        'warn',
        'error',
      ]),
    )
    .action(lazyAction(() => import('./update.ts')))
  robots
    .command('pairing-code')
    .description('create a code with which a robot or a phone connects once, within ten minutes')
    .argument('<robot>', ROBOT)
    .action(lazyAction(() => import('./pairing-code.ts')))
  robots
    .command('rotate-token')
    .description('replace the token of a robot; the old one stops working at once')
    .argument('<robot>', ROBOT)
    .action(lazyAction(() => import('./rotate-token.ts')))
  robots
    .command('remove')
    .description('remove a robot')
    .argument('<robot>', ROBOT)
    .action(lazyAction(() => import('./remove.ts')))
}
