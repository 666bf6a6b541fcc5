import { createStore, type Store } from '../base/store.ts'

/** `unknown` before the first sign-in check, `expired` while a dialog asks the user to sign in again. */
type SessionPhase = 'unknown' | 'signed-in' | 'expired'

export const SIGN_IN_CHANNEL = 'wheelhouse-sign-in'

export interface SessionGuard {
  readonly phase: Store<SessionPhase>
  /** Works like `fetch`, but repeats a request that got 401 after the same user has signed in again. */
  fetch(request: Request): Promise<Response>
  enter(userId: string): void
  /** Marks the session as expired and asks the user to sign in again. */
  expire(): void
  /** Resolves at once while the session is valid, otherwise after the next sign-in. */
  renewed(): Promise<void>
  /** Checks whether a user has signed in again. Reloads the page for a different user. */
  check(): Promise<void>
}

/** Guards the session of the page. The token is in an HttpOnly cookie. */
export function createSessionGuard(page: { reload: () => void }): SessionGuard {
  const phase = createStore<SessionPhase>('unknown')
  let currentUserId: string | undefined
  let signIn = Promise.withResolvers<void>()

  const renewed = () => (phase.get() === 'expired' ? signIn.promise : Promise.resolve())
  const expire = () => {
    if (phase.get() !== 'signed-in') return
    signIn = Promise.withResolvers<void>()
    phase.set('expired')
  }
  const check = async () => {
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
    enter(userId) {
      currentUserId = userId
      if (phase.get() === 'unknown') phase.set('signed-in')
    },
    async fetch(request) {
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
