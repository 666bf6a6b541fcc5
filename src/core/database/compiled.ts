import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { prepared } from './prepared.ts'
import type { Db } from './tables.ts'

/** Stands for a value in a query that is built before the value is known. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

type ParamFactory<P> = <N extends keyof P & string>(name: N) => RawBuilder<P[N]>

/**
 * A query that is built once and executed often. Building and compiling one takes longer than all the rest of
 * this process's work on a small query, so the few queries of the hottest requests are kept compiled.
 * `build` gets a function that makes the place of a named value: `where('hash', '=', place('hash'))`. The
 * result is called with the database, or with a transaction, and the values.
 */
export function compiled<P extends object>() {
  return <Row>(build: (db: Db, param: ParamFactory<P>) => Compilable<Row>) => {
    const param: ParamFactory<P> = (name) => sql`${sql.val(new Placeholder(name))}`
    let query: CompiledQuery<Row> | undefined
    return async (db: Db, values: P): Promise<Row[]> => {
      if (query === undefined) {
        const built = build(db, param).compile()
        query = { ...built, sql: prepared(built.sql) }
      }
      const parameters = query.parameters.map((parameter) =>
        parameter instanceof Placeholder ? values[parameter.name as keyof P] : parameter,
      )
      return (await db.executeQuery<Row>({ ...query, parameters })).rows
    }
  }
}
