import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@wheelhouse/sdk'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { createContext, lazy, type ReactNode, Suspense, useContext, useEffect } from 'react'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { Loading, Problem } from '../ui/states.tsx'
import { SignInAgain, SignInPage } from './sign-in.tsx'

export type Me = Schemas['Profile']

const Onboarding = lazy(() => import('../onboarding/onboarding.page.tsx'))
const MeContext = createContext<Me | undefined>(undefined)

/** The signed-in person. Only below `SignedInOnly`. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (!me) throw new Error('useMe() is for what stands inside SignedInOnly')
  return me
}

/** Shows its children to a person who is signed in and has completed their account; else what is missing. */
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
  if (profile.error) return <Problem error={profile.error} onRetry={() => void profile.refetch()} />
  return <Loading />
}
