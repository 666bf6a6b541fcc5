import { sql } from 'kysely'

/**
 * Marks a robot for gateways that poll for changes. By the database's clock, which is the one they ask with:
 * the clocks of two machines may differ by more than a poll looks back. And by its clock as of this statement:
 * the beginning of a transaction that has waited for a lock may lie further back, too.
 */
export const linkChanged = { link_changed_at: sql<Date>`clock_timestamp()` }
