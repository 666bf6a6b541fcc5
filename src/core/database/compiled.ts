import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { prepared } from './prepared.ts'
import type { Db } from './tables.ts'

/** A parameter of a query that is built before the value is known. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

type ParamFactory<P> = <N extends keyof P & string>(name: N) => RawBuilder<P[N]>

/**
 * Declares a query that is built once and executed often. Building and compiling a small query takes most of its time
 * in this process, so the queries of the most frequent requests are compiled once. `build` gets a function that
 * creates a named parameter: `where('hash', '=', param('hash'))`. Call the result with the database or a transaction,
 * and the values.
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
