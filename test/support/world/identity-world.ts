import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import { pino } from 'pino'
import { z } from 'zod'
import { connectOrm, queries } from '../../../src/app/database/orm.ts'
import { createMemoryBus } from '../../../src/core/events/bus.ts'
import { createApp } from '../../../src/core/http/app.ts'
import { endpoint } from '../../../src/core/http/endpoint.ts'
import { createSecrets } from '../../../src/core/secrets.ts'
import { createApiKeys } from '../../../src/modules/identity/api-keys/api-key.service.ts'
import { createAuth } from '../../../src/modules/identity/auth/auth.ts'
import { loginRoutes } from '../../../src/modules/identity/oidc/login.routes.ts'
import { createIdentityProvider } from '../../../src/modules/identity/oidc/provider.ts'
import { accountEndpoints } from '../../../src/modules/identity/profile.routes.ts'
import { createDiscovery } from '../../../src/modules/identity/tokens/discovery.ts'
import { createTokenVerifier, type KeySource } from '../../../src/modules/identity/tokens/tokens.ts'
import { createUserinfo } from '../../../src/modules/identity/tokens/userinfo.ts'
import { createRoles } from '../../../src/modules/identity/users/role.service.ts'
import { createSuspensions } from '../../../src/modules/identity/users/suspension.service.ts'
import { createUsers } from '../../../src/modules/identity/users/user.service.ts'
import { createMemberships } from '../../../src/modules/organizations/index.ts'
import { createSignIns } from '../../../src/modules/provisioning/sign-in.service.ts'
import { createSignInSettings } from '../../../src/modules/provisioning/sign-in-settings.service.ts'
import { createTestDatabase } from '../database/database.ts'
import { testTransactor } from '../database/test-transactor.ts'

/** An identity provider other than the built-in one. */
export interface OutsideProvider {
  readonly issuer: string
  readonly audience: string
  readonly jwks: KeySource
  readonly clientId?: string
  readonly clientSecret?: string
}

export const ALLOWED_ORIGIN = 'https://console.example'
export const ADMIN = 'root@example.com'

/** Creates the api's accounts and login over real HTTP and a real database, without the rest of the platform. */
export async function createIdentityWorld(options: { provider?: (baseUrl: string) => OutsideProvider } = {}) {
  const problems: unknown[] = []
  const report = (cause: unknown) => void problems.push(cause)
  const database = await createTestDatabase()
  const orm = await connectOrm({ url: database.url, poolSize: 10, applicationName: 'identity-test' })
  const db = queries(orm.em.fork())
  const dataDir = await mkdtemp(join(tmpdir(), 'identity-'))
  const bus = createMemoryBus(report)

  const server = createServer()
  await new Promise<void>((done) => server.listen(0, 'localhost', done))
  const baseUrl = `http://localhost:${(server.address() as AddressInfo).port}`

  const secrets = createSecrets('a root key for tests, 32 characters or more')
  const idp = await createIdentityProvider({
    baseUrl,
    dataDir,
    secrets,
    report,
    production: false,
    accounts: [
      { email: 'ada@example.com', name: 'Ada <Owner>', role: 'owner', hint: 'owns robots' },
      { email: 'grace@example.com', name: 'Grace', role: 'operator', hint: 'drives them' },
    ],
  })
  const outside = options.provider?.(baseUrl)
  const provider = outside
    ? { clientId: undefined, ...outside }
    : { issuer: idp.issuer, audience: idp.audience, clientId: idp.clientId, jwks: idp.localJwks }
  const verifyToken = createTokenVerifier(provider)
  const now = () => new Date()
  const transact = testTransactor(orm, bus)
  const users = createUsers({ db, transact, now, secrets, adminEmails: [ADMIN] })
  const roles = createRoles({ transact, now, bus })
  const suspensions = createSuspensions({ transact, now, bus })
  const apiKeys = createApiKeys({ db, transact, bus, now, report })
  const corsOrigins = [ALLOWED_ORIGIN]
  const core = { db, transact, bus, now, secrets, baseUrl }
  const signIns = createSignIns(core)
  const auth = createAuth({
    users,
    apiKeys,
    memberships: createMemberships({ db }),
    verifyToken,
    signIns,
    baseUrl,
    corsOrigins,
    bus,
  })
  const userinfo = createUserinfo({ discover: createDiscovery({ issuer: provider.issuer }) })
  const login = loginRoutes({
    baseUrl,
    corsOrigins,
    oidcProvider: provider,
    secrets,
    verifyToken,
    users,
    now,
    organizations: {
      signIns,
      settings: createSignInSettings({ ...core, platformIssuer: provider.issuer }),
      clients: {
        clientOf: () => {
          throw new Error('no organization has a provider')
        },
      },
    },
    report,
  })
  const before: Middleware[] = [login, idp.middleware]
  const app = createApp({
    corsOrigins,
    before,
    trustedProxies: 0,
    https: false,
    log: pino({ level: 'silent' }),
    endpoints: [
      ...accountEndpoints({ users, roles, suspensions, apiKeys, verifyToken, userinfo, baseUrl }),
      ...probes,
    ],
    authenticate: auth.authenticate,
    validateResponses: true,
  })
  server.on('request', app.callback())

  return {
    baseUrl,
    db,
    bus,
    idp,
    secrets,
    auth,
    users,
    apiKeys,
    problems,
    dataDir,
    tokenOf: (name: string) => idp.issueDevToken({ email: `${name}@example.com` }),
    as: (token: string) => caller(baseUrl, { Authorization: `Bearer ${token}` }),
    with: (headers: Record<string, string>) => caller(baseUrl, headers),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
      await apiKeys.flush()
      await orm.close(true)
      await database.drop()
      await rm(dataDir, { recursive: true })
    },
  }
}
export type IdentityWorld = Awaited<ReturnType<typeof createIdentityWorld>>

/** Routes that require only a role, for tests of the role checks. */
const probes = (['client', 'operator', 'admin'] as const).map((role) =>
  endpoint({
    method: 'get',
    path: `/probe/${role}`,
    summary: `Answers ${role}s`,
    access: { role },
    response: [200, z.object({ roles: z.array(z.string()) })],
    run: async ({ caller }) => ({ roles: [...caller.roles] }),
  }),
)

/** Calls routes with fixed headers. */
function caller(baseUrl: string, headers: Record<string, string>) {
  const call = (method: string) => async (path: string, body?: unknown) => {
    const reply = await fetch(baseUrl + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    return { status: reply.status, headers: reply.headers, body: text ? JSON.parse(text) : undefined }
  }
  return { get: call('GET'), post: call('POST'), delete: call('DELETE') }
}
