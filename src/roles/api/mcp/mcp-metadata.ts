import type { Middleware } from 'koa'
import { notAllowed } from '../../../core/errors/errors.ts'

export const MCP_PATH = '/api/mcp'
const WELL_KNOWN = '/.well-known/oauth-protected-resource'
/** The metadata is public and changes only with the configuration. */
const CACHED = 'public, max-age=3600'

/** Returns the URL of the metadata that names the identity provider of accepted tokens. */
export const metadataUrl = (baseUrl: string) => `${baseUrl}${WELL_KNOWN}${MCP_PATH}`

/**
 * Serves the protected resource metadata (RFC 9728) of the MCP endpoint and of the REST API, which accepts the same
 * tokens. It is public, so pages of every origin may read it, and credentials are ignored.
 */
export function protectedResources(options: { baseUrl: string; issuer: string }): Middleware {
  const { baseUrl, issuer } = options
  const resources = new Map([
    [WELL_KNOWN, { resource: baseUrl, resource_name: 'Wheelhouse' }],
    [`${WELL_KNOWN}${MCP_PATH}`, { resource: `${baseUrl}${MCP_PATH}`, resource_name: 'Wheelhouse MCP' }],
  ])
  return async (http, next) => {
    const resource = resources.get(http.path)
    if (!resource) return await next()
    if (http.method !== 'GET' && http.method !== 'HEAD') throw notAllowed(http.method, ['GET', 'HEAD'])
    http.set({ 'Cache-Control': CACHED, 'Access-Control-Allow-Origin': '*' })
    http.body = {
      ...resource,
      authorization_servers: [issuer],
      scopes_supported: ['openid', 'email', 'profile'],
      bearer_methods_supported: ['header'],
      resource_documentation: `${baseUrl}/api/docs`,
    }
  }
}
