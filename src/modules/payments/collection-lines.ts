import type Stripe from 'stripe'
import type { Db } from '../../core/database/tables.ts'
import { type DayLine, dayLines, type SessionLine, sessionLines } from '../billing/index.ts'

/** Maximum number of lines on a Stripe invoice. */
const MAX_LINES = 250

export type NewLine = Stripe.InvoiceAddLinesParams.Line & { metadata: { line: string } }

/**
 * Returns the lines of a Stripe invoice: a line per session, or per day if the sessions exceed the limit. The result does
 * not change, because the sessions of an issued invoice do not change. `metadata.line` identifies a line.
 */
export async function linesOf(db: Db, invoice: { id: string; session_count: number }): Promise<NewLine[]> {
  if (invoice.session_count > MAX_LINES) return (await dayLines(db, invoice.id)).map(dayLine)
  return (await sessionLines(db, invoice.id, { limit: MAX_LINES, offset: 0 })).map(sessionLine)
}

function sessionLine(row: SessionLine): NewLine {
  const { started_at: startedAt, ended_at: endedAt, client_charge_cents: amount } = row
  const startedIso = startedAt.toISOString()
  const remarks = [
    ...(row.paused_ms > 0 ? [`paused for ${duration(row.paused_ms)}`] : []),
    ...(row.outage_ms > 0 ? [`robot disconnected for ${duration(row.outage_ms)}, not charged`] : []),
  ]
  const summary = `${row.robot_name}, ${startedIso.slice(0, 10)} ${startedIso.slice(11, 16)} UTC, operated by ${row.operator_name}`
  const minutes = `${row.billable_minutes} min at ${row.client_rate_cents_per_minute} cents`
  return {
    amount,
    description: truncate([`${summary}: ${minutes}`, ...remarks].join('; ')),
    period: { start: seconds(startedAt), end: seconds(endedAt) },
    metadata: { line: row.id },
  }
}

const dayLine = ({ day, session_count: count, minutes, cents, first_at, last_at }: DayLine): NewLine => ({
  amount: cents,
  description: `${day} (UTC): ${count} ${count === 1 ? 'session' : 'sessions'}, ${minutes} min`,
  period: { start: seconds(first_at), end: seconds(last_at) },
  metadata: { line: day },
})

const seconds = (at: Date): number => Math.floor(at.getTime() / 1_000)

/** Truncates a description to Stripe's limit of 500 characters, which a long robot name can exceed. */
const truncate = (text: string): string => (text.length > 500 ? `${text.slice(0, 499)}…` : text)

/** Formats a duration, rounded up to seconds: `2 h 5 min`, `3 min 20 s`, `12 s`. */
function duration(ms: number): string {
  const total = Math.ceil(ms / 1_000)
  const [hours, minutes, rest] = [Math.floor(total / 3_600), Math.floor(total / 60) % 60, total % 60]
  const parts = [hours > 0 && `${hours} h`, minutes > 0 && `${minutes} min`, rest > 0 && `${rest} s`]
  return parts.filter(Boolean).join(' ')
}
