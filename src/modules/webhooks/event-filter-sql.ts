import { type RawBuilder, type SqlBool, sql } from 'kysely'

/** For queries: whether one of these filters takes events of a type. The same as `filterTakes` of the protocol. */
export const filterMatchesSql = (
  filters: RawBuilder<unknown>,
  type: RawBuilder<unknown>,
): RawBuilder<SqlBool> => sql<SqlBool>`
  exists (select from unnest(${filters}) as f (filter)
    where f.filter = ${type} or (right(f.filter, 1) = '*' and starts_with(${type}, left(f.filter, -1))))`
