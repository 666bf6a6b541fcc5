import { type OrganizationAction, permissions, roleMay } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import { createContext, useContext } from 'react'

export type Organization = Schemas['Organization']

/** The organization that this page acts for, and all of the user, the personal one first. */
interface Organizations {
  readonly acting: Organization
  /** Whether the page acts for a team. */
  readonly isTeam: boolean
  readonly all: readonly Organization[]
}

export const OrganizationsContext = createContext<Organizations | undefined>(undefined)

/** Returns the organizations of the signed-in user. Requires `SignedInOnly` above. */
export function useOrganizations(): Organizations {
  const organizations = useContext(OrganizationsContext)
  if (!organizations) throw new Error('useOrganizations() requires SignedInOnly')
  return organizations
}

/** Returns the organization that the page acts for. */
export const useOrganization = (): Organization => useOrganizations().acting

/**
 * Returns whether a member may perform an action. The platform decides the same: what is not allowed, the console does not offer. A
 * member of some groups does nothing that concerns the whole organization.
 */
export const memberMay = (
  { role, group_ids }: Pick<Organization, 'role' | 'group_ids'>,
  action: OrganizationAction,
): boolean =>
  roleMay(role, action) &&
  (permissions[action].perRobot || group_ids === null || action === 'organization.read')

/** Returns a function that tells whether the user may perform an action in the organization that the page acts for. */
export function useMay(): (action: OrganizationAction) => boolean {
  const organization = useOrganization()
  return (action) => memberMay(organization, action)
}

// The choice is a cookie, which links, pictures, downloads and sockets send too.
const COOKIE = 'wheelhouse_organization'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns the id of the team that the user has chosen in this browser; undefined for the personal organization. */
export function chosenTeam(): string | undefined {
  const pair = document.cookie.split('; ').find((part) => part.startsWith(`${COOKIE}=`))
  const id = pair?.slice(COOKIE.length + 1)
  return id && UUID.test(id) ? id : undefined
}

const write = (value: string) => {
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  // biome-ignore lint/suspicious/noDocumentCookie: not all browsers have the Cookie Store API
  document.cookie = `${COOKIE}=${value}; Path=/; SameSite=Lax${secure}`
}

/** Makes this browser act for the personal organization from the next page on. */
export const forgetTeam = () => write('; Max-Age=0')

/** Acts for a team, or with undefined for the personal organization, and opens the console anew: its pages show other data. */
export function actFor(teamId: string | undefined): void {
  if (teamId === undefined) forgetTeam()
  else write(teamId)
  location.assign('/dashboard')
}
