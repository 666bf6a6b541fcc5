import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { type Configuration, Provider } from 'oidc-provider'

/** What the provider says about the person who signs in next. */
export interface ProviderPerson {
  readonly sub: string
  readonly [claim: string]: unknown
}

/**
 * Starts an OpenID Connect provider of an organization on a loopback port: it signs in the person that a test chooses, without a page.
 */
export async function startOrganizationProvider() {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }
  const people = new Map<string, ProviderPerson>()
  let next: ProviderPerson = { sub: 'nobody' }
  let handler: RequestListener = (_request, response) => void response.destroy()
  const instead = new Map<string, RequestListener>()

  /** Registers a client with the callback of an organization. */
  function register(client: { id: string; secret: string; callbackUrl: string }): void {
    const settings: Configuration = {
      clients: [
        {
          client_id: client.id,
          client_secret: client.secret,
          redirect_uris: [client.callbackUrl],
          grant_types: ['authorization_code'],
        },
      ],
      jwks: { keys: [key] },
      cookies: { keys: ['for tests'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
      conformIdTokenClaims: false,
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_http, interaction) => `/interaction/${interaction.uid}` },
      findAccount: (_http, sub) => ({ accountId: sub, claims: async () => ({ ...people.get(sub), sub }) }),
      loadExistingGrant: async ({ oidc }) => {
        const grant = new oidc.provider.Grant({
          clientId: client.id,
          accountId: oidc.session?.accountId as string,
        })
        grant.addOIDCScope('openid email profile')
        await grant.save()
        return grant
      },
    }
    const provider = new Provider(issuer, settings)
    const answer = provider.callback()
    handler = (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return void answer(request, response)
      people.set(next.sub, next)
      void provider.interactionFinished(request, response, { login: { accountId: next.sub } })
    }
  }

  server.on('request', (request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    const other = instead.get(path) ?? handler
    other(request, response)
  })

  return {
    issuer,
    register,
    /** Chooses the person who signs in next. */
    become: (person: ProviderPerson) => {
      next = person
    },
    /** Answers requests of a path otherwise from now on, such as not at all. */
    answer: (path: string, other: RequestListener) => void instead.set(path, other),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
export type OrganizationProvider = Awaited<ReturnType<typeof startOrganizationProvider>>
