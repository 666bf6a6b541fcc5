import type { CustomFetch } from 'openid-client'
import { AppError, badRequest, conflict } from '../../../core/errors/errors.ts'
import { createLoginClient } from './login-client.ts'

/** Largest response of a provider that an organization has configured. */
const MAX_RESPONSE_BYTES = 256 * 1024
/** How long a provider may take to answer, until the last byte. */
const RESPONSE_LIMIT_MS = 10_000
/** Clients that are kept with the metadata of their providers; of more than that, the newest. */
const MAX_CLIENTS = 500

/** Sends requests to addresses that users chose, under the rules of webhooks. */
interface OutboundClient {
  problemOf(url: string): Promise<string | undefined>
  open(
    url: string,
    stop: AbortSignal,
    message: { method: string; headers: Readonly<Record<string, string>>; body?: string },
  ): Promise<{ status: number; contentType: string; body: AsyncIterable<Buffer> }>
}

/** The provider of an organization. */
export interface OrganizationProvider {
  readonly organizationId: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  readonly scopes: readonly string[]
  /** Changes with the settings. */
  readonly version: string
}

type LoginClient = ReturnType<typeof createLoginClient>

/** Creates the clients of the providers of organizations, for sign-ins and for the check of new settings. */
export function createOrganizationClients({
  baseUrl,
  outbound,
  limitMs = RESPONSE_LIMIT_MS,
}: {
  baseUrl: string
  outbound: OutboundClient
  limitMs?: number
}) {
  const fetch = createLimitedFetch(outbound, limitMs)
  const clients = new Map<string, { readonly version: string; readonly client: LoginClient }>()
  const create = (
    provider: Pick<OrganizationProvider, 'issuer' | 'clientId'> & Partial<OrganizationProvider>,
  ) =>
    createLoginClient({
      oidcProvider: { ...provider, audience: provider.clientId, clientSecret: provider.clientSecret },
      callbackUrl: `${baseUrl}/auth/sso/${provider.organizationId}/callback`,
      scope: provider.scopes?.join(' ') ?? 'openid',
      fetch,
    })

  return {
    /** Returns the client of a provider with its present settings. */
    clientOf(provider: OrganizationProvider): LoginClient {
      const { organizationId, version } = provider
      const known = clients.get(organizationId)
      const client = known?.version === version ? known.client : create(provider)
      clients.delete(organizationId) // the newest is the last
      clients.set(organizationId, { version, client })
      const oldest = clients.keys().next().value
      if (clients.size > MAX_CLIENTS && oldest !== undefined) clients.delete(oldest)
      return client
    },

    /**
     * Reads the metadata of a provider, and returns the issuer that they name. Call it outside a transaction.
     * @throws 400 for an address that is not allowed, 409 for one that does not answer as a provider
     */
    async discover(provider: { issuer: string; clientId: string }): Promise<string> {
      const problem = await outbound.problemOf(provider.issuer)
      if (problem !== undefined) throw badRequest(`issuer: ${problem}`)
      return await create(provider)
        .issuer()
        .catch((cause) => {
          if (!(cause instanceof AppError)) throw cause
          throw conflict(
            'issuer_not_usable',
            cause.status === 503
              ? 'The issuer does not answer. Check its address.'
              : 'The issuer does not publish the metadata of an OpenID Connect provider with this name. Check its address.',
          )
        })
    },
  }
}
export type OrganizationClients = ReturnType<typeof createOrganizationClients>

/** Creates a `fetch` with limits of time and bytes, which follows no redirects. */
const createLimitedFetch =
  ({ open }: Pick<OutboundClient, 'open'>, limitMs: number): CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const stop = AbortSignal.any([AbortSignal.timeout(limitMs), ...(signal ? [signal] : [])])
    try {
      const response = await open(url, stop, {
        method,
        headers,
        ...(body != null && { body: String(body) }),
      })
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of response.body) {
        size += chunk.length
        if (size > MAX_RESPONSE_BYTES) return new Response('', { status: 502 })
        chunks.push(chunk)
      }
      const { status, contentType } = response
      const content = status === 204 || status === 304 ? null : Buffer.concat(chunks)
      return new Response(content, { status, headers: { 'Content-Type': contentType } })
    } catch (cause) {
      throw new TypeError('fetch failed', { cause }) // as `fetch` does, which tells it from a bad response
    }
  }
