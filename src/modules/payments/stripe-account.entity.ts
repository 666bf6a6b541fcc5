import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { z } from 'zod'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** The role of a user at Stripe: a customer pays, a recipient is paid. */
export const StripeAccountKind = z.enum(['customer', 'recipient'])
export type StripeAccountKind = z.infer<typeof StripeAccountKind>

/**
 * A user's account at Stripe. The row is inserted before the account is created. It contains the request and its
 * idempotency key, so that repeated requests create only one account.
 */
export const StripeAccount = defineEntity({
  name: 'StripeAccount',
  tableName: 'stripe_accounts',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('restrict'),
    kind: p.enum(StripeAccountKind.options).primary(),
    requestKey: p.uuid(),
    /** The exact request body: Stripe rejects the same key with another body. */
    request: p.json<unknown>(),
    /** Null until Stripe has responded. */
    stripeId: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type StripeAccount = InferEntity<typeof StripeAccount>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof StripeAccount> {}
}
