import { type Charge, MAX_CENTS, MS_PER_MINUTE } from './charge.ts'

/** An epoch of a session: who held control, from when on, and its price. */
export interface ChargeableInterval {
  readonly user_id: string | null
  /** Counters of the session when it began. */
  readonly active_ms_before: number
  readonly outage_ms_before: number
  readonly client_rate_cents_per_minute: number
  readonly operator_share_percent: number
}

/** What one epoch has of the charge of its session. */
export interface IntervalCharge {
  /** ACTIVE time without outages, in milliseconds. */
  readonly drivenMs: number
  readonly clientChargeCents: number
  readonly operatorEarningsCents: number
}

/** The totals of a session whose control changed hands. */
export interface SplitChargeable {
  readonly clientId: string
  readonly activeMs: number
  readonly outageMs: number
}

/**
 * Returns what a session costs whose control changed hands, and what each of its epochs has of it, in their order. Only epochs with a
 * price count. Their time is rounded up to whole minutes once, and the last one has the remainder. Each operator's share is rounded down
 * to a cent. With one operator at one price it is the charge of a session whose control never changed hands (`charge`).
 */
export function splitCharge<Interval extends ChargeableInterval>(
  session: SplitChargeable,
  intervals: readonly Interval[],
): Charge & { readonly intervals: readonly (Interval & IntervalCharge)[] } {
  const drivenMs = drivenMsOf(session, intervals)
  // A session without any price counts its minutes as those of a member do.
  const hasPrice = intervals.some((one) => one.client_rate_cents_per_minute > 0)
  const billedMs = drivenMs.map((ms, at) =>
    hasPrice && intervals[at]?.client_rate_cents_per_minute === 0 ? 0 : ms,
  )
  const billableMs = sum(billedMs)
  const billableMinutes = Math.ceil(billableMs / MS_PER_MINUTE)
  const last = billedMs.findLastIndex((ms) => ms > 0)
  if (last >= 0) billedMs[last] = (billedMs[last] ?? 0) + billableMinutes * MS_PER_MINUTE - billableMs

  // Products of times and rates exceed what a number holds exactly.
  const prices = intervals.map(
    (one, at) => BigInt(billedMs[at] ?? 0) * BigInt(one.client_rate_cents_per_minute),
  )
  const price = prices.reduce((all, one) => all + one, 0n) / BigInt(MS_PER_MINUTE)
  const clientChargeCents = price > BigInt(MAX_CENTS) ? MAX_CENTS : Number(price)
  const charges = apportion(clientChargeCents, prices)
  const earnings = earningsOf(session, intervals, charges)
  return {
    billableMinutes,
    clientChargeCents,
    operatorEarningsCents: sum(earnings),
    intervals: intervals.map((one, at) => ({
      ...one,
      drivenMs: drivenMs[at] ?? 0,
      clientChargeCents: charges[at] ?? 0,
      operatorEarningsCents: earnings[at] ?? 0,
    })),
  }
}

/**
 * Returns the time of each interval: from its beginning to that of the next one, which add up to the time of the session. An outage may be
 * found after control changed hands, and a period be discarded; what the next intervals do not have is then missing in earlier ones.
 */
function drivenMsOf({ activeMs, outageMs }: SplitChargeable, intervals: readonly ChargeableInterval[]) {
  let endMs = Math.max(0, activeMs - outageMs)
  return intervals
    .map(({ active_ms_before, outage_ms_before }, at) =>
      at === 0 ? 0 : Math.max(0, active_ms_before - outage_ms_before),
    )
    .toReversed()
    .map((beganMs) => {
      const startMs = Math.min(beganMs, endMs)
      const drivenMs = endMs - startMs
      endMs = startMs
      return drivenMs
    })
    .toReversed()
}

/** Returns what each interval earns its operator. The owner of the robot earns nothing. */
function earningsOf(
  { clientId }: SplitChargeable,
  intervals: readonly ChargeableInterval[],
  charges: readonly number[],
): number[] {
  const earnings = intervals.map(() => 0)
  for (const userId of new Set(intervals.map((one) => one.user_id))) {
    if (userId === null || userId === clientId) continue
    const parts = intervals.map((one, at) =>
      one.user_id === userId ? (charges[at] ?? 0) * one.operator_share_percent : 0,
    )
    const earned = apportion(Math.floor(sum(parts) / 100), parts.map(BigInt))
    for (const [at, cents] of earned.entries()) earnings[at] = (earnings[at] ?? 0) + cents
  }
  return earnings
}

/** Splits cents in proportion to weights, exactly: those with the largest fractions get the cents that are left. */
function apportion(cents: number, weights: readonly bigint[]): number[] {
  const total = weights.reduce((all, one) => all + one, 0n)
  if (total === 0n) return weights.map(() => 0)
  const quotas = weights.map((weight) => BigInt(cents) * weight)
  const parts = quotas.map((quota) => Number(quota / total))
  const byFraction = quotas
    .map((quota, at) => ({ at, fraction: quota % total }))
    .sort((one, other) => Number(other.fraction > one.fraction) - Number(other.fraction < one.fraction))
  for (const { at } of byFraction.slice(0, cents - sum(parts))) parts[at] = (parts[at] ?? 0) + 1
  return parts
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
