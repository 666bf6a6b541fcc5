import { z } from 'zod'
import { unavailable } from '../../../core/errors/errors.ts'

const TIMEOUT_MS = 3_000

const Metadata = z.object({
  issuer: z.string(),
  jwks_uri: z.url(),
  userinfo_endpoint: z.url().optional(),
})
/** The part of an OpenID Connect provider's published description that token checks need. */
export type ProviderMetadata = z.infer<typeof Metadata>

/**
 * Reads the provider's description on first use and remembers it; a failure is not remembered.
 * @throws 503 while the provider cannot be reached or describes another issuer.
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
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const metadata = Metadata.parse(await response.json())
  if (metadata.issuer !== issuer) throw new Error(`${url} describes the issuer ${metadata.issuer}`)
  return metadata
}
