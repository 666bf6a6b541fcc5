import { z } from 'zod'
import { line, prose, timestamp } from '../http/fields.ts'
import { country, language, timeZone } from '../http/place-fields.ts'

/** Body of POST /api/operator/profile. What is not named stays; null clears. */
export const SaveOperatorProfile = z
  .strictObject({
    headline: line(120).nullable(),
    bio: prose(4_000).nullable(),
    country: country.nullable(),
    timezone: timeZone.nullable(),
    languages: z
      .array(language)
      .max(20)
      .transform((tags) => [...new Set(tags)]),
  })
  .partial()
export type SaveOperatorProfile = z.infer<typeof SaveOperatorProfile>

export const OperatorProfileView = z.object({
  headline: z.string().nullable(),
  bio: z.string().nullable(),
  country: z.string().nullable(),
  timezone: z.string().nullable(),
  languages: z.array(z.string()),
  /** Mean of the stars given by clients, two decimals; null before the first. */
  rating_average: z.number().min(1).max(5).nullable(),
  rating_count: z.number().int(),
  /** Whether the payout account can be paid to; follows from payments and cannot be set. */
  payout_ready: z.boolean(),
  created_at: timestamp,
})
