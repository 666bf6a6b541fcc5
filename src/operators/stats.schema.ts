import { SessionStatus } from '@wheelhouse/protocol'
import { z } from 'zod'

const count = z.number().int()

/** An operator's dashboard. Amounts are cents of EUR; a month is a month of UTC, by the end of the session. */
export const OperatorStats = z.strictObject({
  sessions_by_status: z.record(SessionStatus, count),
  /** Billed time of completed sessions in hours, to a hundredth. */
  hours: z.number(),
  earnings_this_month_cents: count,
  earnings_total_cents: count,
  /** Earned and not yet asked to be paid out, by the ledger. */
  available_for_payout_cents: count,
  /** Of the ratings the operator was given, to a hundredth; null without any. */
  rating_average: z.number().nullable(),
  rating_count: count,
})
export type OperatorStats = z.infer<typeof OperatorStats>
