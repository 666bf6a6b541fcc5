import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line } from '../../core/http/fields.ts'
import { CURRENCY } from './money.ts'

const planId = { examples: ['standard'] }

const PricingPlan = z
  .object({
    id: z.string().meta(planId),
    name: z.string().meta({ examples: ['Standard'] }),
    description: z
      .string()
      .meta({ examples: ['For every robot, from the first minute: pay for active minutes only.'] }),
    client_rate_cents_per_minute: z
      .number()
      .int()
      .meta({ description: 'Price of each started ACTIVE minute, in cents.', examples: [50] }),
    operator_share_percent: z
      .number()
      .int()
      .meta({ description: "The operator's share of the charge.", examples: [70] }),
  })
  .meta({ id: 'PricingPlan', description: 'Price of a session and share of the operator.' })

export const PriceList = z
  .object({ currency: z.literal(CURRENCY), plans: z.array(PricingPlan) })
  .meta({ id: 'PriceList', description: 'The pricing plans on offer.' })
export type PriceList = z.infer<typeof PriceList>

/** Body of POST /api/admin/clients/{id}/plan; null assigns the default plan. */
export const AssignPlan = z.strictObject({
  plan: line(50)
    .nullable()
    .meta({ description: 'Null assigns the default plan.', examples: ['fleet'] }),
})
export type AssignPlan = z.infer<typeof AssignPlan>

export const AssignedPlan = z.object({
  client_id: idOf('client'),
  plan: z
    .string()
    .nullable()
    .meta({ examples: ['fleet'] }),
})
