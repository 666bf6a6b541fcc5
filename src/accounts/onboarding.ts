import type { Role } from '@wheelhouse/protocol'
import { z } from 'zod'

/** What can be left to do before an account is complete. */
export const OnboardingStep = z.enum(['role', 'client_profile', 'operator_profile'])
export type OnboardingStep = z.infer<typeof OnboardingStep>

/** The steps still open for an account; onboarding is complete when there are none. */
export function missingSteps(account: { roles: readonly Role[] }): OnboardingStep[] {
  const missing: OnboardingStep[] = []
  if (account.roles.length === 0) missing.push('role')
  return missing
}
