import type { Role } from '@wheelhouse/protocol'
import { z } from 'zod'

/** A step that an account needs before it is complete. */
export const OnboardingStep = z.enum(['role', 'client_profile', 'operator_profile'])
export type OnboardingStep = z.infer<typeof OnboardingStep>

/** The profile fields that onboarding requires; null if not saved. */
export interface OnboardingFields {
  readonly contact_email: string | null
  readonly headline: string | null
  readonly timezone: string | null
}

/**
 * Returns the missing onboarding steps of an account. Onboarding is complete when the list is empty.
 *
 * A client needs a contact e-mail. An operator needs a headline and a time zone. The admin role requires no step.
 */
export function missingSteps(roles: readonly Role[], saved: OnboardingFields): OnboardingStep[] {
  const missing: OnboardingStep[] = []
  if (roles.length === 0) missing.push('role')
  if (roles.includes('client') && saved.contact_email === null) missing.push('client_profile')
  if (roles.includes('operator') && (saved.headline === null || saved.timezone === null)) {
    missing.push('operator_profile')
  }
  return missing
}
