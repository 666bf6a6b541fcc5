import { createStore, type Store } from '../ui/store.ts'

/** `unknown` until somebody is known to be signed in; `expired` while a dialog asks them to sign in again. */
export type SessionPhase = 'unknown' | 'signed-in' | 'expired'

/** Which window tells the others of this browser that somebody has signed in. */
export const SIGN_IN_CHANNEL = 'wheelhouse-sign-in'

export interface SessionGuard {
  readonly phase: Store<SessionPhase>
  /** `fetch`, but a request that comes back with 401 waits until the same person has signed in again, and is repeated. */
  fetch(request: Request): Promise<Response>
  /** Names the person this page belongs to. */
  enter(userId: string): void
  /** The session has been refused: asks to sign in again. */
  expire(): void
  /** Settles at once while the session is good, else after the next sign-in. */
  renewed(): Promise<void>
  /** Looks whether somebody has signed in again. Another person gets a page of their own. */
  check(): Promise<void>
}

/** Guards the session of the page. The token itself is in a cookie that no script can read. */
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
    // A failure leaves the dialog open; the next look may succeed.
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
