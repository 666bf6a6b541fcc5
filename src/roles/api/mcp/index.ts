import type { Middleware } from 'koa'
import type { Endpoint } from '../../../core/http/endpoint.ts'
import { packageVersion } from '../openapi/document.ts'
import { docsPages } from './docs.ts'
import { type McpRouteDeps, mcpRoutes } from './mcp.routes.ts'
import { protectedResources } from './mcp-metadata.ts'
import { createRouteInvoker, findRoutes } from './route-invoker.ts'
import { createToolbox } from './toolbox.ts'
import { tools } from './tools/index.ts'

/** The dependencies of the MCP server. */
export interface McpEndpointDeps
  extends Pick<McpRouteDeps, 'auth' | 'baseUrl' | 'requestLimits' | 'directStop' | 'log' | 'report'> {
  readonly config: Pick<McpRouteDeps, 'corsOrigins'>
  readonly idempotency: { readonly once: Parameters<typeof createRouteInvoker>[0]['once'] }
  readonly oidcProvider: { readonly issuer: string }
  readonly metrics: { readonly toolCalled: McpRouteDeps['countToolCall'] }
  readonly rateLimits: McpRouteDeps['limits']
  readonly threadTime: Parameters<typeof createRouteInvoker>[0]['threadTime']
}

/** Creates the MCP server over the routes of the REST API, and the metadata that describes how to authenticate. */
export function mcpEndpoint(deps: McpEndpointDeps, endpoints: readonly Endpoint[]): Middleware[] {
  const { auth, baseUrl, idempotency, oidcProvider, metrics, rateLimits } = deps
  const find = findRoutes(endpoints)
  return [
    protectedResources({ baseUrl, issuer: oidcProvider.issuer }),
    mcpRoutes({
      auth,
      baseUrl,
      corsOrigins: deps.config.corsOrigins,
      limits: rateLimits,
      requestLimits: deps.requestLimits,
      directStop: deps.directStop,
      log: deps.log,
      report: deps.report,
      countToolCall: metrics.toolCalled,
      version: packageVersion(),
      docs: docsPages(),
      toolbox: createToolbox({ specs: tools, find, baseUrl }),
      routes: createRouteInvoker({
        find,
        authorize: auth.authorize,
        once: idempotency.once,
        threadTime: deps.threadTime,
      }),
    }),
  ]
}
