import { RobotStatus, SessionStatus } from '@wheelhouse/protocol'
import { z } from 'zod'

const count = z.number().int()

/** A client's dashboard. Amounts are cents of EUR; a month is a month of UTC, by the end of the session. */
export const ClientStats = z.strictObject({
  robots_by_status: z.record(RobotStatus, count),
  sessions_by_status: z.record(SessionStatus, count),
  /** Billed minutes of completed sessions. */
  minutes: count,
  spend_this_month_cents: count,
  spend_total_cents: count,
  episodes_collected: count,
  data_collected_mb: z.number(),
  /** Of the ratings the client gave, to a hundredth; null without any. */
  average_rating: z.number().nullable(),
})
export type ClientStats = z.infer<typeof ClientStats>
