import { z } from 'zod'
import { line, prose, timestamp } from '../../core/http/fields.ts'
import { country, language, timeZone } from '../../core/http/locale-fields.ts'

const examples = {
  headline: { examples: ['Two years of pick and place, mornings in Europe'] },
  bio: { examples: ['I trained on the SO-101 and drive everything with a gripper.'] },
  country: { description: 'ISO 3166-1 alpha-2.', examples: ['DE'] },
  timezone: { description: 'An IANA time zone.', examples: ['Europe/Berlin'] },
  languages: { description: 'BCP 47 language tags.', examples: [['de']] },
}

/** Body of POST /api/operator/profile. Fields that are left out stay unchanged; null clears a field. */
export const SaveOperatorProfile = z
  .strictObject({
    headline: line(120).nullable().meta(examples.headline),
    bio: prose(4_000).nullable().meta(examples.bio),
    country: country.nullable().meta(examples.country),
    timezone: timeZone.nullable().meta(examples.timezone),
    languages: z
      .array(language)
      .max(20)
      .meta(examples.languages)
      .transform((tags) => [...new Set(tags)]),
  })
  .partial()
export type SaveOperatorProfile = z.infer<typeof SaveOperatorProfile>

export const OperatorProfileView = z
  .object({
    headline: z.string().nullable().meta(examples.headline),
    bio: z.string().nullable().meta(examples.bio),
    country: z.string().nullable().meta(examples.country),
    timezone: z.string().nullable().meta(examples.timezone),
    languages: z.array(z.string()).meta(examples.languages),
    rating_average: z
      .number()
      .min(1)
      .max(5)
      .nullable()
      .meta({
        description: 'Mean of the ratings by clients, to two decimals; null without ratings.',
        examples: [4.72],
      }),
    rating_count: z
      .number()
      .int()
      .meta({ examples: [47] }),
    payout_ready: z.boolean().meta({
      description: 'Whether payouts are enabled. Stripe determines this; it cannot be set.',
      examples: [false],
    }),
    created_at: timestamp.meta({ examples: ['2026-09-14T16:03:20.000Z'] }),
  })
  .meta({
    id: 'OperatorProfile',
    description: 'Public profile and ratings of an operator.',
  })
