import { createStore } from '../base/store.ts'

/** `unknown` before the first sign-in check, `expired` while a dialog asks the user to sign in again. */
type SessionPhase = 'unknown' | 'signed-in' | 'expired'

export const SIGN_IN_CHANNEL = 'wheelhouse-sign-in'

export type SessionGuard = ReturnType<typeof createSessionGuard>

/** Guards the session of the page. The token is in an HttpOnly cookie. */
export function createSessionGuard(page: { reload: () => void }) {
  const phase = createStore<SessionPhase>('unknown')
  let currentUserId: string | undefined
  let signIn = Promise.withResolvers<void>()

  /** Resolves at once while the session is valid, otherwise after the next sign-in. */
  const renewed = (): Promise<void> => (phase.get() === 'expired' ? signIn.promise : Promise.resolve())
  /** Marks the session as expired and asks the user to sign in again. */
  const expire = () => {
    if (phase.get() !== 'signed-in') return
    signIn = Promise.withResolvers<void>()
    phase.set('expired')
  }
  /** Checks whether a user has signed in again. Reloads the page for a different user. */
  const check = async (): Promise<void> => {
    if (phase.get() !== 'expired') return
    // A failed check leaves the dialog open. The next check may succeed.
    const reply = await fetch('/api/auth/profile').catch(() => undefined)
    if (!reply?.ok || phase.get() !== 'expired') return
    const profile: { id: string } = await reply.json()
    if (profile.id !== currentUserId) return page.reload()
    phase.set('signed-in')
    signIn.resolve()
  }

  return {
    phase,
    renewed,
    expire,
    check,
    enter(userId: string): void {
      currentUserId = userId
      if (phase.get() === 'unknown') phase.set('signed-in')
    },
    /** Works like `fetch`, but repeats a request that got 401 after the same user has signed in again. */
    async fetch(request: Request): Promise<Response> {
      for (;;) {
        const response = await fetch(request.clone())
        if (response.status !== 401 || phase.get() === 'unknown') return response
        expire()
        await renewed()
      }
    },
  }
}

export const signInUrl = (returnTo: string) => `/auth/login?${new URLSearchParams({ return_to: returnTo })}`
