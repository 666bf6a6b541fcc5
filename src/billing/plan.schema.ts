import { z } from 'zod'
import { line } from '../http/fields.ts'
import { CURRENCY } from './money.ts'

export const PriceList = z.strictObject({
  currency: z.literal(CURRENCY),
  plans: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      client_rate_cents_per_minute: z.number().int(),
      operator_share_percent: z.number().int(),
    }),
  ),
})
export type PriceList = z.infer<typeof PriceList>

/** Body of POST /api/admin/clients/{id}/plan; null puts the client on the default plan, whichever that is. */
export const AssignPlan = z.strictObject({ plan: line(50).nullable() })
export type AssignPlan = z.infer<typeof AssignPlan>

export const AssignedPlan = z.strictObject({ client_id: z.uuid(), plan: z.string().nullable() })
