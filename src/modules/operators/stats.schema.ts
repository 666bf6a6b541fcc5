import { SessionStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { countsBy } from '../../core/http/fields.ts'

const count = z.number().int()

/** An operator's dashboard. Amounts are cents of EUR; months are UTC months, by the end of the session. */
export const OperatorStats = z
  .object({
    sessions_by_status: countsBy(SessionStatus.options).meta({
      examples: [{ PENDING: 0, ACTIVE: 0, PAUSED: 0, COMPLETED: 64, CANCELLED: 3 }],
    }),
    hours: z.number().meta({
      description: 'Billed hours of completed sessions, to two decimals.',
      examples: [27.35],
    }),
    earnings_this_month_cents: count.meta({
      description: 'In cents, of sessions that ended in the current UTC month.',
      examples: [18_480],
    }),
    earnings_total_cents: count.meta({ description: 'In cents.', examples: [57_435] }),
    available_for_payout_cents: count.meta({
      description: 'In cents: earned, no longer pending, and not yet requested for payout.',
      examples: [55_335],
    }),
    pending_earnings_cents: count.meta({
      description:
        'In cents; earned, and available once the clients’ invoices are paid, or after the hold of the platform.',
      examples: [2_100],
    }),
    outage_seconds_this_month: count.meta({
      description:
        'Of sessions that ended in this month of UTC: ACTIVE time in which robots were away, which earns nothing.',
      examples: [95],
    }),
    rating_average: z
      .number()
      .nullable()
      .meta({
        description: 'Mean of your ratings, to two decimals; null without ratings.',
        examples: [4.72],
      }),
    rating_count: count.meta({ examples: [47] }),
  })
  .meta({ id: 'OperatorStats', description: 'Statistics of an operator.' })
export type OperatorStats = z.infer<typeof OperatorStats>
