import type { Role } from '@wheelhouse/protocol'
import { iso } from '../db/iso.ts'
import { type Caller, type Endpoint, endpoint } from '../http/endpoint.ts'
import { forbidden } from '../http/errors.ts'
import { apiKeyEndpoints } from './api-key.routes.ts'
import type { ApiKeys } from './api-key.service.ts'
import { missingSteps } from './onboarding.ts'
import { Onboarding, ProfileView, UpdateProfile } from './profile.schema.ts'
import type { TokenClaims, VerifyToken } from './tokens.ts'
import type { UserRow, Users } from './user.service.ts'
import type { Userinfo } from './userinfo.ts'

interface Parts {
  readonly users: Users
  readonly apiKeys: ApiKeys
  readonly verifyToken: VerifyToken
  readonly userinfo: Userinfo
}

/** Everything under /api/auth. */
export function accountEndpoints(parts: Parts): Endpoint[] {
  return [...profileEndpoints(parts), ...providerEndpoints(parts), ...apiKeyEndpoints(parts)]
}

function profileEndpoints({ users }: Parts): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/api/auth/profile',
      summary: 'Returns your profile',
      access: {},
      answer: [200, ProfileView],
      run: async ({ caller }) => view(await users.byId(caller.userId), caller.roles),
    }),
    endpoint({
      method: 'post',
      path: '/api/auth/profile',
      summary: 'Changes your display name, your notification preferences, or adds a role',
      access: {},
      body: UpdateProfile,
      answer: [200, ProfileView],
      run: async ({ caller, body }) => {
        const user = await users.updateProfile(caller.userId, body)
        return view(user, users.rolesOf(user))
      },
    }),
  ]
}

function providerEndpoints(parts: Parts): Endpoint[] {
  const { users } = parts
  return [
    endpoint({
      method: 'post',
      path: '/api/auth/sync',
      summary: 'Takes over name, e-mail and picture from the identity provider',
      access: { sessionOnly: true },
      answer: [200, ProfileView],
      refusals: { 502: 'when the identity provider fails to answer about the account' },
      run: async ({ caller }) => {
        const user = await users.refresh(caller.userId, await currentClaims(parts, caller))
        return view(user, users.rolesOf(user))
      },
    }),
    endpoint({
      method: 'get',
      path: '/api/auth/check-onboarding',
      summary: 'Tells whether your account is complete, and what is missing',
      access: { sessionOnly: true },
      answer: [200, Onboarding],
      run: async ({ caller }) => {
        const missing = missingSteps(caller)
        return { onboarded: missing.length === 0, roles: [...caller.roles], missing }
      },
    }),
  ]
}

/** What the provider says now: the token's own claims, and userinfo's when the token holds no e-mail. */
async function currentClaims(parts: Parts, caller: Caller): Promise<TokenClaims> {
  if (caller.credential.kind !== 'session') throw forbidden('This needs a session token')
  const { token } = caller.credential
  const claims = await parts.verifyToken(token)
  if (claims.email !== undefined) return claims
  return { ...claims, ...(await parts.userinfo(token, claims.subject)) }
}

const view = (user: UserRow, roles: readonly Role[]): ProfileView => ({
  id: user.id,
  email: user.email,
  display_name: user.display_name,
  avatar_url: user.avatar_url,
  roles: [...roles],
  notification_preferences: {
    email: user.notification_preferences.email ?? true,
    push: user.notification_preferences.push ?? true,
  },
  onboarded: missingSteps({ roles }).length === 0,
  created_at: iso(user.created_at),
})
