import type { Context } from 'koa'
import { forbidden } from '../../core/errors/errors.ts'

/** Names by which only this machine is reached: no page of another site has them as its own. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/**
 * Refuses requests that a page of another site makes a browser send: one that says where it comes from (`Origin`),
 * and one whose name was made to point here (DNS rebinding), which asks for a host that is not ours.
 * @throws 403
 */
export function createMcpGuard(options: { baseUrl: string; corsOrigins: readonly string[] }) {
  const own = new URL(options.baseUrl)
  const origins = new Set([own.origin, ...options.corsOrigins])
  return (http: Context): void => {
    const host = http.host.toLowerCase() // behind trusted proxies, what was asked of the first of them
    if (host !== own.host && !LOOPBACK.test(host))
      throw forbidden(
        'host_not_allowed',
        'The Host header names another host. Use the address of the platform.',
      )
    const origin = http.get('Origin')
    if (origin !== '' && !origins.has(origin))
      throw forbidden(
        'origin_not_allowed',
        'Requests from this Origin are not allowed. An administrator can allow it.',
      )
  }
}
