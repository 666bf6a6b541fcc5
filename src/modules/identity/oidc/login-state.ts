import { z } from 'zod'
import type { Secrets } from '../../../core/secrets.ts'

const PURPOSE = 'login-state'
export const LOGIN_STATE_SECONDS = 600

const LoginState = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  /** The organization whose provider it is; missing for that of the platform. */
  organizationId: z.string().optional(),
  expiresAt: z.number(),
})
/** The state of a sign-in between the redirect to the provider and the callback. The browser stores it in a cookie. */
export type LoginState = z.infer<typeof LoginState>

/** Returns the state as a signed text for a cookie. */
export function sealLoginState(secrets: Secrets, state: Omit<LoginState, 'expiresAt'>): string {
  const expiresAt = Date.now() + LOGIN_STATE_SECONDS * 1000
  const text = Buffer.from(JSON.stringify({ ...state, expiresAt })).toString('base64url')
  return `${text}.${secrets.sign(PURPOSE, text)}`
}

/** Returns the state, or undefined if the signature is not valid or the state has expired. */
export function openLoginState(secrets: Secrets, sealed: string | undefined): LoginState | undefined {
  const [text, signature] = sealed?.split('.') ?? []
  if (!text || !signature || !secrets.verify(PURPOSE, text, signature)) return undefined
  const state = LoginState.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
  return state.expiresAt > Date.now() ? state : undefined
}

/**
 * Returns the redirect target after a sign-in: an absolute URL of the platform's origin. A request for another origin,
 * as browsers parse it, results in the dashboard. The URL is absolute because browsers read a path such as
 * `//elsewhere` in a Location header as another origin.
 */
export function safeReturnTo(baseUrl: string, requested: unknown): string {
  const fallback = new URL('/dashboard', baseUrl).href
  if (typeof requested !== 'string' || !requested.startsWith('/') || !URL.canParse(requested, baseUrl))
    return fallback
  const target = new URL(requested, baseUrl)
  return target.origin === new URL(baseUrl).origin ? target.href : fallback
}
