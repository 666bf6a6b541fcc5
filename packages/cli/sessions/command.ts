import { type Command, Option } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer, parseTime } from '../option-parsers.ts'
import { SESSION_STATUSES } from './statuses.ts'

const SESSION = 'its id, or a prefix of the id'
const ROBOT = 'its id, a prefix of the id, or its name'
const REASON = 'the reason, which the other participants can read'

/** Declares `wheelhouse sessions …` and the shortcut `wheelhouse stop`. */
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
    .addOption(new Option('--status <status>', 'only sessions with this status').choices(SESSION_STATUSES))
    .option('--robot <robot>', `only sessions on this robot: ${ROBOT}`)
    .option('--from <time>', 'only sessions created at or after this time', parseTime)
    .option('--to <time>', 'only sessions created before this time', parseTime)
    .option('--limit <number>', 'largest number of sessions', integer(1, 10_000), 50)
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
    .option('--after <number>', 'only entries after this number', integer(0, 2_147_483_647), 0)
    .action(lazyAction(() => import('./events.ts')))
}

function addStarting(sessions: Command, lazyAction: LazyAction): void {
  sessions
    .command('start')
    .description('start a session on a robot now, as its operator')
    .argument('<robot>', ROBOT)
    .option('--operator <id>', 'another operator; for admins')
    .option('--minutes <number>', 'planned duration (default: no planned end)', integer(1, 1_440))
    .action(lazyAction(() => import('./start.ts')))
  sessions
    .command('schedule')
    .description('schedule a session on a robot, as its operator')
    .argument('<robot>', ROBOT)
    .argument('<time>', 'such as 2026-12-01T09:30 or +2h, at most 90 days ahead', parseTime)
    .option('--operator <id>', 'another operator; for admins')
    .option('--minutes <number>', 'planned duration (default: 60)', integer(1, 1_440))
    .action(lazyAction(() => import('./schedule.ts')))
}

function addActions(sessions: Command, lazyAction: LazyAction): void {
  const action = (name: string, description: string) =>
    sessions.command(name).description(description).argument('<session>', SESSION)
  const withReason = (command: Command) => command.option('--reason <text>', REASON)

  action('begin', 'start a scheduled session').action(lazyAction(() => import('./begin.ts')))
  withReason(action('pause', 'pause a session; the robot stops')).action(
    lazyAction(() => import('./pause.ts')),
  )
  action('resume', 'resume a paused session').action(lazyAction(() => import('./resume.ts')))
  withReason(action('end', 'end a session')).action(lazyAction(() => import('./end.ts')))
  withReason(action('cancel', 'cancel a scheduled session')).action(lazyAction(() => import('./cancel.ts')))
  action('clear-stop', 'clear the remote stop; the session stays paused').action(
    lazyAction(() => import('./clear-stop.ts')),
  )
  withReason(
    action('request-clear', 'ask the owner to clear their stop; for the operator, at most once a minute'),
  ).action(lazyAction(() => import('./request-clear.ts')))
  action('extend', 'ask the operator for more time')
    .argument('<minutes>', 'additional minutes', integer(1, 480))
    .action(lazyAction(() => import('./extend.ts')))
  action('accept', 'approve the extension that the client requests').action(
    lazyAction(() => import('./accept.ts')),
  )
  action('decline', 'decline the extension that the client requests').action(
    lazyAction(() => import('./decline.ts')),
  )
  action('rate', 'rate a completed session, once')
    .argument('<stars>', '1 to 5', integer(1, 5))
    .option('--comment <text>')
    .action(lazyAction(() => import('./rate.ts')))
}

function addStop(stop: Command, lazyAction: LazyAction): void {
  stop
    .description(
      'remote stop: halts the robot until a participant clears it; it does not replace the emergency stop device of the robot',
    )
    .argument('[session]', `${SESSION}, or the name of its robot (default: your only open session)`)
    .option('--all', 'stop all your open sessions')
    .option('--reason <text>', REASON)
    .option('--within <seconds>', 'give up after this time (default: never)', integer(1, 86_400))
    .action(lazyAction(() => import('./stop.ts')))
}
