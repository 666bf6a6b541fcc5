import type { Role } from '@wheelhouse/protocol'
import { z } from 'zod'

/** What can be left to do before an account is complete. */
export const OnboardingStep = z.enum(['role', 'client_profile', 'operator_profile'])
export type OnboardingStep = z.infer<typeof OnboardingStep>

/** What onboarding asks of the profiles; null where nothing was saved. */
export interface OnboardingFields {
  readonly contact_email: string | null
  readonly headline: string | null
  readonly timezone: string | null
}

/**
 * The steps still open for an account; onboarding is complete when there are none.
 *
 * A client must be reachable: a saved contact e-mail. An operator must introduce themselves and say when they
 * mean it when they name a time: a saved headline and time zone. Admins owe nothing as admins.
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
