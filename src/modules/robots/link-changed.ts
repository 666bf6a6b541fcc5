import { sql } from 'kysely'

/**
 * Marks a robot as changed for gateways, which poll for changes. Uses the database's clock, as the poll does: the
 * clocks of two machines may differ by more than the poll's window. Uses the time of the statement, not of the
 * transaction: a transaction may wait for a lock longer than the poll's window.
 */
export const linkChanged = { link_changed_at: sql<Date>`clock_timestamp()` }
