import { expect, test } from 'vitest'
import { checkTableWriters } from './check-table-writers.ts'
import { Repository } from './repository.ts'

const ENTITY =
  "export const Session = defineEntity({ name: 'Session', tableName: 'sessions', properties: {} })"

const check = (
  files: Record<string, string>,
  exceptions: { table: string; writer: string; reason: string }[] = [],
) =>
  checkTableWriters(
    Repository.of({ 'src/modules/sessions/session.entity.ts': ENTITY, ...files }),
    exceptions,
    {},
  ).map(({ file, line, rule }) => [file, line, rule])

test.each([
  "db.insertInto('sessions').values(row)",
  "db.updateTable('sessions as s').set(row)",
  "db.deleteFrom('sessions')",
  'em.create(Session, row)',
  'em.nativeUpdate(Session, { id }, row)',
  'sql`insert into sessions (id) values (1)`',
  "pool.query('update sessions s set status = 1')",
  'sql`with a as (delete from only sessions returning id) select 1`',
  'sql`merge into "sessions" using a on true`',
])('%s is allowed in the module of the table only', (write) => {
  expect(check({ 'src/modules/sessions/session.service.ts': write })).toEqual([])
  expect(check({ 'src/modules/billing/settle.ts': write })).toEqual([
    ['src/modules/billing/settle.ts', 1, 'one-writer'],
  ])
  expect(check({ 'gateway/control/stop.ts': write })).toEqual([['gateway/control/stop.ts', 1, 'one-writer']])
})

test.each([
  "db.selectFrom('sessions')",
  'sql`select * from sessions for update of sessions`',
  'sql`insert into sessions (id) values (1) on conflict do update set status = 1`.replace(/sessions/)',
])('%s writes no second table', (read) => {
  expect(check({ 'src/modules/sessions/queries.ts': read })).toEqual([])
})

test('an unknown table and a table that is a parameter are reported', () => {
  expect(check({ 'src/modules/a/b.ts': "db.insertInto('typo')" })).toEqual([
    ['src/modules/a/b.ts', 1, 'unknown-table'],
  ])
  expect(check({ 'src/modules/a/b.ts': 'db.updateTable(table)' })).toEqual([
    ['src/modules/a/b.ts', 1, 'dynamic-table'],
  ])
  expect(check({ 'src/modules/a/b.ts': `sql\`delete from \${table}\`` })).toEqual([
    ['src/modules/a/b.ts', 1, 'dynamic-table'],
  ])
})

test('an exception allows one writer, and is reported when nothing uses it', () => {
  const exception = { table: 'sessions', writer: 'billing', reason: 'charge' }
  expect(check({ 'src/modules/billing/a.ts': "db.deleteFrom('sessions')" }, [exception])).toEqual([])
  expect(check({}, [exception]).map(([, , rule]) => rule)).toEqual(['unused-exception'])
})
