const MS_PER_MINUTE = 60_000
/** The largest amount a session's row holds, 21 million EUR. A clock that went wrong must not make ending impossible. */
const MAX_CENTS = 2_147_483_647

export interface Chargeable {
  /** ACTIVE time in milliseconds. Time PAUSED is no part of it. */
  readonly activeMs: number
  /** The part of it in which the robot was silent before it was found lost. */
  readonly outageMs: number
  readonly rateCentsPerMinute: number
  /** What of the charge the operator earns, 0 to 100. */
  readonly sharePercent: number
}

export interface Charge {
  readonly billableMinutes: number
  readonly clientChargeCents: number
  readonly operatorEarningsCents: number
}

/** Returns what of the charge the operator earns, in percent: nothing of a session on a robot of their own. */
export const earnedShare = (session: {
  readonly operator_id: string
  readonly client_id: string
  readonly operator_share_percent: number | null
}): number | null => (session.operator_id === session.client_id ? 0 : session.operator_share_percent)

/**
 * What a session costs and earns. Each begun minute of ACTIVE time without outages is charged whole; a fraction
 * of a second begins a minute, none does not. The operator's share is rounded down to a cent.
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
