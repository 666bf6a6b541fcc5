import { z } from 'zod'

/** A credential of an account: an API key, or a session token from a browser sign-in. */
export const Credential = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('api_key'), key: z.string().min(1) }),
  z.object({
    kind: z.literal('session'),
    /** The token that the platform accepts. */
    token: z.string().min(1),
    /** Which of the provider's tokens it is. Some providers issue access tokens only for themselves. */
    use: z.enum(['access_token', 'id_token']),
    /** End of the token's lifetime, by this machine's clock. */
    expires_at: z.iso.datetime(),
    refresh_token: z.string().min(1).optional(),
    issuer: z.url(),
    client_id: z.string().min(1),
    token_endpoint: z.url(),
  }),
])
export type Credential = z.infer<typeof Credential>
export type SessionCredential = Extract<Credential, { kind: 'session' }>

/** A platform and the credential of an account there. */
export const Profile = z.object({ server: z.url(), credential: Credential })
export type Profile = z.infer<typeof Profile>

export const CREDENTIALS_VERSION = 1

/** The stored file. */
export const CredentialFile = z.object({
  version: z.literal(CREDENTIALS_VERSION),
  /** The default profile. */
  current: z.string().optional(),
  profiles: z.record(z.string(), Profile),
})
export type CredentialFile = z.infer<typeof CredentialFile>
