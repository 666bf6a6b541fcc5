import { type Command, Option } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { collectValues, integer } from '../option-parsers.ts'

/** `wheelhouse robots …`: the robots of their owner, and those that an operator may take. */
export function addRobots(program: Command, lazyAction: LazyAction): void {
  const robots = program.command('robots').description('your robots, and those that you may drive')
  robots
    .command('list')
    .description('list your robots, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(['OFFLINE', 'AVAILABLE', 'IN_SESSION']))
    .option('--type <type>', 'only of this type')
    .option('--search <words>', 'only with all these words in name, type, hardware id or tags')
    .addOption(new Option('--limit <number>', 'at most so many').argParser(integer(1, 10_000)).default(50))
    .option('--offset <number>', 'leave out so many of the newest', integer(0, 10_000_000))
    .action(lazyAction(() => import('./list.ts')))
  robots
    .command('available')
    .description('list the robots that you may take as an operator')
    .action(lazyAction(() => import('./available.ts')))
  robots
    .command('show')
    .description('show one of your robots')
    .argument('<robot>', 'its id, the beginning of that, or its name')
    .action(lazyAction(() => import('./show.ts')))
  robots
    .command('logs')
    .description("print the newest lines of a robot's log, oldest first; as JSON Lines with --json")
    .argument('<robot>', 'its id, the beginning of that, or its name')
    .addOption(
      new Option('--level <level>', 'only lines of this level or above')
        .choices(['debug', 'info', 'warn', 'error'])
        .default('debug'),
    )
    .option('--limit <number>', 'at most so many', integer(1, 10_000), 100)
    .action(lazyAction(() => import('./logs.ts')))
  robots
    .command('register')
    .description('register a robot; its token is shown this once')
    .argument('<name>')
    .requiredOption('--type <type>', 'what kind of robot it is, such as so-101')
    .requiredOption('--hardware-id <id>', 'of its board; unique')
    .option('--stream-url <url>', 'where its video is')
    .option('--tag <tag>', 'may be given several times', collectValues)
    .option('--notes <text>', 'what operators should know')
    .option('--require-certification', 'only operators certified for its type may take it')
    .option('--no-require-certification', 'every operator may; without either, the platform decides')
    .action(lazyAction(() => import('./register.ts')))
  robots
    .command('update')
    .description('change the settings of a robot')
    .argument('<robot>', 'its id, the beginning of that, or its name')
    .option('--name <name>')
    .option('--stream-url <url>', 'where its video is; "" for nowhere')
    .option('--tag <tag>', 'instead of those it has; may be given several times', collectValues)
    .option('--notes <text>', '"" for none')
    .option('--require-certification')
    .option('--no-require-certification')
    .option('--latency-limit <ms>', 'above which delay it should not be driven', integer(50, 10_000))
    .addOption(
      new Option('--stop-clear <who>', 'who may clear your remote stops: you and admins, or anyone').choices([
        'owner',
        'anyone',
      ]),
    )
    .option('--hold', 'let no session be started on it')
    .option('--no-hold', 'let sessions be started again')
    .option('--low-battery <percent>', 'below which charge you are notified; 0 for never', integer(0, 100))
    .addOption(
      new Option('--log-events <level>', 'from which level on its log lines become events').choices([
        'off',
        'warn',
        'error',
      ]),
    )
    .action(lazyAction(() => import('./update.ts')))
  robots
    .command('rotate-token')
    .description('replace the token of a robot; the old one stops working at once')
    .argument('<robot>', 'its id, the beginning of that, or its name')
    .action(lazyAction(() => import('./rotate-token.ts')))
  robots
    .command('remove')
    .description('remove a robot')
    .argument('<robot>', 'its id, the beginning of that, or its name')
    .action(lazyAction(() => import('./remove.ts')))
}
