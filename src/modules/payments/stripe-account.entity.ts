import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { z } from 'zod'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** Who somebody is at the payment provider: who pays, or who is paid. */
export const StripeAccountKind = z.enum(['customer', 'recipient'])
export type StripeAccountKind = z.infer<typeof StripeAccountKind>

/**
 * Somebody's account at the payment provider. The row is there before the account: it carries the request and its
 * idempotency key, so that whoever repeats the request, and however often, makes one account.
 */
export const StripeAccount = defineEntity({
  name: 'StripeAccount',
  tableName: 'stripe_accounts',
  uniques: [{ name: 'stripe_accounts_stripe_id', properties: ['stripeId'] }],
  properties: {
    user: () => referenceTo('User').primary().deleteRule('restrict'),
    kind: p.enum(StripeAccountKind.options).primary(),
    requestKey: p.uuid(),
    /** What the provider is asked with, word for word: the same key with other words is refused. */
    request: p.json<unknown>(),
    /** Null until the provider has answered. */
    stripeId: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type StripeAccount = InferEntity<typeof StripeAccount>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof StripeAccount> {}
}
