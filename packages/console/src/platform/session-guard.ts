import { createStore } from '../base/store.ts'
import { chosenTeam, forgetTeam } from './organization.ts'

/** `unknown` before the first sign-in check, `expired` while a dialog asks the user to sign in again. */
type SessionPhase = 'unknown' | 'signed-in' | 'expired'

/** Names the organization of a request. Another window may meanwhile have chosen another one, which the cookie then names. */
const ORGANIZATION = 'Wheelhouse-Organization'

export const SIGN_IN_CHANNEL = 'wheelhouse-sign-in'

export type SessionGuard = ReturnType<typeof createSessionGuard>

/** Guards the session of the page. The token is in an HttpOnly cookie. */
export function createSessionGuard(page: { reload: () => void }) {
  const phase = createStore<SessionPhase>('unknown')
  let currentUserId: string | undefined
  let organizationId: string | undefined
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
    if (reply?.status === 404) return page.reload() // another user signed in, who is no member of the chosen team
    if (!reply?.ok || phase.get() !== 'expired') return
    const profile: { id: string } = await reply.json()
    if (profile.id !== currentUserId) return page.reload()
    phase.set('signed-in')
    signIn.resolve()
  }

  /** Leaves the team that the page acts for, if the user is no member any more. */
  const leaveLostTeam = async (): Promise<void> => {
    const team = organizationId ?? chosenTeam()
    if (team === undefined || team === currentUserId) return
    const headers = { [ORGANIZATION]: team }
    const reply = await fetch('/api/auth/profile', { headers }).catch(() => undefined)
    if (reply?.status !== 404) return
    if (chosenTeam() === team) forgetTeam()
    if (chosenTeam() !== team) page.reload()
  }

  return {
    phase,
    renewed,
    expire,
    check,
    leaveLostTeam,
    /** Returns the id of the organization that the page acts for, undefined before `enter`. */
    actingFor: () => organizationId,
    /** @param organization id of the organization that the page acts for */
    enter(userId: string, organization: string): void {
      currentUserId = userId
      organizationId = organization
      if (phase.get() === 'unknown') phase.set('signed-in')
    },
    /** Works like `fetch`, but repeats a request that got 401 after the same user has signed in again. */
    async fetch(request: Request): Promise<Response> {
      for (;;) {
        const attempt = request.clone()
        if (organizationId !== undefined) attempt.headers.set(ORGANIZATION, organizationId)
        const response = await fetch(attempt)
        if (response.status === 404 && (await isAboutOrganization(response))) await leaveLostTeam()
        if (response.status !== 401 || phase.get() === 'unknown') return response
        expire()
        await renewed()
      }
    },
  }
}

/** Returns whether the answer to a request says that its organization is unknown, by the message: the code is that of every 404. */
const isAboutOrganization = async (response: Response): Promise<boolean> =>
  /"Organization not found/.test(await response.clone().text())

export const signInUrl = (returnTo: string) => `/auth/login?${new URLSearchParams({ return_to: returnTo })}`
/** Returns the address of the sign-in with the provider of an organization. */
export const organizationSignInUrl = (returnTo: string) =>
  `/auth/sso?${new URLSearchParams({ return_to: returnTo })}`
