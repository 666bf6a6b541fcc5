import { type Command, Option } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer, parseTime } from '../option-parsers.ts'
import { SESSION_STATUSES } from './statuses.ts'

const SESSION = 'its id, or the beginning of that'

/** `wheelhouse sessions …` and the shortcut `wheelhouse stop`. */
export function addSessions(program: Command, lazyAction: LazyAction): void {
  const sessions = program.command('sessions').description('your sessions')
  addReading(sessions, lazyAction)
  addStarting(sessions, lazyAction)
  addActions(sessions, lazyAction)
  addStop(sessions.command('stop'), lazyAction)
  addStop(program.command('stop'), lazyAction)
}

function addReading(sessions: Command, lazyAction: LazyAction): void {
  sessions
    .command('list')
    .description('list your sessions, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(SESSION_STATUSES))
    .option('--robot <robot>', 'only on this robot: its id, the beginning of that, or its name')
    .option('--from <time>', 'created at this time or later', parseTime)
    .option('--to <time>', 'created before this time', parseTime)
    .option('--limit <number>', 'at most so many', integer(1, 10_000), 50)
    .action(lazyAction(() => import('./list.ts')))
  sessions
    .command('show')
    .description('show a session')
    .argument('<session>', SESSION)
    .action(lazyAction(() => import('./show.ts')))
  sessions
    .command('events')
    .description('print the log of a session, oldest first; as JSON Lines with --json')
    .argument('<session>', SESSION)
    .option('--after <number>', 'only entries numbered above this', integer(0, 2_147_483_647), 0)
    .action(lazyAction(() => import('./events.ts')))
}

function addStarting(sessions: Command, lazyAction: LazyAction): void {
  sessions
    .command('start')
    .description('start a session on a robot now, as its operator')
    .argument('<robot>', 'its id, the beginning of that, or its name')
    .option('--operator <id>', 'another operator; for admins')
    .option('--minutes <number>', 'planned length; without it no end is planned', integer(1, 1_440))
    .action(lazyAction(() => import('./start.ts')))
  sessions
    .command('schedule')
    .description('plan a session on a robot, as its operator')
    .argument('<robot>', 'its id, the beginning of that, or its name')
    .argument('<time>', 'such as 2026-12-01T09:30 or +2h, at most 90 days ahead', parseTime)
    .option('--operator <id>', 'another operator; for admins')
    .option('--minutes <number>', 'planned length; default: 60', integer(1, 1_440))
    .action(lazyAction(() => import('./schedule.ts')))
}

function addActions(sessions: Command, lazyAction: LazyAction): void {
  const action = (name: string, description: string) =>
    sessions.command(name).description(description).argument('<session>', SESSION)
  const withReason = (command: Command) => command.option('--reason <text>', 'what the others are told')

  action('begin', 'start a planned session').action(lazyAction(() => import('./begin.ts')))
  withReason(action('pause', 'pause a session; the robot stops')).action(
    lazyAction(() => import('./pause.ts')),
  )
  action('resume', 'go on with a paused session').action(lazyAction(() => import('./resume.ts')))
  withReason(action('end', 'end a session for good')).action(lazyAction(() => import('./end.ts')))
  withReason(action('cancel', 'cancel a planned session')).action(lazyAction(() => import('./cancel.ts')))
  action('clear-stop', 'clear the emergency stop; the session stays paused').action(
    lazyAction(() => import('./clear-stop.ts')),
  )
  withReason(
    action('request-clear', 'ask the owner to clear their stop; the operator can, at most once a minute'),
  ).action(lazyAction(() => import('./request-clear.ts')))
  action('extend', 'ask the operator for more time')
    .argument('<minutes>', 'how much more', integer(1, 480))
    .action(lazyAction(() => import('./extend.ts')))
  action('accept', 'give the time that the client asks for').action(lazyAction(() => import('./accept.ts')))
  action('decline', 'refuse the time that the client asks for').action(
    lazyAction(() => import('./decline.ts')),
  )
  action('rate', 'rate a completed session, once')
    .argument('<stars>', '1 to 5', integer(1, 5))
    .option('--comment <text>')
    .action(lazyAction(() => import('./rate.ts')))
}

function addStop(stop: Command, lazyAction: LazyAction): void {
  stop
    .description('emergency stop: the robot stands until somebody clears it')
    .argument('[session]', `${SESSION}, or its robot's name; without one, the only session that is open`)
    .option('--all', 'all your open sessions')
    .option('--reason <text>', 'what the others are told')
    .option('--within <seconds>', 'give up after so long; default: never', integer(1, 86_400))
    .action(lazyAction(() => import('./stop.ts')))
}
