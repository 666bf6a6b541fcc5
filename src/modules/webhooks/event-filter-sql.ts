import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** Returns the SQL condition that one of the filters matches an event type. It is equivalent to `filterTakes` of the protocol. */
export const filterMatchesSql = (
  filters: RawBuilder<unknown>,
  type: RawBuilder<unknown>,
): RawBuilder<SqlBool> => sql<SqlBool>`
  exists (select from unnest(${filters}) as f (filter)
    where f.filter = ${type} or (right(f.filter, 1) = '*' and starts_with(${type}, left(f.filter, -1))))`
