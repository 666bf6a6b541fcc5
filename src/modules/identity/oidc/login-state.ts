import { z } from 'zod'
import type { Secrets } from '../../../core/secrets.ts'

const PURPOSE = 'login-state'
export const LOGIN_STATE_SECONDS = 600

const LoginState = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
  expiresAt: z.number(),
})
/** What a sign-in must remember between leaving for the provider and coming back; kept by the browser itself. */
export type LoginState = z.infer<typeof LoginState>

/** The state as a signed text for a cookie. */
export function sealLoginState(secrets: Secrets, state: Omit<LoginState, 'expiresAt'>): string {
  const expiresAt = Date.now() + LOGIN_STATE_SECONDS * 1000
  const text = Buffer.from(JSON.stringify({ ...state, expiresAt })).toString('base64url')
  return `${text}.${secrets.sign(PURPOSE, text)}`
}

/** Undefined unless the text was sealed here and is not over age. */
export function openLoginState(secrets: Secrets, sealed: string | undefined): LoginState | undefined {
  const [text, signature] = sealed?.split('.') ?? []
  if (!text || !signature || !secrets.verify(PURPOSE, text, signature)) return undefined
  const state = LoginState.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
  return state.expiresAt > Date.now() ? state : undefined
}

/**
 * Where to go after a sign-in: an absolute address of our own origin. Anything that a browser would read as
 * another origin, backslashes and the like included, becomes the dashboard. The answer is absolute because a path
 * such as `//elsewhere`, alone in a Location header, would be another origin again.
 */
export function safeReturnTo(baseUrl: string, requested: unknown): string {
  const fallback = new URL('/dashboard', baseUrl).href
  if (typeof requested !== 'string' || !requested.startsWith('/') || !URL.canParse(requested, baseUrl))
    return fallback
  const target = new URL(requested, baseUrl)
  return target.origin === new URL(baseUrl).origin ? target.href : fallback
}
