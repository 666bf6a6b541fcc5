import { z } from 'zod'

/** What a person or a program is recognised by. */
export const Credential = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('api_key'), key: z.string().min(1) }),
  z.object({
    kind: z.literal('session'),
    /** What the platform takes. */
    token: z.string().min(1),
    /** Which of the provider's tokens that is: some access tokens are for the provider itself alone. */
    use: z.enum(['access_token', 'id_token']),
    /** By this machine's clock, which the lifetime was counted on from. */
    expires_at: z.iso.datetime(),
    refresh_token: z.string().min(1).optional(),
    issuer: z.url(),
    client_id: z.string().min(1),
    token_endpoint: z.url(),
  }),
])
export type Credential = z.infer<typeof Credential>
export type SessionCredential = Extract<Credential, { kind: 'session' }>

/** A platform, and who one is there. */
export const Profile = z.object({ server: z.url(), credential: Credential })
export type Profile = z.infer<typeof Profile>

export const CREDENTIALS_VERSION = 1

/** The stored file. */
export const CredentialFile = z.object({
  version: z.literal(CREDENTIALS_VERSION),
  /** The profile that counts where none is named. */
  current: z.string().optional(),
  profiles: z.record(z.string(), Profile),
})
export type CredentialFile = z.infer<typeof CredentialFile>
