import type { Context } from 'koa'
import { forbidden } from '../../../core/errors/errors.ts'

/** Host names of the local machine. A page of another site cannot have one of them as its own. */
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i

/**
 * Rejects requests that a page of another site makes a browser send: those with the `Origin` of that site, and those
 * with its host name, which DNS rebinding resolves to this server.
 * @throws 403
 */
export function createMcpGuard(options: { baseUrl: string; corsOrigins: readonly string[] }) {
  const own = new URL(options.baseUrl)
  const origins = new Set([own.origin, ...options.corsOrigins])
  return (http: Context): void => {
    const host = http.host.toLowerCase() // behind trusted proxies, the host that the first proxy received
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
