import { useQuery } from '@tanstack/react-query'
import { answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'

/** Queries the owner profile, with billing data. */
export function useClientProfile() {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: keys.clientProfile,
    queryFn: () => answerOf(rest.GET('/api/client/profile')),
  })
}
