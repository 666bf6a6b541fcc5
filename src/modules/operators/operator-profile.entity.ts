import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** How an operator introduces themselves; made when it is first saved. */
export const OperatorProfile = defineEntity({
  name: 'OperatorProfile',
  tableName: 'operator_profiles',
  properties: {
    user: () => referenceTo('User').primary().deleteRule('cascade'),
    headline: p.text().nullable(),
    bio: p.text().nullable(),
    country: p.text().nullable(),
    timezone: p.text().nullable(),
    languages: p.array().defaultRaw(`'{}'`),
    /** Since when the payment provider pays out to the operator's account; null while it does not. */
    payoutReadyAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OperatorProfile = InferEntity<typeof OperatorProfile>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof OperatorProfile> {}
}
