import type { Middleware } from 'koa'
import type { Platform } from '../../app/container.ts'
import type { Endpoint } from '../../core/http/endpoint.ts'
import { packageVersion } from '../openapi/document.ts'
import { docsPages } from './docs.ts'
import { mcpRoutes } from './mcp.routes.ts'
import { protectedResources } from './mcp-metadata.ts'
import { createRouteInvoker, findRoutes } from './route-invoker.ts'
import { createToolbox } from './toolbox.ts'
import { tools } from './tools/index.ts'

/** The MCP server over the routes of the REST API, and where clients read how to sign in to it. */
export function mcpEndpoint(platform: Platform, endpoints: readonly Endpoint[]): Middleware[] {
  const { config, baseUrl, auth, idempotency, oidcProvider, rateLimits, metrics } = platform
  const find = findRoutes(endpoints)
  return [
    protectedResources({ baseUrl, issuer: oidcProvider.issuer }),
    mcpRoutes({
      auth,
      baseUrl,
      corsOrigins: config.corsOrigins,
      limits: rateLimits,
      requestLimits: platform.requestLimits,
      log: platform.log,
      report: platform.report,
      countToolCall: metrics.toolCalled,
      version: packageVersion(),
      docs: docsPages(),
      toolbox: createToolbox({ specs: tools, find, baseUrl }),
      routes: createRouteInvoker({ find, authorize: auth.authorize, once: idempotency.once }),
    }),
  ]
}
