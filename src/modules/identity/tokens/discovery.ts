import { z } from 'zod'
import { unavailable } from '../../../core/errors/errors.ts'

/** How long an identity provider may take to answer with its configuration. */
const TIMEOUT_MS = 3_000

const Metadata = z.object({
  issuer: z.string(),
  jwks_uri: z.url(),
  userinfo_endpoint: z.url().optional(),
})
/** The provider metadata (OpenID Connect Discovery) that token verification needs. */
export type ProviderMetadata = z.infer<typeof Metadata>

/**
 * Returns a function that reads the provider's metadata on first use and caches it. It does not cache failures.
 * @throws 503 if the provider is unreachable or its metadata names another issuer.
 */
export function createDiscovery(options: { issuer: string }): () => Promise<ProviderMetadata> {
  let known: Promise<ProviderMetadata> | undefined
  return () => {
    known ??= read(options.issuer).catch((cause) => {
      known = undefined
      throw unavailable(
        'identity_provider_unavailable',
        'The identity provider is unreachable. Try again shortly.',
        cause,
      )
    })
    return known
  }
}

async function read(issuer: string): Promise<ProviderMetadata> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!response.ok) throw new Error(`${url} returned status ${response.status}`)
  const metadata = Metadata.parse(await response.json())
  if (metadata.issuer !== issuer)
    throw new Error(`${url} names the issuer ${metadata.issuer} instead of ${issuer}`)
  return metadata
}
