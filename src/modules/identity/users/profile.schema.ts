import { idOf, Role } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, timestamp } from '../../../core/http/fields.ts'
import { OnboardingStep } from './onboarding.ts'

const preferences = {
  email: z.boolean().meta({ description: 'Whether notifications that stay unread are sent by mail.' }),
  push: z.boolean().meta({ description: 'Whether the hub pushes notifications; they are kept in any case.' }),
}

/** Body of POST /api/auth/profile. Preferences that are not named stay as they are. */
export const UpdateProfile = z.strictObject({
  display_name: line(100)
    .meta({ examples: ['Ada'] })
    .optional(),
  notification_preferences: z.strictObject(preferences).partial().optional(),
  role: z.enum(['client', 'operator'], 'must be client or operator').optional(),
})
export type UpdateProfile = z.infer<typeof UpdateProfile>

/** The profile as its owner sees it. */
export const ProfileView = z
  .object({
    id: idOf('client'),
    email: z
      .string()
      .nullable()
      .meta({ examples: ['ada@example.com'] }),
    display_name: z.string().meta({ examples: ['Ada'] }),
    avatar_url: z
      .string()
      .nullable()
      .meta({ description: 'The uploaded avatar, else the picture of the provider.', examples: [null] }),
    roles: z.array(Role),
    notification_preferences: z.object(preferences),
    onboarded: z.boolean().meta({ description: 'Whether nothing is missing in the account.' }),
    created_at: timestamp.meta({ examples: ['2026-10-05T08:12:44.000Z'] }),
  })
  .meta({ id: 'Profile', description: 'An account as its owner sees it.' })
export type ProfileView = z.infer<typeof ProfileView>

/** Answer of GET /api/auth/check-onboarding. */
export const Onboarding = z
  .object({ onboarded: z.boolean(), roles: z.array(Role), missing: z.array(OnboardingStep) })
  .meta({
    id: 'Onboarding',
    description: 'Whether an account is complete, and what is missing.',
    examples: [{ onboarded: false, roles: [], missing: ['role'] }],
  })
