import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'

interface ProfileChange {
  readonly display_name?: string
  readonly notification_preferences?: Partial<Schemas['Profile']['notification_preferences']>
  readonly role?: 'client' | 'operator'
}

/** Changes the account and updates the cached profile. */
export function useProfileChange() {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: ProfileChange) => answerOf(rest.POST('/api/auth/profile', { body })),
    onSuccess: (profile) => {
      queries.setQueryData(keys.profile, profile)
      return queries.invalidateQueries({ queryKey: keys.onboarding })
    },
  })
}
