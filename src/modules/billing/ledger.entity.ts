import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { z } from 'zod'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { Invoice } from './invoice.entity.ts'

/** The accounts of the ledger. `ledger.ts` describes each. */
export const LedgerAccount = z.enum([
  'client_receivable',
  'client_balance',
  'operator_pending',
  'operator_payable',
  'platform_revenue',
  'payout_reserved',
  'provider_cash',
])
export type LedgerAccount = z.infer<typeof LedgerAccount>

/**
 * One line of a posting. The database rejects updates and deletes of lines, and rejects at commit a posting whose lines
 * do not sum to zero.
 */
export const LedgerEntry = defineEntity({
  name: 'LedgerEntry',
  tableName: 'ledger_entries',
  indexes: [
    {
      name: 'one_charge_per_session',
      expression: `create unique index "one_charge_per_session" on "ledger_entries" ("session_id", "account") where "kind" = 'session_charge'`,
    },
    {
      name: 'one_settlement_per_invoice',
      expression: `create unique index "one_settlement_per_invoice" on "ledger_entries" ("invoice_id", "account") where "kind" in ('invoice_paid', 'invoice_voided')`,
    },
    { name: 'ledger_entries_by_posting', properties: ['postingId'] },
    {
      name: 'ledger_entries_by_account',
      expression:
        'create index "ledger_entries_by_account" on "ledger_entries" ("user_id", "account") include ("amount_cents")',
    },
    {
      name: 'ledger_entries_by_invoice',
      expression:
        'create index "ledger_entries_by_invoice" on "ledger_entries" ("invoice_id") where "invoice_id" is not null',
    },
    {
      name: 'ledger_entries_by_payout',
      expression:
        'create index "ledger_entries_by_payout" on "ledger_entries" ("payout_id") where "payout_id" is not null',
    },
  ],
  checks: [
    { name: 'ledger_entries_amount', expression: '"amount_cents" <> 0' },
    {
      name: 'ledger_entries_owner',
      expression: `("user_id" is not null) = ("account" in ('client_receivable', 'client_balance', 'operator_pending', 'operator_payable', 'payout_reserved'))`,
    },
  ],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    postingId: p.uuid(),
    account: p.enum(LedgerAccount.options),
    /** Owner of the receivable or payable; null for the platform's own accounts. */
    user: () => referenceTo('User').nullable().deleteRule('restrict'),
    /** Debits are positive, credits negative. */
    amountCents: p.bigint('number'),
    session: () => referenceTo('Session').nullable().deleteRule('restrict'),
    invoice: () => p.manyToOne(Invoice).mapToPk().nullable().deleteRule('restrict'),
    payout: () => referenceTo('Payout').nullable().deleteRule('restrict'),
    /** Kind of the posting, such as `session_charge`. */
    kind: p.text(),
    at: p.datetime(3).defaultRaw('now()'),
  },
})
export type LedgerEntry = InferEntity<typeof LedgerEntry>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof LedgerEntry> {}
}
