import type { CoreServices } from '../../core/core-services.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import { cronQueue } from '../../core/jobs/cron-queue.ts'
import type { Memberships } from '../../core/permissions/caller.ts'
import { accountLifeEndpoints } from './account/account.routes.ts'
import { createAccountDeletion } from './account/account-deletion.service.ts'
import { createDataExports, DATA_EXPORT_CLEAN_UP, DATA_EXPORTS } from './account/data-export.service.ts'
import { createApiKeys } from './api-keys/api-key.service.ts'
import { createAuth, type SignInTokens } from './auth/auth.ts'
import { avatarEndpoints } from './avatars/avatar.routes.ts'
import { createAvatars } from './avatars/avatar.service.ts'
import { cliLoginEndpoint } from './oidc/cli-login.routes.ts'
import type { DevAccount } from './oidc/dev-account.ts'
import { createOidc, type OidcSettings } from './oidc/oidc.ts'
import { accountEndpoints } from './profile.routes.ts'
import { serviceAccountEndpoints } from './service-accounts/service-account.routes.ts'
import { createServiceAccounts } from './service-accounts/service-account.service.ts'
import { createRoles } from './users/role.service.ts'
import { createSuspensions } from './users/suspension.service.ts'
import { createUsers } from './users/user.service.ts'
import { createUserPresence } from './users/user-presence.ts'

const UNUSED_KEYS = cronQueue('unused-api-keys', '23 4 * * *', 'Notifies about API keys that are not used')

export interface IdentitySettings extends OidcSettings {
  readonly adminEmails: readonly string[]
  readonly corsOrigins: readonly string[]
}

/** Creates the identity services: accounts, roles, API keys, sign-in, avatars. */
export async function createIdentity(
  core: CoreServices,
  options: {
    readonly settings: IdentitySettings
    readonly memberships: Memberships
    readonly signIns: SignInTokens
    /** Makes a user a member of the organizations that have provisioned the verified address. */
    readonly joinProvisioned: (userId: string) => Promise<void>
    /** Accounts that the built-in identity provider offers on its sign-in page. */
    readonly accounts: readonly DevAccount[]
    /** Whether other machines can reach the built-in identity provider. */
    readonly insecure?: boolean
  },
) {
  const { settings, accounts, memberships, signIns, joinProvisioned } = options
  const { corsOrigins } = settings
  const oidc = await createOidc({ ...core, config: settings, accounts, insecure: options.insecure ?? false })
  const users = createUsers({ ...core, adminEmails: settings.adminEmails, joinProvisioned })
  const apiKeys = createApiKeys(core)
  core.jobs.register(UNUSED_KEYS, apiKeys.reportUnused)
  const { verifyToken } = oidc
  const dataExports = createDataExports(core)
  const accountDeletion = createAccountDeletion(core)
  core.jobs.register(DATA_EXPORTS, dataExports.handler)
  core.jobs.register(DATA_EXPORT_CLEAN_UP, async () => {
    await dataExports.cleanUp()
    await accountDeletion.forgetEndedSignIns()
  })
  return {
    ...oidc,
    users,
    apiKeys,
    serviceAccounts: createServiceAccounts({ ...core, apiKeys }),
    auth: createAuth({
      users,
      apiKeys,
      memberships,
      verifyToken,
      signIns,
      baseUrl: core.baseUrl,
      corsOrigins,
      bus: core.bus,
    }),
    roles: createRoles(core),
    suspensions: createSuspensions(core),
    userPresence: createUserPresence(core),
    avatars: createAvatars(core),
    dataExports,
    accountDeletion,
  }
}
export type Identity = Awaited<ReturnType<typeof createIdentity>>

/** Returns the endpoints under /api/auth, and those of avatars and service accounts. */
export const identityEndpoints = (identity: Identity, { baseUrl, now }: CoreServices): Endpoint[] => [
  ...accountEndpoints({ ...identity, baseUrl }),
  ...accountLifeEndpoints({ ...identity, baseUrl }),
  cliLoginEndpoint(identity),
  ...avatarEndpoints({ ...identity, baseUrl }),
  ...serviceAccountEndpoints({ ...identity, now }),
]
