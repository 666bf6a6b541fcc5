import { setTimeout as delay } from 'node:timers/promises'
import { reasonText, SessionStatus } from '@wheelhouse/protocol'
import { ApiError, answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { isTransient, toFailure } from './lib/errors.ts'
import { Failure } from './lib/failure.ts'
import { availableRobotId, findUnique, isFullId, openSessions, robotId, sessionId } from './lib/ids.ts'
import { choice, given, integer, parseTime, STOP_DESCRIPTION } from './lib/options.ts'
import type { Column, Output } from './lib/output.ts'
import { styled } from './lib/text.ts'
import { formatMoney, formatTime, logLine, statusPiece } from './lib/views.ts'

const SESSION = 'its id, or a prefix of the id'
const ROBOT = 'its id, a prefix of the id, or its name'
const REASON = 'the reason, which the other participants can read'

export const commands = { sessions: declareSessions, stop: declareStop }

/** Declares `wheelhouse sessions …`. */
function declareSessions(sessions: Command, action: CreateAction): void {
  addReading(sessions, action)
  addStarting(sessions, action)
  addActions(sessions, action)
  declareStop(sessions.command('stop').description(STOP_DESCRIPTION), action)
}

function addReading(sessions: Command, action: CreateAction): void {
  sessions
    .command('list')
    .description('list your sessions, newest first')
    .addOption(choice('--status <status>', 'only sessions with this status', SessionStatus.options))
    .option('--robot <robot>', `only sessions on this robot: ${ROBOT}`)
    .option('--from <time>', 'only sessions created at or after this time', parseTime)
    .option('--to <time>', 'only sessions created before this time', parseTime)
    .option('--limit <number>', 'largest number of sessions', integer(1, 10_000), 50)
    .action(action(list))
  sessions.command('show').description('show a session').argument('<session>', SESSION).action(action(show))
  sessions
    .command('events')
    .description('print the log of a session, oldest first; as JSON Lines with --json')
    .argument('<session>', SESSION)
    .option('--after <number>', 'only entries after this number', integer(0, 2_147_483_647), 0)
    .action(action(events))
}

function addStarting(sessions: Command, action: CreateAction): void {
  sessions
    .command('start')
    .description('start a session on a robot now, as its operator')
    .argument('<robot>', ROBOT)
    .option('--operator <id>', 'another operator; for admins')
    .option('--minutes <number>', 'planned duration (default: no planned end)', integer(1, 1_440))
    .action(action((cli, robot: string, options: StartOptions) => start(cli, robot, options)))
  sessions
    .command('schedule')
    .description('schedule a session on a robot, as its operator')
    .argument('<robot>', ROBOT)
    .argument('<time>', 'such as 2026-12-01T09:30 or +2h, at most 90 days ahead', parseTime)
    .option('--operator <id>', 'another operator; for admins')
    .option('--minutes <number>', 'planned duration (default: 60)', integer(1, 1_440))
    .action(action((cli, robot: string, at: string, options: StartOptions) => start(cli, robot, options, at)))
}

function addActions(sessions: Command, action: CreateAction): void {
  const session = (name: string, description: string) =>
    sessions.command(name).description(description).argument('<session>', SESSION)
  const performing = (name: Schemas['SessionAction']) =>
    action((cli, session: string, { reason }: { reason?: string }) => perform(cli, session, name, reason))

  session('begin', 'start a scheduled session').action(performing('start'))
  session('pause', 'pause a session; the robot stops')
    .option('--reason <text>', REASON)
    .action(performing('pause'))
  session('resume', 'resume a paused session').action(performing('resume'))
  session('end', 'end a session').option('--reason <text>', REASON).action(action(end))
  session('cancel', 'cancel a scheduled session').option('--reason <text>', REASON).action(action(cancel))
  session('clear-stop', 'clear the remote stop; the session stays paused').action(performing('clear_stop'))
  session('request-clear', 'ask the owner to clear their stop; for the operator, at most once a minute')
    .option('--reason <text>', REASON)
    .action(performing('request_clear_stop'))
  session('extend', 'ask the operator for more time')
    .argument('<minutes>', 'additional minutes', integer(1, 480))
    .action(action(extend))
  session('accept', 'approve the extension that the client requests').action(performing('approve_extension'))
  session('decline', 'decline the extension that the client requests').action(performing('decline_extension'))
  session('rate', 'rate a completed session, once')
    .argument('<stars>', '1 to 5', integer(1, 5))
    .option('--comment <text>')
    .action(action(rate))
}

/** Declares `wheelhouse sessions stop`, and its shortcut `wheelhouse stop`. */
function declareStop(command: Command, action: CreateAction): void {
  command
    .argument('[session]', `${SESSION}, or the name of its robot (default: your only open session)`)
    .option('--all', 'stop all your open sessions')
    .option('--reason <text>', REASON)
    .option('--within <seconds>', 'give up after this time (default: never)', integer(1, 86_400))
    .action(action(stop))
}

const LIST_PAGE = 100

interface ListOptions {
  readonly status?: Schemas['SessionStatus']
  readonly robot?: string
  readonly from?: string
  readonly to?: string
  readonly limit: number
}

/** Prints the caller's sessions. */
async function list(cli: Context, { robot, limit, ...filter }: ListOptions): Promise<void> {
  const robotFilter = robot === undefined ? {} : { robotId: await robotId(cli, robot) }
  const found = new Map<string, Schemas['Session']>()
  for (let offset = 0; found.size < limit; offset += LIST_PAGE) {
    const query = { ...filter, ...robotFilter, limit: Math.min(LIST_PAGE, limit - found.size), offset }
    const { sessions } = await answerOf(cli.rest.GET('/api/sessions', { params: { query } }))
    // A session created between two pages shifts the others, so a page may repeat sessions.
    for (const session of sessions) found.set(session.id, session)
    if (sessions.length < query.limit) break
  }
  cli.out.list([...found.values()], sessionColumns, 'No sessions.')
}

/** Prints one session with its details. */
async function show(cli: Context, idOrPrefix: string): Promise<void> {
  const id = await sessionId(cli, idOrPrefix)
  const session = await answerOf(cli.rest.GET('/api/sessions/{id}', { params: { path: { id } } }))
  cli.out.result(session, () => showSession(cli.out, session))
}

const LOG_PAGE = 200

/** Prints the log of a session. */
async function events(cli: Context, idOrPrefix: string, options: { after: number }): Promise<void> {
  const id = await sessionId(cli, idOrPrefix)
  for (let after = options.after; ; ) {
    const params = { path: { id }, query: { after, limit: LOG_PAGE } }
    const { events } = await answerOf(cli.rest.GET('/api/sessions/{id}/events', { params }))
    for (const event of events) {
      if (cli.out.json) cli.out.entry(event)
      else cli.out.line(...logLine(event))
      after = event.seq
    }
    if (events.length < LOG_PAGE) return
  }
}

interface StartOptions {
  readonly operator?: string
  /** The planned duration. */
  readonly minutes?: number
}

/** Starts a session on a robot, now or at a time. */
async function start(
  cli: Context,
  idOrName: string,
  { operator, minutes }: StartOptions,
  at?: string,
): Promise<void> {
  const body = {
    robotId: await availableRobotId(cli, idOrName),
    ...given({ operatorId: operator, scheduledFor: at, plannedMinutes: minutes }),
  }
  const session = await answerOf(cli.rest.POST('/api/sessions', { body }))
  cli.out.result(session, () => {
    cli.out.line(session.sessionId)
    cli.out.note(at === undefined ? 'The session has started.' : `Scheduled for ${formatTime(at)}.`)
  })
}

/** Ends a session, which fixes its price. */
async function end(cli: Context, session: string, { reason }: { reason?: string }): Promise<void> {
  await cli.prompts.confirm(`End session ${session}? It cannot be resumed.`)
  await perform(cli, session, 'end', reason)
}

/** Cancels a scheduled session. */
async function cancel(cli: Context, session: string, { reason }: { reason?: string }): Promise<void> {
  await cli.prompts.confirm(`Cancel session ${session}? That cannot be undone.`)
  await perform(cli, session, 'cancel', reason)
}

/** Asks the operator for more time. The session's log shows the answer. */
async function extend(cli: Context, idOrPrefix: string, additionalMinutes: number): Promise<void> {
  const params = { path: { id: await sessionId(cli, idOrPrefix) } }
  const body = { additionalMinutes }
  const receipt = await answerOf(cli.rest.POST('/api/sessions/{id}/extend', { params, body }))
  cli.out.result(receipt, () => cli.out.line(receipt.message))
}

/** Rates a completed session. */
async function rate(
  cli: Context,
  idOrPrefix: string,
  rating: number,
  { comment = null }: { comment?: string | null },
): Promise<void> {
  const params = { path: { id: await sessionId(cli, idOrPrefix) } }
  const body = { rating, comment }
  const session = await answerOf(cli.rest.POST('/api/sessions/{id}/rate', { params, body }))
  cli.out.result(session, () => showSession(cli.out, session))
}

/** Performs an action on a session and prints the session. */
async function perform(
  cli: Context,
  idOrPrefix: string,
  action: Schemas['SessionAction'],
  reason: string | undefined,
): Promise<void> {
  const params = { path: { id: await sessionId(cli, idOrPrefix) } }
  const body = { action, ...(reason !== undefined && { reason }) }
  const session = await answerOf(cli.rest.PATCH('/api/sessions/{id}', { params, body }))
  cli.out.result(session, () => showSession(cli.out, session))
}

/** Time without a response after which the command sends the stop again. Repeated stops are harmless. */
const ANSWER_LIMIT_MS = 3_000
const RETRY_MS = 300

interface StopOptions {
  readonly all?: true
  readonly reason?: string
  readonly within?: number
}
type Stopped = Schemas['SessionDetail']

/** Requests a remote stop until the platform has recorded it. */
async function stop(cli: Context, idOrName: string | undefined, options: StopOptions): Promise<void> {
  const limit = options.within === undefined ? undefined : AbortSignal.timeout(options.within * 1000)
  const until = limit ? AbortSignal.any([cli.signal, limit]) : cli.signal
  const ids = await retryUntil(cli, until, () => sessionsToStop(cli, idOrName, options))
  const results = await Promise.allSettled(
    ids.map((id) => retryUntil(cli, until, () => requestStop(cli, id, options))),
  )
  const stopped = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  if (cli.out.json) cli.out.document(stopped)
  else {
    for (const { id, robot_name } of stopped) {
      cli.out.line(
        styled('bold', 'Stopped'),
        ` ${robot_name}. Clear it with: wheelhouse sessions clear-stop ${id}`,
      )
    }
  }
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}

async function sessionsToStop(
  cli: Context,
  idOrName: string | undefined,
  { all }: StopOptions,
): Promise<string[]> {
  if (idOrName !== undefined && isFullId(idOrName)) return [idOrName.toLowerCase()]
  const open = await openSessions(cli)
  if (idOrName !== undefined) {
    const named = open.map(({ id, robot_name: name }) => ({ id, name }))
    return [findUnique(named, idOrName, 'open session', 'sessions list').id]
  }
  if (open.length === 0) throw new Failure('not_found', 'You have no open session.')
  if (open.length === 1 || all) return open.map(({ id }) => id)
  const ids = open.map(({ id, robot_name }) => `${id} (${robot_name})`).join(', ')
  throw new Failure('usage', `Several sessions are open: ${ids}. Name one, or stop all with --all`)
}

async function requestStop(cli: Context, id: string, { reason }: StopOptions): Promise<Stopped> {
  const body = { action: 'emergency_stop' as const, ...(reason !== undefined && { reason }) }
  const signal = AbortSignal.timeout(ANSWER_LIMIT_MS)
  const session = await answerOf(
    cli.rest.PATCH('/api/sessions/{id}', { params: { path: { id } }, body, signal }),
  )
  if (session.control.stop === null) throw new ApiError(503, 'The stop is not recorded')
  return session
}

/** Retries while the platform is unreachable, not ready or too busy. */
async function retryUntil<T>(cli: Context, until: AbortSignal, work: () => Promise<T>): Promise<T> {
  let warned = false
  for (;;) {
    try {
      return await work()
    } catch (cause) {
      if (!isTransient(cause)) throw cause
      if (until.aborted) throw unconfirmedStopFailure(cli)
      if (!warned) {
        const why = toFailure(cause, cli.server).message
        cli.out.notice(styled('red', 'The stop is not recorded yet'), `, trying again. ${why}`)
      }
      warned = true
    }
    await delay(RETRY_MS, undefined, { signal: until }).catch(() => {
      throw unconfirmedStopFailure(cli)
    })
  }
}

const unconfirmedStopFailure = ({ server }: Context) =>
  new Failure('unreachable', `${server} has not confirmed the stop. The robot may still move.`)

type Session = Schemas['Session']

const centsOf = (session: Session) =>
  'operator_earnings_cents' in session ? session.operator_earnings_cents : session.client_charge_cents

const sessionColumns: readonly Column<Session>[] = [
  { title: 'ID', value: ({ id }) => id, noTruncate: true },
  { title: 'STATUS', value: ({ status }) => statusPiece(status), noTruncate: true },
  { title: 'ROBOT', value: ({ robot_name }) => robot_name },
  { title: 'OPERATOR', value: ({ operator_name }) => operator_name },
  { title: 'STARTED', value: ({ started_at }) => formatTime(started_at) },
  { title: 'MINUTES', value: ({ duration_minutes }) => duration_minutes, right: true },
  { title: 'EUR', value: (session) => formatMoney(centsOf(session), '')?.trim(), right: true },
  { title: 'RATED', value: ({ rating }) => rating, right: true },
]

const requesters = { client: 'the owner', operator: 'the operator', admin: 'an admin' } as const
const clearers = { owner: 'the owner or an admin', anyone: 'the owner, an admin or the operator' } as const
const pendingUntil = (session: Schemas['SessionDetail']) =>
  'earnings_pending_until' in session ? formatTime(session.earnings_pending_until) : undefined

function showSession(out: Output, session: Schemas['SessionDetail']): void {
  const { control, latency } = session
  const charged = 'operator_earnings_cents' in session ? 'Earned' : 'Charged'
  out.record([
    ['Id', session.id],
    ['Status', statusPiece(session.status)],
    [
      'Stop',
      control.stop
        ? styled('red', `${reasonText(control.stop.reason)}, since ${formatTime(control.stop.at)}`)
        : undefined,
    ],
    ['Stopped by', control.stop?.by_role ? requesters[control.stop.by_role] : undefined],
    ['Cleared by', control.stop ? clearers[control.stop.clearable_by] : undefined],
    [
      'Clearing',
      control.stop?.clear_requested_at
        ? `requested ${formatTime(control.stop.clear_requested_at)}`
        : undefined,
    ],
    ['Robot', `${session.robot_name} (${session.robot_type})`],
    ['Robot id', session.robot_id],
    ['Robot connection', isOpen(session) ? robotConnection(session) : undefined],
    ['Operator', session.operator_name],
    ['Operator connection', isOpen(session) ? operatorConnection(session) : undefined],
    ['Planned for', formatTime(session.scheduled_for)],
    ['Started', formatTime(session.started_at)],
    ['Ended', formatTime(session.ended_at)],
    ['Why paused', reasonText(session.pause_reason) || undefined],
    ['Why ended', reasonText(session.end_reason) || undefined],
    ['Minutes', session.duration_minutes ?? undefined],
    ['Planned minutes', session.planned_minutes ?? undefined],
    ['Planned end', formatTime(session.planned_end)],
    ['Paused', session.paused_seconds > 0 ? `${session.paused_seconds} s` : undefined],
    [
      'Robot offline',
      session.robot_offline_seconds > 0 ? `${session.robot_offline_seconds} s, not billed` : undefined,
    ],
    [charged, formatMoney(centsOf(session))],
    ['Pending until', pendingUntil(session)],
    ['Rated', session.rating ?? undefined],
    ['Comment', session.rating_comment ?? undefined],
    [
      'Latency',
      latency?.p50_ms != null ? `${latency.p50_ms} ms, 95%: ${latency.p95_ms ?? '-'} ms` : undefined,
    ],
    ['Picture age', latency?.video ? pictureText(latency.video) : undefined],
    ['Speed limit', latency?.speed ? speedText(latency.speed) : undefined],
  ])
}

const percent = (scale: number) => `${Math.round(scale * 100)} %`

function speedText({
  min_scale,
  mean_scale,
  limited_seconds,
  picture_limited_seconds,
}: NonNullable<NonNullable<Schemas['SessionDetail']['latency']>['speed']>): string {
  if (limited_seconds === 0) return 'none'
  const scales =
    min_scale === null || mean_scale === null
      ? 'latency unknown'
      : `lowest ${percent(min_scale)}, mean ${percent(mean_scale)}`
  const cause =
    picture_limited_seconds === 0 ? 'by latency' : `(${picture_limited_seconds} s by the age of the picture)`
  return `${limited_seconds} s ${cause}, ${scales}`
}

const isOpen = ({ status }: Schemas['SessionDetail']) => status === 'ACTIVE' || status === 'PAUSED'

const robotConnection = ({ control }: Schemas['SessionDetail']) =>
  control.connected ? styled('green', 'connected') : styled('red', 'not connected')

/** Returns the operator's connection, from the status: the platform pauses an ACTIVE session that loses its operator. */
function operatorConnection({ status, pause_reason, control }: Schemas['SessionDetail']) {
  if (!control.operator_joined) return 'not connected yet'
  if (status === 'ACTIVE') return styled('green', 'connected')
  return pause_reason === 'operator_lost' ? styled('red', 'lost') : 'not known while paused'
}

function pictureText(video: NonNullable<NonNullable<Schemas['SessionDetail']['latency']>['video']>): string {
  const { p50_ms, p95_ms, dropped } = video
  const ages = p50_ms === null ? 'frozen' : `50%: ${p50_ms} ms, 95%: ${p95_ms ?? '-'} ms`
  return `${ages}; ${dropped} commands dropped because it was too old`
}
