import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { z } from 'zod'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

export const PayoutStatus = z.enum(['PENDING', 'PAID', 'FAILED'])
export type PayoutStatus = z.infer<typeof PayoutStatus>

/**
 * A transfer of earnings to an operator. The ledger reserves the amount while the payout is PENDING. A payout whose
 * transfer has an unknown outcome stays PENDING, because its amount is neither paid nor available.
 */
export const Payout = defineEntity({
  name: 'Payout',
  tableName: 'payouts',
  properties: {
    id: p.uuid().primary(),
    operator: () => referenceTo('User').deleteRule('restrict'),
    amountCents: p.bigint('number'),
    currency: p.text(),
    /** The connected account that receives the transfer, as of the request. */
    destination: p.text(),
    status: p.enum(PayoutStatus.options).default('PENDING'),
    /** Number of attempts to request the transfer. */
    attempts: p.integer().default(0),
    transferId: p.text().nullable(),
    /** The amount that Stripe reversed later. */
    reversedCents: p.bigint('number').default(0),
    /** Why it failed, in Stripe's words. */
    failure: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    settledAt: p.datetime(3).nullable(),
  },
})
export type Payout = InferEntity<typeof Payout>

/** Stores the state of an invoice's collection through Stripe. */
export const InvoiceCollection = defineEntity({
  name: 'InvoiceCollection',
  tableName: 'invoice_collections',
  properties: {
    invoice: () => referenceTo('Invoice').primary().deleteRule('restrict'),
    /** Part of the idempotency keys of all requests about this invoice. */
    requestKey: p.uuid(),
    /** The Stripe id; null until Stripe has created the invoice. */
    stripeId: p.text().nullable(),
    /** Number of attempts since the last successful step. */
    attempts: p.integer().default(0),
    /** Why the last attempt failed; null if it succeeded. */
    failure: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type InvoiceCollection = InferEntity<typeof InvoiceCollection>

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
    /** An organization: that of an operator is the personal one. */
    user: () => referenceTo('Organization').primary().deleteRule('restrict'),
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

/** A processed Stripe event. Stripe repeats an event until the platform acknowledges it. */
export const StripeEvent = defineEntity({
  name: 'StripeEvent',
  tableName: 'stripe_events',
  properties: {
    id: p.text().primary(),
    type: p.text(),
    at: p.datetime(3).defaultRaw('now()'),
  },
})
export type StripeEvent = InferEntity<typeof StripeEvent>

/** A Stripe object, and when the platform requested the state that it has saved. */
export const StripeObject = defineEntity({
  name: 'StripeObject',
  tableName: 'stripe_objects',
  properties: {
    id: p.text().primary(),
    /** Set by the database's clock, because several processes send requests. */
    askedAt: p.datetime(6),
  },
})
export type StripeObject = InferEntity<typeof StripeObject>

declare module '../../core/database/tables.ts' {
  interface Tables
    extends TablesOf<
      | typeof Payout
      | typeof InvoiceCollection
      | typeof StripeAccount
      | typeof StripeEvent
      | typeof StripeObject
    > {}
}
