import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import { User } from '../identity/user.entity.ts'

/** How an operator introduces themselves; made when it is first saved. */
export const OperatorProfile = defineEntity({
  name: 'OperatorProfile',
  tableName: 'operator_profiles',
  properties: {
    user: () => p.manyToOne(User).mapToPk().primary().deleteRule('cascade'),
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
