import { useQuery } from '@tanstack/react-query'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { keys } from '../api/keys.ts'
import { MeContext } from '../auth/me.ts'
import { SignInAgain, SignInPage } from '../auth/sign-in.tsx'
import { useOwnSubscription } from '../push/use-own-subscription.ts'
import { Loading, Problem } from '../ui/states.tsx'
import { usePlatform } from './platform.ts'

// Most users see neither of these pages.
const Onboarding = lazy(() => import('../onboarding/onboarding.page.tsx'))
const SuspendedPage = lazy(() => import('../auth/suspended.tsx'))

/** Shows its children to a signed-in user with a complete account, otherwise the sign-in or onboarding page. */
export function SignedInOnly({ children }: { children: ReactNode }) {
  const { rest, session, live } = usePlatform()
  const profile = useQuery({
    queryKey: keys.profile,
    queryFn: () => answerOf(rest.GET('/api/auth/profile')),
  })
  const me = profile.data
  useEffect(() => {
    if (!me) return
    session.enter(me.id)
    live.connect()
  }, [me, session, live])
  useOwnSubscription(me?.id)

  if (me) {
    return (
      <MeContext value={me}>
        {me.onboarded ? (
          children
        ) : (
          <Suspense fallback={<Loading />}>
            <Onboarding />
          </Suspense>
        )}
        <SignInAgain />
      </MeContext>
    )
  }
  if (profile.error instanceof ApiError && profile.error.status === 401) return <SignInPage />
  if (profile.error instanceof ApiError && profile.error.code === 'account_suspended')
    return (
      <Suspense fallback={<Loading />}>
        <SuspendedPage message={profile.error.message} />
      </Suspense>
    )
  if (profile.error) return <Problem error={profile.error} onRetry={() => void profile.refetch()} />
  return <Loading />
}
