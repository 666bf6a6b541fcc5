import { idOf, Role } from '@wheelhouse/protocol'
import { z } from 'zod'
import { line, timestamp } from '../../../core/http/fields.ts'
import { OnboardingStep } from './onboarding.ts'

const preferences = {
  email: z.boolean().meta({ description: 'Whether Wheelhouse mails notifications that you do not read.' }),
  push: z
    .boolean()
    .meta({ description: 'Whether the hub pushes notifications. Wheelhouse lists them in either case.' }),
}

/** Body of POST /api/auth/profile. Omitted preferences do not change. */
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
      .meta({
        description: 'The uploaded avatar, or else the picture from the identity provider.',
        examples: [null],
      }),
    roles: z.array(Role),
    notification_preferences: z.object(preferences),
    onboarded: z.boolean().meta({ description: 'Whether the account is complete.' }),
    created_at: timestamp.meta({ examples: ['2026-10-05T08:12:44.000Z'] }),
  })
  .meta({ id: 'Profile', description: 'An account as its owner sees it.' })
export type ProfileView = z.infer<typeof ProfileView>

/** Response of GET /api/auth/check-onboarding. */
export const Onboarding = z
  .object({ onboarded: z.boolean(), roles: z.array(Role), missing: z.array(OnboardingStep) })
  .meta({
    id: 'Onboarding',
    description: 'Whether an account is complete, and which steps are missing.',
    examples: [{ onboarded: false, roles: [], missing: ['role'] }],
  })
