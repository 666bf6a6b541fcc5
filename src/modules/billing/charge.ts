export const MS_PER_MINUTE = 60_000
/** The largest amount a session's row can store, 21 million EUR. A wrong clock must not prevent a session from ending. */
export const MAX_CENTS = 2_147_483_647

export interface Chargeable {
  /** ACTIVE time in milliseconds, without PAUSED time. */
  readonly activeMs: number
  /** The part of the ACTIVE time in which the robot was silent before it was declared lost, in milliseconds. */
  readonly outageMs: number
  readonly rateCentsPerMinute: number
  /** The operator's share of the charge in percent, 0 to 100. */
  readonly sharePercent: number
}

export interface Charge {
  readonly billableMinutes: number
  readonly clientChargeCents: number
  readonly operatorEarningsCents: number
}

/** Returns the operator's share of the charge in percent. Owners who operate their own robot earn nothing. */
export const earnedShare = (session: {
  readonly operator_id: string
  readonly client_id: string
  readonly operator_share_percent: number | null
}): number | null => (session.operator_id === session.client_id ? 0 : session.operator_share_percent)

/**
 * Returns what a session costs the client and earns the operator. ACTIVE time without outages is rounded up to whole
 * minutes; zero time costs nothing. The operator's share is rounded down to a cent.
 */
export function charge({ activeMs, outageMs, rateCentsPerMinute, sharePercent }: Chargeable): Charge {
  const billableMinutes = Math.ceil(Math.max(0, activeMs - outageMs) / MS_PER_MINUTE)
  const clientChargeCents = Math.min(billableMinutes * rateCentsPerMinute, MAX_CENTS)
  return {
    billableMinutes,
    clientChargeCents,
    operatorEarningsCents: Math.floor((clientChargeCents * sharePercent) / 100),
  }
}
