import { defineEntity, type InferEntity, p } from '@mikro-orm/core'
import type { TablesOf } from '../../core/database/tables.ts'

/** What a client pays for a minute, and how much of it the operator earns. Exactly one plan is the default. */
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
    // 100 EUR a minute: a session would have to run for 149 days before its charge outgrew its column.
    { name: 'pricing_plans_rate', expression: '"client_rate_cents_per_minute" between 0 and 10000' },
    { name: 'pricing_plans_share', expression: '"operator_share_percent" between 0 and 100' },
  ],
  properties: {
    /** A short word, e.g. `standard`. */
    id: p.text().primary(),
    name: p.text(),
    description: p.text(),
    clientRateCentsPerMinute: p.integer(),
    operatorSharePercent: p.integer(),
    isDefault: p.boolean().default(false),
    /** Whether it stands in the public price list. */
    isPublic: p.boolean().default(true),
    /** Place in the price list. */
    position: p.integer().default(0),
  },
})
export type PricingPlan = InferEntity<typeof PricingPlan>

declare module '../../core/database/tables.ts' {
  interface Tables extends TablesOf<typeof PricingPlan> {}
}
