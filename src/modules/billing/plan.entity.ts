import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../core/database/tables.ts'

/** The price per minute and the operator's share. Exactly one plan is the default. */
export const PricingPlan = defineEntity({
  name: 'PricingPlan',
  tableName: 'pricing_plans',
  properties: {
    /** A short slug, such as `standard`. */
    id: p.text().primary(),
    name: p.text(),
    description: p.text(),
    clientRateCentsPerMinute: p.integer(),
    operatorSharePercent: p.integer(),
    isDefault: p.boolean().default(false),
    /** Whether the plan is in the public price list. */
    isPublic: p.boolean().default(true),
    /** Position in the price list. */
    position: p.integer().default(0),
  },
})
export type PricingPlan = InferEntity<typeof PricingPlan>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof PricingPlan> {}
}
