import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../core/database/tables.ts'

/** An event of the payment provider that was carried out. It is told of again and again until we have said so. */
export const StripeEvent = defineEntity({
  name: 'StripeEvent',
  tableName: 'stripe_events',
  indexes: [{ name: 'stripe_events_by_age', properties: ['at'] }],
  properties: {
    id: p.text().primary(),
    type: p.text(),
    at: p.datetime(3).defaultRaw('now()'),
  },
})
export type StripeEvent = InferEntity<typeof StripeEvent>

/** An object at the payment provider, and when it was asked for what we know of it. */
export const StripeObject = defineEntity({
  name: 'StripeObject',
  tableName: 'stripe_objects',
  properties: {
    id: p.text().primary(),
    /** By the database's clock: several processes ask. */
    askedAt: p.datetime(6),
  },
})
export type StripeObject = InferEntity<typeof StripeObject>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof StripeEvent | typeof StripeObject> {}
}
