import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../core/database/tables.ts'

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
  interface Tables extends TablesOf<typeof StripeEvent | typeof StripeObject> {}
}
