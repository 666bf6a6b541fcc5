import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { expect, test } from 'vitest'
import { compiled } from './compiled.ts'
import type { Db } from './tables.ts'

test('one key is compared as a value, whose plan PostgreSQL keeps; no key and several as a list', async () => {
  const executed: { sql: string; parameters: readonly unknown[] }[] = []
  const db: Db = new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query: { sql, parameters } }) => void executed.push({ sql, parameters }),
  })
  const find = compiled<{ ids: readonly string[]; role: 'admin' | 'owner' }>()((from, param, oneOf) =>
    from
      .selectFrom('organization_members')
      .select('user_id')
      .where('role', '=', param('role'))
      .where('user_id', '=', oneOf('ids', 'uuid')),
  )
  for (const ids of [['a'], ['a', 'b'], [], ['c']]) await find(db, { ids, role: 'owner' })
  expect(executed.map(({ parameters }) => parameters)).toEqual([
    ['owner', 'a'],
    ['owner', ['a', 'b']],
    ['owner', []],
    ['owner', 'c'],
  ])
  const [one, many, none, another] = executed.map(({ sql }) => sql)
  expect([one, many]).toEqual([
    expect.stringMatching(/^\/\* prepared .* = \$2::uuid$/),
    expect.stringMatching(/^\/\* prepared .* = any\(\$2::uuid\[\]\)$/),
  ])
  expect([none, another]).toEqual([many, one])
})
