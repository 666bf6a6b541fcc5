import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../../core/database/reference.ts'
import type { TablesOf } from '../../../core/database/tables.ts'

/** Stores a browser that receives notifications of a user through its push service (RFC 8030). */
export const PushSubscription = defineEntity({
  name: 'PushSubscription',
  tableName: 'push_subscriptions',
  properties: {
    id: p.uuid().primary(),
    user: () => referenceTo('User').deleteRule('cascade'),
    endpoint: p.text(),
    /** The public key of the browser, which encrypts messages (RFC 8291). */
    p256dh: p.text(),
    /** The authentication secret that the browser shares. */
    auth: p.text(),
    label: p.text(),
    createdAt: p.datetime(3),
    lastSuccessAt: p.datetime(3).nullable(),
  },
})
export type PushSubscription = InferEntity<typeof PushSubscription>

declare module '../../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof PushSubscription> {}
}
