import type { Context } from 'koa'
import { forbidden } from '../../../core/errors/errors.ts'

/**
 * Creates a check against cross-site request forgery. Browsers send the origin of a request in headers that pages cannot
 * forge. The check rejects a request without an allowed origin, also when both headers are missing.
 * @throws 403
 */
export function createOriginGuard(options: { baseUrl: string; corsOrigins: readonly string[] }) {
  const allowed = new Set([new URL(options.baseUrl).origin, ...options.corsOrigins])
  return (http: Context): void => {
    if (/^(GET|HEAD|OPTIONS)$/.test(http.method)) return
    if (/^(same-origin|none)$/.test(http.get('Sec-Fetch-Site'))) return
    if (allowed.has(http.get('Origin'))) return
    throw forbidden(
      'origin_not_allowed',
      'A request with the session cookie must come from an allowed origin. Send a Bearer token instead.',
    )
  }
}
export type OriginGuard = ReturnType<typeof createOriginGuard>
