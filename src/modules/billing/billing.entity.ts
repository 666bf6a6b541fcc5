import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { z } from 'zod'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'
import { InvoiceStatus } from './invoice.schema.ts'

/** The price per minute and the operator's share. Exactly one plan is the default. */
export const PricingPlan = defineEntity({
  name: 'PricingPlan',
  tableName: 'pricing_plans',
  properties: {
    /** A short slug, such as `standard`. */
    id: p.text().primary(),
    name: p.text(),
    description: p.text(),
    clientRateCentsPerMinute: p.integer(),
    operatorSharePercent: p.integer(),
    isDefault: p.boolean().default(false),
    /** Whether the plan is in the public price list. */
    isPublic: p.boolean().default(true),
    /** Position in the price list. */
    position: p.integer().default(0),
  },
})
export type PricingPlan = InferEntity<typeof PricingPlan>

/**
 * What a client owes for a UTC month. It is created after the month has ended, and its sessions reference it. Triggers
 * reject every change of an issued invoice except of its payment.
 */
export const Invoice = defineEntity({
  name: 'Invoice',
  tableName: 'invoices',
  properties: {
    id: p.uuid().primary(),
    client: () => referenceTo('Organization'),
    /** `YYYY-MM`. It also contains earlier sessions that ended after their own month was invoiced. */
    month: p.text(),
    status: p.enum(InvoiceStatus.options),
    currency: p.text(),
    totalCents: p.bigint('number'),
    sessionCount: p.integer(),
    minutes: p.integer(),
    /** The client's company or name, country and VAT id at the time of issue, copied by a trigger. */
    billingName: p.text().nullable(),
    billingCountry: p.text().nullable(),
    billingVatId: p.text().nullable(),
    issuedAt: p.datetime(3).nullable(),
    paidAt: p.datetime(3).nullable(),
    /** URL of the hosted invoice at Stripe. */
    hostedUrl: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type Invoice = InferEntity<typeof Invoice>

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
    /** An organization: that of an operator is the personal one. */
    user: () => referenceTo('Organization').nullable().deleteRule('restrict'),
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
  interface Tables extends TablesOf<typeof PricingPlan | typeof Invoice | typeof LedgerEntry> {}
}
