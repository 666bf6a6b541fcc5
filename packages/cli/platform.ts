import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Command } from 'commander'
import type { CreateAction } from './lib/action.ts'
import type { Context } from './lib/context.ts'
import { Failure } from './lib/failure.ts'
import type { Output } from './lib/output.ts'
import { styled } from './lib/text.ts'
import { formatMoney, formatTime } from './lib/views.ts'

export const commands = {
  status: declareStatus,
  search: declareSearch,
  stats: declareStats,
  schedule: declareSchedule,
}

function declareStatus(command: Command, action: CreateAction): void {
  command.action(action(status))
}

function declareSearch(command: Command, action: CreateAction): void {
  command.argument('<words...>', 'words that must all occur').action(action(search))
}

function declareStats(command: Command, action: CreateAction): void {
  command.action(action(stats))
}

function declareSchedule(command: Command, action: CreateAction): void {
  command.action(action(schedule))
}

/** Prints the health of the platform and its database. Throws if they do not work, which sets the exit code. */
async function status(cli: Context): Promise<void> {
  const health = await answerOf(cli.publicRest.GET('/api/health'))
  const stats = await answerOf(cli.publicRest.GET('/api/stats'))
  const { server, out } = cli
  const skewS = Math.round((Date.parse(health.timestamp) - Date.now()) / 1000)
  out.result({ server, ...health, clock_skew_seconds: skewS, stats }, () => {
    out.record([
      ['Platform', server],
      ['Status', styled('green', health.status)],
      ['Robots', `${stats.robots_online} of ${stats.robots_total} online`],
      ['Active sessions', stats.sessions_active],
      ['Completed sessions', stats.sessions_completed],
      ['Hours driven', stats.teleop_hours.toFixed(1)],
    ])
    if (Math.abs(skewS) > CLOCK_TOLERANCE_S) {
      out.note(
        styled('yellow', `This machine's clock is ${Math.abs(skewS)} s ${skewS > 0 ? 'behind' : 'ahead'}.`),
      )
    }
  })
}

/** The latency of the response may cause a difference up to this. */
const CLOCK_TOLERANCE_S = 5

const KINDS = {
  own_robot: 'your robot',
  available_robot: 'available robot',
  session: 'session',
  user: 'user',
} as const

/** Prints the robots, sessions and users that contain all words. */
async function search(cli: Context, words: readonly string[]): Promise<void> {
  const query = { q: words.join(' ') }
  const { results } = await answerOf(cli.rest.GET('/api/search', { params: { query } }))
  cli.out.list(
    results,
    [
      { title: 'KIND', value: ({ kind }) => KINDS[kind] },
      { title: 'ID', value: ({ id }) => id, noTruncate: true },
      { title: 'NAME', value: ({ title }) => title },
      { title: 'DETAIL', value: ({ detail }) => detail },
      { title: 'TIME', value: ({ at }) => formatTime(at) },
    ],
    'No results.',
  )
}

/** Prints statistics for each role of the caller. */
async function stats(cli: Context): Promise<void> {
  const { roles } = await answerOf(cli.rest.GET('/api/auth/profile'))
  const [client, operator] = await Promise.all([
    roles.includes('client') ? answerOf(cli.rest.GET('/api/client/stats')) : undefined,
    roles.includes('operator') ? answerOf(cli.rest.GET('/api/operator/stats')) : undefined,
  ])
  if (!client && !operator) {
    throw new Failure(
      'not_allowed',
      'You are neither a client nor an operator yet. Choose a role in the console.',
    )
  }
  cli.out.result({ ...(client && { client }), ...(operator && { operator }) }, () => {
    if (client) showClient(cli.out, client)
    if (operator) showOperator(cli.out, operator)
  })
}

/** Members who may not see costs get none. */
const costOf = (cents: number | null) => (cents === null ? undefined : formatMoney(cents))

function showClient(out: Output, stats: Schemas['ClientStats']): void {
  const { robots_by_status: robots, sessions_by_status: sessions } = stats
  out.line(styled('bold', 'As a client'))
  out.record([
    ['Robots', `${robots.AVAILABLE} available, ${robots.IN_SESSION} in session, ${robots.OFFLINE} offline`],
    ['Sessions', `${sessions.ACTIVE + sessions.PAUSED} open, ${sessions.COMPLETED} completed`],
    ['Minutes', stats.minutes],
    ['Spent this month', costOf(stats.spend_this_month_cents)],
    ['Spent in total', costOf(stats.spend_total_cents)],
    ['Episodes', `${stats.episodes_collected}, ${stats.data_collected_mb} MB`],
    ['Ratings given', stats.average_rating?.toFixed(1)],
  ])
}

function showOperator(out: Output, stats: Schemas['OperatorStats']): void {
  const { sessions_by_status: sessions } = stats
  out.line(styled('bold', 'As an operator'))
  out.record([
    ['Sessions', `${sessions.ACTIVE + sessions.PAUSED} open, ${sessions.COMPLETED} completed`],
    ['Hours', stats.hours.toFixed(1)],
    ['Earned this month', formatMoney(stats.earnings_this_month_cents)],
    ['Earned in total', formatMoney(stats.earnings_total_cents)],
    ['Ready for payout', formatMoney(stats.available_for_payout_cents)],
    ['Pending', formatMoney(stats.pending_earnings_cents)],
    ['Robot outages this month', `${stats.outage_seconds_this_month} s, not paid`],
    [
      'Rating',
      stats.rating_average === null ? undefined : `${stats.rating_average} of ${stats.rating_count}`,
    ],
  ])
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** Prints an operator's weekly schedule and current availability. */
async function schedule(cli: Context): Promise<void> {
  const [schedule, availability] = await Promise.all([
    answerOf(cli.rest.GET('/api/operator/schedule')),
    answerOf(cli.rest.GET('/api/operator/availability')),
  ])
  const { out } = cli
  out.result({ ...schedule, availability }, () => {
    const { available, reason, next_available_at } = availability
    if (available) out.line(styled('green', 'You are available now.'))
    else {
      const next = formatTime(next_available_at)
      out.line(
        `You are not available now: ${(reason ?? 'unknown').replaceAll('_', ' ')}${next ? `; available from ${next}` : ''}.`,
      )
    }
    if (schedule.slots.length === 0) return out.note('Your schedule is empty. Set it in the console.')
    out.line(`Your weekly schedule, in ${schedule.timezone}:`)
    out.table(schedule.slots, [
      { title: 'DAY', value: ({ weekday }) => WEEKDAYS[weekday - 1] },
      { title: 'FROM', value: ({ start }) => start },
      { title: 'TO', value: ({ end }) => end },
    ])
  })
}
