import { OrganizationRole } from '@wheelhouse/protocol'
import { actFor, useOrganization } from '../platform/organization.ts'
import { keys } from '../platform/queries.ts'
import { byId, useRead, useWrite } from '../platform/rest.ts'
import { organizationRoleTexts } from '../texts/code-texts.ts'

/** Returns the root of the queries of an organization, and the parameters of the routes below it. */
export function useRoutes() {
  const { id } = useOrganization()
  return { id, key: [...keys.organizations, id], route: byId(id) }
}

/** Queries the groups of the organization that the page acts for. */
export function useGroups({ enabled = true } = {}) {
  const { key, route } = useRoutes()
  return useRead([...key, 'groups'], (rest) => rest.GET('/api/organizations/{id}/groups', route), { enabled })
}

/** Accepts an invitation, by the token of its mail or its id, and acts for the organization. */
export const useAccept = () =>
  useWrite(
    (rest, token: string) => rest.POST('/api/invitations/{token}/accept', { params: { path: { token } } }),
    { onSuccess: ({ organization_id }) => actFor(organization_id) },
  )

/** Returns the roles that a member may give, as options: only owners make owners. */
export const roleOptions = (giver: OrganizationRole) =>
  OrganizationRole.options
    .filter((role) => role !== 'owner' || giver === 'owner')
    .map((value) => ({ value, label: organizationRoleTexts[value] }))
