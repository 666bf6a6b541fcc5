import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectOrm, type Orm, queries } from '../../../src/app/database/orm.ts'
import type { Db } from '../../../src/core/database/tables.ts'
import { availableForPayout, balance, type PostingLine, post } from '../../../src/modules/billing/ledger.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'

let database: TestDatabase
let orm: Orm
let db: Db
beforeAll(async () => {
  database = await createTestDatabase()
  orm = await connectOrm({ url: database.url, poolSize: 4, applicationName: 'ledger-test' })
  db = queries(orm.em.fork())
})
afterAll(async () => {
  await orm.close(true)
  await database.drop()
})

async function user(): Promise<string> {
  const id = randomUUID()
  await db.insertInto('users').values({ id, issuer: 'test', subject: id, display_name: 'Test' }).execute()
  return id
}

/** Posts in a separate transaction. Returns the violated constraint, or undefined. */
async function refusal(lines: readonly PostingLine[]): Promise<string | undefined> {
  try {
    await db.transaction().execute((trx) => post({ db: trx }, { kind: 'test', at: new Date(), lines }))
    return undefined
  } catch (cause) {
    return (cause as { constraint?: string }).constraint ?? String(cause)
  }
}
const charge = (clientId: string, operatorId: string, cents: number, earned: number): PostingLine[] => [
  { account: 'client_receivable', userId: clientId, amountCents: cents },
  { account: 'operator_payable', userId: operatorId, amountCents: -earned },
  { account: 'platform_revenue', amountCents: earned - cents },
]
const lineCount = async () => (await db.selectFrom('ledger_entries').select('id').execute()).length

describe('a posting', () => {
  test('changes only the balances of the users in its lines', async () => {
    const [client, operator, secondOperator] = [await user(), await user(), await user()]
    expect(await refusal(charge(client, operator, 500, 350))).toBeUndefined()
    expect(await refusal(charge(client, secondOperator, 100, 70))).toBeUndefined()
    expect(await balance(db, 'client_receivable', client)).toBe(600)
    expect(await balance(db, 'operator_payable', operator)).toBe(-350)
    expect(await availableForPayout(db, operator)).toBe(350)
    expect(await availableForPayout(db, secondOperator)).toBe(70)
    expect(await availableForPayout(db, client)).toBe(0)
  })

  test('for a payout reservation reduces the available amount', async () => {
    const [client, operator] = [await user(), await user()]
    await refusal(charge(client, operator, 5_000, 3_500))
    const reserve: PostingLine[] = [
      { account: 'operator_payable', userId: operator, amountCents: 2_000 },
      { account: 'payout_reserved', userId: operator, amountCents: -2_000 },
    ]
    expect(await refusal(reserve)).toBeUndefined()
    expect(await availableForPayout(db, operator)).toBe(1_500)
    expect(await balance(db, 'payout_reserved', operator)).toBe(-2_000)
  })

  test('with zero amounts creates no lines', async () => {
    const before = await lineCount()
    expect(await refusal(charge(await user(), await user(), 0, 0))).toBeUndefined()
    expect(await lineCount()).toBe(before)
    expect(await refusal(charge(await user(), await user(), 50, 0)), 'a share of zero').toBeUndefined()
    expect(await lineCount()).toBe(before + 2)
  })

  test('with a sum other than zero is rejected at commit', async () => {
    const [client, operator] = [await user(), await user()]
    const before = await lineCount()
    const [debit, credit, revenue] = charge(client, operator, 500, 350) as [
      PostingLine,
      PostingLine,
      PostingLine,
    ]
    for (const lines of [[debit], [debit, credit], [debit, credit, { ...revenue, amountCents: -151 }]]) {
      expect(await refusal(lines)).toBe('ledger_posting_balanced')
    }
    expect(await lineCount()).toBe(before)
  })

  test('requires a user on user accounts and rejects one on platform accounts', async () => {
    const [client, operator] = [await user(), await user()]
    const [debit, credit, revenue] = charge(client, operator, 500, 350) as [
      PostingLine,
      PostingLine,
      PostingLine,
    ]
    const ownerless = { account: debit.account, amountCents: debit.amountCents }
    expect(await refusal([ownerless, credit, revenue])).toBe('ledger_entries_owner')
    expect(await refusal([debit, credit, { ...revenue, userId: client }])).toBe('ledger_entries_owner')
    const unknown = { account: 'slush_fund', amountCents: -500 } as unknown as PostingLine
    expect(await refusal([debit, unknown])).toBe('ledger_entries_account_check')
  })
})

describe('a ledger entry', () => {
  test.each([
    ['changed', 'update ledger_entries set amount_cents = amount_cents * 2'],
    ['removed', 'delete from ledger_entries'],
    ['truncated', 'truncate ledger_entries'],
    ['truncated with its dependents', 'truncate users cascade'],
  ])('cannot be %s', async (_how, statement) => {
    await refusal(charge(await user(), await user(), 500, 350))
    const before = await db.selectFrom('ledger_entries').selectAll().orderBy('id').execute()
    expect(before.length).toBeGreaterThan(0)
    await expect(orm.em.getConnection().execute(statement)).rejects.toThrow(
      /ledger_entries is append-only|audit_log is append-only/,
    )
    expect(await db.selectFrom('ledger_entries').selectAll().orderBy('id').execute()).toEqual(before)
  })

  test('prevents the deletion of a user with a balance', async () => {
    const [client, operator] = [await user(), await user()]
    await refusal(charge(client, operator, 500, 350))
    for (const id of [client, operator]) {
      await expect(db.deleteFrom('users').where('id', '=', id).execute()).rejects.toThrow(/ledger_entries/)
    }
    expect(await availableForPayout(db, operator)).toBe(350)
  })
})
