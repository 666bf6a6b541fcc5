import { useEffect } from 'react'
import { usePlatform } from '../app/platform.ts'

/** Ensures that this browser shows no notifications of a user who was signed in before. @param userId of the signed-in user */
export function useOwnSubscription(userId: string | undefined): void {
  const { rest } = usePlatform()
  useEffect(() => {
    if (userId === undefined) return
    // Loaded after the first view.
    import('./browser-push.ts')
      .then(({ dropForeignSubscription }) => dropForeignSubscription(rest))
      .catch((cause: unknown) => console.warn('push:', cause))
  }, [userId, rest])
}
