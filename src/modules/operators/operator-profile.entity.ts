import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { referenceTo } from '../../core/database/reference.ts'
import type { TablesOf } from '../../core/database/tables.ts'

/** An operator's public profile. The row is created at the first save. */
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
    /** When Stripe enabled payouts to the operator's account; null while payouts are disabled. */
    payoutReadyAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
})
export type OperatorProfile = InferEntity<typeof OperatorProfile>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof OperatorProfile> {}
}
