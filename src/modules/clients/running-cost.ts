import { sql } from 'kysely'

/** Returns what an open session would cost if it ended at `at`, in SQL: started minutes times the rate. Requires `sessions`. */
export const costUntil = (at: Date) =>
  sql<string>`ceil(greatest(0, active_ms - outage_ms + case
    when active_until is null then greatest(0, extract(epoch from ${at}::timestamptz - active_since) * 1000)
    else 0 end) / 60000.0) * client_rate_cents_per_minute`
