import { iso } from '../../core/database/iso.ts'
import { forbidden } from '../../core/errors/errors.ts'
import { type Caller, type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { credentialOf } from '../../core/permissions/authorization.ts'
import { apiKeyEndpoints } from './api-keys/api-key.routes.ts'
import type { ApiKeys } from './api-keys/api-key.service.ts'
import { avatarUrl } from './avatars/avatar.routes.ts'
import type { TokenClaims, VerifyToken } from './tokens/tokens.ts'
import type { Userinfo } from './tokens/userinfo.ts'
import { missingSteps } from './users/onboarding.ts'
import { Onboarding, ProfileView, UpdateProfile } from './users/profile.schema.ts'
import { roleEndpoints } from './users/role.routes.ts'
import type { Roles } from './users/role.service.ts'
import { suspensionEndpoints } from './users/suspension.routes.ts'
import type { Suspensions } from './users/suspension.service.ts'
import type { Account, Users } from './users/user.service.ts'

interface Deps {
  readonly users: Users
  readonly apiKeys: ApiKeys
  readonly verifyToken: VerifyToken
  readonly userinfo: Userinfo
  readonly roles: Roles
  readonly suspensions: Suspensions
  readonly baseUrl: string
}

/** Creates the endpoints under /api/auth. */
export function accountEndpoints(deps: Deps): Endpoint[] {
  return [
    ...profileEndpoints(deps),
    ...roleEndpoints(deps),
    ...suspensionEndpoints(deps),
    ...providerEndpoints(deps),
    ...apiKeyEndpoints(deps),
  ]
}

function profileEndpoints({ users, baseUrl }: Deps): Endpoint[] {
  const view = createProfileView(users, baseUrl)
  return [
    endpoint({
      method: 'get',
      path: '/api/auth/profile',
      summary: 'Returns your profile',
      access: {},
      response: [200, ProfileView],
      run: async ({ caller }) => view(await users.account(caller.userId)),
    }),
    endpoint({
      method: 'post',
      path: '/api/auth/profile',
      summary: 'Changes your display name, your notification preferences, or adds a role',
      access: { person: true },
      body: UpdateProfile,
      response: [200, ProfileView],
      errors: { 403: { role_removed: 'when an admin has removed the role' } },
      run: async ({ caller, body }) =>
        view(await users.updateProfile(caller.userId, body, credentialOf(caller))),
    }),
  ]
}

function providerEndpoints(deps: Deps): Endpoint[] {
  const { users, baseUrl } = deps
  const view = createProfileView(users, baseUrl)
  return [
    endpoint({
      method: 'post',
      path: '/api/auth/sync',
      summary:
        'Updates your account from the identity provider: e-mail, picture, and a name you did not choose',
      access: { sessionOnly: true },
      response: [200, ProfileView],
      errors: {
        502: {
          identity_provider_error: 'when the identity provider returns no valid response about the account',
        },
      },
      run: async ({ caller }) => {
        const { userId, credential } = caller
        // The provider of an organization tells all of it with each sign-in.
        if (credential.kind === 'session' && credential.signIn) return view(await users.account(userId))
        return view(await users.refresh(userId, await currentClaims(deps, caller)))
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/auth/check-onboarding',
      summary: 'Returns whether your account is complete, and which steps are missing',
      access: { sessionOnly: true },
      response: [200, Onboarding],
      run: async ({ caller }) => {
        const account = await users.account(caller.userId)
        const roles = users.rolesOf(account)
        const missing = missingSteps(roles, account)
        return { onboarded: missing.length === 0, roles, missing }
      },
    }),
  ]
}

/** Returns the token's claims, and those of userinfo if the token contains no e-mail. */
async function currentClaims(deps: Deps, caller: Caller): Promise<TokenClaims> {
  if (caller.credential.kind !== 'session')
    throw forbidden('api_key_not_accepted', 'An API key is not accepted here. Use a session token.')
  const { token } = caller.credential
  const claims = await deps.verifyToken(token)
  if (claims.email !== undefined) return claims
  return { ...claims, ...(await deps.userinfo(token, claims.subject)) }
}

const createProfileView =
  (users: Users, baseUrl: string) =>
  (account: Account): ProfileView => {
    const roles = users.rolesOf(account)
    return {
      id: account.id,
      email: account.email,
      display_name: account.display_name,
      avatar_url: account.avatar_name ? avatarUrl(baseUrl, account.avatar_name) : account.avatar_url,
      roles,
      notification_preferences: {
        email: account.notification_preferences.email ?? true,
        push: account.notification_preferences.push ?? true,
      },
      onboarded: missingSteps(roles, account).length === 0,
      created_at: iso(account.created_at),
    }
  }
