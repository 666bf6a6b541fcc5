import {
  type Adapter,
  type AdapterFactory,
  type AdapterPayload,
  type Configuration,
  interactionPolicy,
  type KoaContextWithOIDC,
} from 'oidc-provider'
import { problemText, sendPage } from '../../../core/http/html-page.ts'
import { type DevAccount, devAccountClaims } from './dev-account.ts'
import { devicePages } from './device-page.ts'
import { SIGNING_ALGORITHM, type SigningKey } from './provider-keys.ts'
import { CLI_CLIENT_ID, DASHBOARD_CLIENT_ID, DEV_AUDIENCE } from './provider-names.ts'

/** Limits memory. It suffices for the codes, pending sign-ins and sessions of a development team. */
const MAX_ENTRIES = 5_000

interface Entry {
  readonly payload: AdapterPayload
  readonly expiresAt: number
}

/**
 * Stores the provider's state in memory. At the limit, it evicts the oldest entry. Other processes do not see the
 * state, so a sign-in must begin and end at the same api process.
 */
function createProviderStore(now: () => number): AdapterFactory {
  const entries = new Map<string, Entry>()

  const live = (key: string): AdapterPayload | undefined => {
    const entry = entries.get(key)
    if (entry && entry.expiresAt > now()) return entry.payload
    entries.delete(key)
    return undefined
  }
  const findBy = (model: string, field: 'uid' | 'userCode', value: string) => {
    for (const [key, { payload }] of entries) {
      if (key.startsWith(`${model}:`) && payload[field] === value) return live(key)
    }
    return undefined
  }

  return (model): Adapter => {
    const keyOf = (id: string) => `${model}:${id}`
    return {
      async upsert(id, payload, expiresInSeconds) {
        entries.delete(keyOf(id)) // re-inserted at the end: a Map iterates in insertion order
        entries.set(keyOf(id), { payload, expiresAt: now() + (expiresInSeconds ?? Infinity) * 1000 })
        const [oldest] = entries.keys()
        if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest)
      },
      find: async (id) => live(keyOf(id)),
      findByUid: async (uid) => findBy(model, 'uid', uid),
      findByUserCode: async (userCode) => findBy(model, 'userCode', userCode),
      async consume(id) {
        const payload = live(keyOf(id))
        if (payload) payload.consumed = Math.floor(now() / 1000)
      },
      async destroy(id) {
        entries.delete(keyOf(id))
      },
      async revokeByGrantId(grantId) {
        for (const [key, { payload }] of entries) if (payload.grantId === grantId) entries.delete(key)
      },
    }
  }
}

/** A development sign-in lasts a working day, because the dashboard does not refresh tokens. */
export const TOKEN_LIFETIME_SECONDS = 8 * 3600

const SCOPES = 'openid email profile offline_access'
const INTERACTION_SECONDS = 3600
/** How long a user can take to open the address that the command line shows. */
const DEVICE_CODE_SECONDS = 600
/** A command line stays signed in if it is used at least this often. */
const REFRESH_SECONDS = 30 * 24 * 3600

/** Returns the development provider's configuration: two first-party clients, no consent page, JWT access tokens. */
export function providerSettings(options: {
  baseUrl: string
  mountPath: string
  signingKey: SigningKey
  cookieKeys: string[]
  accounts: readonly DevAccount[]
}): Configuration {
  const claimsOf = (subject: string) => devAccountClaims(options.accounts, subject)
  return {
    adapter: createProviderStore(Date.now),
    clients: clients(options.baseUrl),
    clientDefaults: { id_token_signed_response_alg: SIGNING_ALGORITHM },
    jwks: { keys: [options.signingKey] },
    cookies: { keys: options.cookieKeys, short: { signed: true }, long: { signed: true } },
    scopes: SCOPES.split(' '),
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false, // this provider has no userinfo endpoint, so the ID token contains the claims
    responseTypes: ['code'],
    enabledJWA: { idTokenSigningAlgValues: [SIGNING_ALGORITHM] },
    pkce: { required: () => true },
    clientBasedCORS: () => false,
    ttl: {
      AccessToken: TOKEN_LIFETIME_SECONDS,
      IdToken: TOKEN_LIFETIME_SECONDS,
      Grant: REFRESH_SECONDS,
      RefreshToken: REFRESH_SECONDS,
      DeviceCode: DEVICE_CODE_SECONDS,
      Session: TOKEN_LIFETIME_SECONDS,
      AuthorizationCode: 60,
      Interaction: INTERACTION_SECONDS,
    },
    interactions: {
      url: (_http, interaction) => `${options.mountPath}/interaction/${interaction.uid}`,
      policy: alwaysChooseAccount(),
    },
    findAccount: (_http, subject) => ({
      accountId: subject,
      claims: async () => ({ sub: subject, ...claimsOf(subject) }),
    }),
    // The platform creates users from the access token, so the token contains the profile claims.
    extraTokenClaims: (_http, token) =>
      'accountId' in token && token.accountId ? claimsOf(token.accountId) : undefined,
    loadExistingGrant: grantEverything,
    renderError: (http, out) =>
      sendPage(http, {
        status: http.status,
        title: 'Sign-in failed',
        body: problemText({ text: out.error_description ?? out.error }),
      }),
    features: features(),
  }
}

function clients(baseUrl: string): NonNullable<Configuration['clients']> {
  const common = { token_endpoint_auth_method: 'none' } as const
  return [
    {
      ...common,
      client_id: DASHBOARD_CLIENT_ID,
      grant_types: ['authorization_code'],
      redirect_uris: [`${baseUrl}/auth/callback`],
    },
    {
      ...common,
      client_id: CLI_CLIENT_ID,
      client_name: 'the Wheelhouse command line',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      application_type: 'native', // any port of the loopback address (RFC 8252)
      redirect_uris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
    },
  ]
}

function features(): NonNullable<Configuration['features']> {
  return {
    devInteractions: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
    dPoP: { enabled: false },
    deviceFlow: { enabled: true, ...devicePages },
    // The command line revokes its refresh token when it signs out.
    revocation: {
      enabled: true,
      allowedPolicy: (_http, client, token) => token.clientId === client.clientId,
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => DEV_AUDIENCE,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: '',
        audience: DEV_AUDIENCE,
        accessTokenFormat: 'jwt',
        accessTokenTTL: TOKEN_LIFETIME_SECONDS,
        jwt: { sign: { alg: SIGNING_ALGORITHM } },
      }),
    },
  }
}

/**
 * Returns a policy that shows the account page at every sign-in, because developers often switch between accounts with
 * different roles. It omits the consent page, because both clients are first-party.
 */
function alwaysChooseAccount(): interactionPolicy.DefaultPolicy {
  const policy = interactionPolicy.base()
  policy.remove('consent')
  const chooseAccount = new interactionPolicy.Check(
    'choose_account',
    'an account must be chosen',
    'login_required',
    (http) => !http.oidc.result?.login,
  )
  policy.get('login')?.checks.add(chooseAccount)
  return policy
}

async function grantEverything(http: KoaContextWithOIDC) {
  const { client, session, provider } = http.oidc
  if (!client || !session?.accountId) return undefined
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
  grant.addOIDCScope(SCOPES)
  await grant.save()
  return grant
}
