import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../database/tables.ts'

/** A request with an Idempotency-Key: running, executed or answered. Rows expire after a day. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    /** The owner of the key: the id of a user, or the network of an anonymous caller of a public route. */
    scope: p.text().primary(),
    key: p.text().primary(),
    /** SHA-256 of method, path, query and body. */
    fingerprint: p.text(),
    /** The request that holds the key. Its transactions commit only while it holds the key. */
    claimId: p.uuid(),
    /** Until this time, the holder counts as running. */
    claimedUntil: p.datetime(3),
    /**
     * Set in the transaction of the first effect of the request. After that, no other request may execute it again.
     */
    effectAt: p.datetime(3).nullable(),
    /** The response, once it exists. Its body is encrypted, because some responses show a credential once. */
    status: p.smallint().nullable(),
    body: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type IdempotencyKey = InferEntity<typeof IdempotencyKey>

declare module '../database/tables.ts' {
  interface Tables extends TablesOf<typeof IdempotencyKey> {}
}
