import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { prepared } from './prepared.ts'
import type { Db } from './tables.ts'

/** A parameter of a query that is built before the value is known. */
class Placeholder {
  readonly name: string
  /** Whether the value is the only element of the list that is given. */
  readonly isElement: boolean
  constructor(name: string, isElement = false) {
    this.name = name
    this.isElement = isElement
  }
}

type ParamFactory<P> = <N extends keyof P & string>(name: N) => RawBuilder<P[N]>
type OneOfFactory<P> = (name: keyof P & string, type: 'text' | 'uuid') => RawBuilder<string>

/**
 * Declares a query that is built once and executed often. Building and compiling a small query takes most of its time
 * in this process, so the queries of the most frequent requests are compiled once. `build` gets a function that
 * creates a named parameter: `where('hash', '=', param('hash'))`, and one that compares with a list: `where('hash', '=',
 * oneOf('hashes', 'text'))`. Call the result with the database or a transaction, and the values.
 */
export function compiled<P extends object>() {
  return <Row>(build: (db: Db, param: ParamFactory<P>, oneOf: OneOfFactory<P>) => Compilable<Row>) => {
    const param: ParamFactory<P> = (name) => sql`${sql.val(new Placeholder(name))}`
    const lists = new Set<keyof P & string>()
    const ofMany: OneOfFactory<P> = (name, type) => {
      lists.add(name)
      return sql`any(${sql.val(new Placeholder(name))}::${sql.raw(type)}[])`
    }
    // PostgreSQL plans a comparison with a list anew each time, because it takes a list of unknown length for a long one.
    const ofOne: OneOfFactory<P> = (name, type) =>
      sql`${sql.val(new Placeholder(name, true))}::${sql.raw(type)}`
    const compile = (db: Db, oneOf: OneOfFactory<P>): CompiledQuery<Row> => {
      const built = build(db, param, oneOf).compile()
      return { ...built, sql: prepared(built.sql) }
    }
    let many: CompiledQuery<Row> | undefined
    let one: CompiledQuery<Row> | undefined
    return async (db: Db, values: P): Promise<Row[]> => {
      many ??= compile(db, ofMany)
      let query = many
      if (lists.size > 0 && [...lists].every((name) => (values[name] as readonly unknown[]).length === 1)) {
        one ??= compile(db, ofOne)
        query = one
      }
      const parameters = query.parameters.map((parameter) => {
        if (!(parameter instanceof Placeholder)) return parameter
        const value = values[parameter.name as keyof P]
        return parameter.isElement ? (value as readonly unknown[])[0] : value
      })
      return (await db.executeQuery<Row>({ ...query, parameters })).rows
    }
  }
}
