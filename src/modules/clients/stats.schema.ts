import { RobotStatus, SessionStatus } from '@wheelhouse/protocol'
import { z } from 'zod'
import { countsBy } from '../../core/http/fields.ts'

const count = z.number().int()
/** What sessions cost. */
const cents = count.nullable()
const HIDDEN = 'null for members who may not see costs.'

/** Months of the series, including the current one. */
export const STATS_MONTHS = 12

const ClientMonth = z
  .object({
    month: z.string().meta({ description: 'YYYY-MM, in UTC.', examples: ['2026-10'] }),
    sessions: count.meta({ description: 'Sessions completed in this month.', examples: [11] }),
    minutes: count.meta({ description: 'Billed minutes.', examples: [284] }),
    spend_cents: cents.meta({ description: `In cents; ${HIDDEN}`, examples: [14_200] }),
  })
  .meta({ id: 'ClientMonth', description: 'Totals of the sessions that ended in a month.' })
export type ClientMonth = z.infer<typeof ClientMonth>

/** A client's dashboard. Amounts are cents of EUR; months are UTC months, by the end of the session. */
export const ClientStats = z
  .object({
    robots_by_status: countsBy(RobotStatus.options).meta({
      examples: [{ OFFLINE: 1, AVAILABLE: 2, IN_SESSION: 0 }],
    }),
    sessions_by_status: countsBy(SessionStatus.options).meta({
      examples: [{ PENDING: 1, ACTIVE: 0, PAUSED: 0, COMPLETED: 18, CANCELLED: 2 }],
    }),
    minutes: count.meta({ description: 'Billed minutes of completed sessions.', examples: [410] }),
    spend_this_month_cents: cents.meta({
      description: `In cents, of sessions that ended in the current UTC month; ${HIDDEN}`,
      examples: [6_300],
    }),
    spend_total_cents: cents.meta({ description: `In cents; ${HIDDEN}`, examples: [20_500] }),
    episodes_collected: count.meta({ examples: [216] }),
    data_collected_mb: z.number().meta({ description: 'In megabytes.', examples: [6_130.5] }),
    average_rating: z
      .number()
      .nullable()
      .meta({
        description: 'Mean of the ratings you gave, to two decimals; null without ratings.',
        examples: [4.86],
      }),
    months: z.array(ClientMonth).meta({
      description: `The last ${STATS_MONTHS} months including the current one, oldest first. Months without sessions are included.`,
    }),
  })
  .meta({ id: 'ClientStats', description: 'Statistics of a robot owner.' })
export type ClientStats = z.infer<typeof ClientStats>
