import type { RestClient, Schemas } from '@wheelhouse/sdk'
import { createContext, useContext } from 'react'
import type { Live } from './live.ts'
import { memberMay, type Organization } from './organization.ts'
import type { SessionGuard } from './session-guard.ts'

export interface Platform {
  readonly rest: RestClient
  readonly session: SessionGuard
  readonly live: Live
}

export const PlatformContext = createContext<Platform | undefined>(undefined)

/** Returns the shared clients: `const { rest, live } = usePlatform()`. */
export function usePlatform(): Platform {
  const platform = useContext(PlatformContext)
  if (!platform) throw new Error('usePlatform() requires App')
  return platform
}

type Me = Schemas['Profile']

export const MeContext = createContext<Me | undefined>(undefined)

/** Returns what a member may be while acting for a team. The platform decides the same. @param own the roles of the person */
export function rolesIn(team: Organization, own: Me['roles']): Me['roles'] {
  const drives = memberMay(team, 'sessions.drive') || own.includes('operator')
  return ['client', ...(drives ? (['operator'] as const) : []), ...own.filter((role) => role === 'admin')]
}

/** Returns the signed-in user, with the roles in the organization that the page acts for. Requires `SignedInOnly` above. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (!me) throw new Error('useMe() requires SignedInOnly')
  return me
}

/** Returns whether the user takes part in no sessions, but administers those of others. */
export const isOnlyAdmin = ({ roles }: Pick<Me, 'roles'>): boolean =>
  roles.length === 1 && roles[0] === 'admin'
