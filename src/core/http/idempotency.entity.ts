import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../database/tables.ts'

/** A request that carried an Idempotency-Key: under way, carried out, or answered. Kept for a day. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  indexes: [{ name: 'idempotency_keys_by_age', properties: ['createdAt'] }],
  properties: {
    /** Whose key it is: a user's id, or the network of a caller whom a public route does not know. */
    scope: p.text().primary(),
    key: p.text().primary(),
    /** SHA-256 of method, path, query and body. */
    fingerprint: p.text(),
    /** The request that holds the key. Its transactions commit only while it does. */
    claimId: p.uuid(),
    /** Until then the holder is taken to be alive. */
    claimedUntil: p.datetime(3),
    /** Set in the transaction of the request's first effect. From then on nobody may carry it out again. */
    effectAt: p.datetime(3).nullable(),
    /** The answer, once there is one; its body is encrypted, as some show a credential once. */
    status: p.smallint().nullable(),
    body: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type IdempotencyKey = InferEntity<typeof IdempotencyKey>

declare module '../database/tables.ts' {
  interface Tables extends TablesOf<typeof IdempotencyKey> {}
}
