import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../core/database/tables.ts'

/** The price per minute and the operator's share. Exactly one plan is the default. */
export const PricingPlan = defineEntity({
  name: 'PricingPlan',
  tableName: 'pricing_plans',
  indexes: [
    {
      name: 'one_default_plan',
      expression: `create unique index "one_default_plan" on "pricing_plans" ("is_default") where "is_default"`,
    },
  ],
  checks: [
    // At 100 EUR a minute a session exceeds its charge column after 149 days.
    { name: 'pricing_plans_rate', expression: '"client_rate_cents_per_minute" between 0 and 10000' },
    { name: 'pricing_plans_share', expression: '"operator_share_percent" between 0 and 100' },
  ],
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
