import type { Middleware } from 'koa'
import { notAllowed } from '../../core/errors/errors.ts'

export const MCP_PATH = '/api/mcp'
const WELL_KNOWN = '/.well-known/oauth-protected-resource'
/** Nothing in it is anybody's own, and it changes with the configuration alone. */
const CACHED = 'public, max-age=3600'

/** Where a client that was refused reads which identity provider gives the tokens that are taken here. */
export const metadataUrl = (baseUrl: string) => `${baseUrl}${WELL_KNOWN}${MCP_PATH}`

/**
 * Protected-resource metadata (RFC 9728) of the MCP endpoint, and of the REST API, which takes the same tokens.
 * Clients in any page may read it: it is public, and no credential is looked at.
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
