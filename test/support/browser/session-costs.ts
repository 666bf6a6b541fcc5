/** The fields of a session about its length and its price. */
interface BilledSession {
  readonly billable_seconds: number
  readonly rate_cents_per_minute: number
  /** Only the operator sees it. */
  readonly operator_share_percent?: number
}

const euros = (cents: number) => `€${(cents / 100).toFixed(2)}`

/** Returns the texts of the costs of an ended session by its real length: on a busy machine it takes more than a minute. */
export function costsOf(session: BilledSession) {
  const minutes = Math.ceil(session.billable_seconds / 60)
  const chargeCents = minutes * session.rate_cents_per_minute
  return {
    minutes,
    charge: euros(chargeCents),
    earnings: euros((chargeCents * (session.operator_share_percent ?? 0)) / 100),
  }
}
