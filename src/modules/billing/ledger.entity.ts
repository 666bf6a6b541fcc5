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
