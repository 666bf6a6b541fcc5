import type { EventName } from './catalog.ts'

/**
 * Returns an SQL statement that appends one event to the outbox, for statements that are not built with `tx.publish`.
 * The outbox has no other writer.
 * @param name the event's name in the catalog
 * @param payload an SQL expression of type jsonb; tests validate its result against the catalog
 * @param from the rows that the payload aggregates, with any `having` clause
 */
export const appendEventSql = (name: EventName, payload: string, from: string): string => `
  insert into outbox (name, payload)
  select '${name}', ${payload} from ${from}`
