import {
  ApiKeyScope,
  type OrganizationAction,
  OrganizationRole,
  organizationActions,
  permissions,
} from '@wheelhouse/protocol'
import { describe, expect, test } from 'vitest'
import type { Caller, Endpoint } from '../../../src/core/http/endpoint.ts'
import { can } from '../../../src/core/permissions/authorization.ts'
import { createAuth } from '../../../src/modules/identity/auth/auth.ts'
import { declaredEndpoints } from '../../../src/roles/api/declared-endpoints.ts'

// Every route as every role, with every scope, in the whole organization and in a group of it, at the level of the functions that all
// doors call. test/fast/organizations asks through the doors.

const { authorize } = createAuth({
  baseUrl: 'http://localhost',
  corsOrigins: [],
  bus: { subscribe: () => () => {}, publish: () => {} },
} as unknown as Parameters<typeof createAuth>[0])

const [TEAM, OTHER_TEAM, GROUP, OTHER_GROUP] = ['team', 'other team', 'group', 'other group']

type Credential = 'session' | 'key' | ApiKeyScope
const credentials: readonly Credential[] = ['session', 'key', ...ApiKeyScope.options]

const memberOf = (role: OrganizationRole, credential: Credential, groupIds: string[] | null): Caller => ({
  userId: 'user',
  displayName: 'User',
  roles: ['client', 'operator', 'admin'], // of the platform: not what these tests are about
  organization: { id: TEAM, role, groupIds },
  permissionsVersion: 0,
  credential:
    credential === 'session'
      ? { kind: 'session', expiresAt: new Date(8.64e15), token: '', fromCookie: false }
      : {
          kind: 'api_key',
          id: 'key',
          expiresAt: null,
          scopes: credential === 'key' ? null : [credential],
        },
})

const hasScope = (action: OrganizationAction, credential: Credential) => {
  const scopes: readonly string[] = permissions[action].scopes
  return (
    credential === 'session' || credential === 'key' || scopes.length === 0 || scopes.includes(credential)
  )
}
const hasRole = (action: OrganizationAction, role: string) =>
  permissions[action].roles.some((allowed) => allowed === role)

const passes = (work: () => void): boolean => {
  try {
    work()
    return true
  } catch {
    return false
  }
}

describe.each(OrganizationRole.options)('as %s', (role) => {
  const routes = declaredEndpoints().filter(
    (spec): spec is Endpoint & { access: Exclude<Endpoint['access'], 'public'> } => spec.access !== 'public',
  )

  test.each(credentials)('with the credential %s, each route asks the table', (credential) => {
    for (const groupIds of [null, [GROUP]]) {
      const caller = memberOf(role, credential, groupIds)
      for (const { method, path, access } of routes) {
        const { action, scope = method === 'get' ? 'read' : 'admin', sessionOnly, person } = access
        const isWhole = groupIds === null
        const expected = action
          ? hasRole(action, role) &&
            hasScope(action, credential) &&
            (isWhole || permissions[action].perRobot || action === 'organization.read')
          : credential === 'session' || credential === 'key' || credential === scope
        // What belongs to a person is closed for keys of a team.
        const isAdmitted = expected && (!(sessionOnly || person) || credential === 'session')
        expect(
          passes(() => authorize(caller, access, method)),
          `${method} ${path} in ${groupIds ?? 'all groups'}`,
        ).toBe(isAdmitted)
      }
    }
  })

  test.each(organizationActions)('%s concerns the own robots only', (action) => {
    const { perRobot } = permissions[action]
    const may = (groupIds: string[] | null, organizationId: string, groupId: string | null) =>
      can(memberOf(role, 'session', groupIds), action, { organizationId, groupId })
    const allowed = hasRole(action, role)
    expect(may(null, TEAM, null)).toBe(allowed)
    expect(may(null, TEAM, GROUP)).toBe(allowed)
    expect(may(null, OTHER_TEAM, GROUP)).toBe(false)
    expect(may([GROUP], TEAM, GROUP)).toBe(allowed && (perRobot || action === 'organization.read'))
    expect(may([GROUP], TEAM, OTHER_GROUP)).toBe(false)
    expect(may([GROUP], TEAM, null)).toBe(false)
    expect(may([], TEAM, GROUP)).toBe(false)
  })
})
