import type { Role } from '@wheelhouse/protocol'
import type { RestClient, Schemas } from '@wheelhouse/sdk'
import { createContext, type FC, useContext } from 'react'
import { t } from '../texts/texts.ts'
import type { Live } from './live.ts'
import type { SessionGuard } from './session-guard.ts'

export interface Platform {
  readonly rest: RestClient
  readonly session: SessionGuard
  readonly live: Live
  readonly navigation: readonly NavigationEntry[]
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

/** Returns the signed-in user. Requires `SignedInOnly` above. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (!me) throw new Error('useMe() requires SignedInOnly')
  return me
}

/** Returns whether the user takes part in no sessions, but administers those of others. */
export const isOnlyAdmin = ({ roles }: Pick<Me, 'roles'>): boolean =>
  roles.length === 1 && roles[0] === 'admin'

export interface NavigationEntry {
  /** A route path without parameters, such as `/robots`. */
  readonly to: string
  readonly label: string
  /** A short description for the home page. */
  readonly description: string
  readonly icon: FC<{ size?: number; stroke?: number }>
  readonly role?: Role
  /** Hides the link from users without part in sessions: those who are only admins. */
  readonly participantsOnly?: boolean
  readonly first?: boolean
  /** Marks the link as active on its exact path only, because subpaths have their own links. */
  readonly exact?: boolean
}

type Group = 'first' | Role | 'account'

const groupOf = ({ first, role }: NavigationEntry): Group => (first ? 'first' : (role ?? 'account'))

const groups: readonly (readonly [Group, title: string])[] = [
  ['first', ''],
  ['operator', t('common.operator')],
  ['client', t('common.owner')],
  ['admin', t('app.navigation.admin')],
  ['account', t('common.account')],
]

/** Returns the navigation of the signed-in user, grouped by role, without empty groups. */
export function useNavigation(): { title: string; entries: NavigationEntry[] }[] {
  const { navigation } = usePlatform()
  const { roles } = useMe()
  const participates = roles.some((role) => role !== 'admin')
  const allowed = navigation.filter(
    ({ role, participantsOnly }) =>
      (role === undefined || roles.includes(role)) && (participates || participantsOnly !== true),
  )
  return groups
    .map(([group, title]) => ({ title, entries: allowed.filter((entry) => groupOf(entry) === group) }))
    .filter(({ entries }) => entries.length > 0)
}
