import { sql } from 'kysely'

/**
 * Marks a robot for gateways that poll for changes. By the database's clock, which is the one they ask with:
 * the clocks of two machines may differ by more than a poll looks back.
 */
export const linkChanged = { link_changed_at: sql<Date>`now()` }
