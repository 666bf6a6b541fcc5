import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import type { Output } from '../output.ts'
import { styled } from '../text.ts'
import { formatMoney } from '../views.ts'

/** Prints statistics for each role of the caller. */
export async function run(cli: Context): Promise<void> {
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

function showClient(out: Output, stats: Schemas['ClientStats']): void {
  const { robots_by_status: robots, sessions_by_status: sessions } = stats
  out.line(styled('bold', 'As a client'))
  out.record([
    ['Robots', `${robots.AVAILABLE} available, ${robots.IN_SESSION} in session, ${robots.OFFLINE} offline`],
    ['Sessions', `${sessions.ACTIVE + sessions.PAUSED} open, ${sessions.COMPLETED} completed`],
    ['Minutes', stats.minutes],
    ['Spent this month', formatMoney(stats.spend_this_month_cents)],
    ['Spent in total', formatMoney(stats.spend_total_cents)],
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
