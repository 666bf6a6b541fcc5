import type { RequestListener } from 'node:http'
import type { Middleware } from 'koa'
import { createApp } from '../core/http/app.ts'
import type { Endpoint } from '../core/http/endpoint.ts'
import { createRequestAuthorization, limitLogins } from '../core/http/request-authorization.ts'
import { metricsRoute } from '../core/metrics/metrics-http.ts'
import { auditEndpoints, overviewEndpoint } from '../modules/admin/index.ts'
import { billingEndpoints } from '../modules/billing/index.ts'
import { clientProfileEndpoints, clientStatsEndpoints } from '../modules/clients/index.ts'
import { datasetEndpoints } from '../modules/datasets/index.ts'
import {
  accountEndpoints,
  avatarEndpoints,
  cliLoginEndpoint,
  loginRoutes,
} from '../modules/identity/index.ts'
import { notificationEndpoints, unsubscribePage } from '../modules/notifications/index.ts'
import {
  certificationEndpoints,
  operatorProfileEndpoints,
  operatorStatsEndpoints,
  scheduleEndpoints,
} from '../modules/operators/index.ts'
import { onboardingPage, paymentEndpoints } from '../modules/payments/index.ts'
import {
  createRobotViews,
  robotEndpoints,
  robotLogEndpoint,
  robotModelEndpoints,
} from '../modules/robots/index.ts'
import {
  exportEndpoints,
  extensionEndpoints,
  ratingEndpoints,
  sessionEndpoints,
  ticketEndpoints,
} from '../modules/sessions/index.ts'
import { contactEndpoints, inboxEndpoints, robotRequestEndpoints } from '../modules/support/index.ts'
import { streamEndpoints, webhookEndpoints } from '../modules/webhooks/index.ts'
import { mcpEndpoint } from '../web/mcp/index.ts'
import { docsPage } from '../web/openapi/docs-page.ts'
import { withDescription } from '../web/openapi/openapi.routes.ts'
import { consolePage } from '../web/site/console-page.ts'
import { downloadsPage } from '../web/site/downloads-page.ts'
import { healthEndpoint } from '../web/site/health.ts'
import { homePage } from '../web/site/home-page.ts'
import { probes, type Readiness } from '../web/site/probes.ts'
import { statsEndpoint } from '../web/site/stats.ts'
import type { Platform } from './container.ts'

/** Every route of the REST API. */
export function apiEndpoints(platform: Platform, gatewayUrl: () => string): Endpoint[] {
  const { db, now, users, robots, robotTokens, certifications, notifications } = platform
  const endpoints = [
    ...accountEndpoints(platform),
    cliLoginEndpoint(platform),
    ...avatarEndpoints(platform),
    ...clientProfileEndpoints(platform),
    ...operatorProfileEndpoints(platform),
    ...scheduleEndpoints(platform),
    ...robotEndpoints({ robots, views: createRobotViews(gatewayUrl), tokens: robotTokens }),
    robotLogEndpoint(platform),
    ...datasetEndpoints(platform),
    ...certificationEndpoints({ certifications }),
    ...sessionEndpoints({
      queries: platform.sessionQueries,
      starts: platform.starts,
      lifecycle: platform.lifecycle,
      messages: platform.messages,
      isOperator: users.isOperator,
      now,
    }),
    ...extensionEndpoints(platform),
    ...ratingEndpoints(platform),
    ...ticketEndpoints(platform),
    ...exportEndpoints({ ...platform, exports: platform.sessionExports }),
    ...notificationEndpoints({ notifications }),
    ...streamEndpoints(platform),
    ...webhookEndpoints(platform),
    ...auditEndpoints({ db }),
    ...billingEndpoints(platform),
    ...paymentEndpoints(platform),
    ...clientStatsEndpoints(platform),
    ...operatorStatsEndpoints(platform),
    healthEndpoint({ db, now }),
    statsEndpoint({ db, now }),
    ...robotModelEndpoints({ db }),
    ...contactEndpoints(platform),
    ...robotRequestEndpoints(platform),
    ...inboxEndpoints({ db }),
    overviewEndpoint({ db }),
  ]
  return withDescription(endpoints, platform.baseUrl)
}

/** The api role as a request handler. */
export function createApi(
  platform: Platform,
  options: { gatewayUrl: () => string; readiness: Readiness; pages: readonly Middleware[] },
): RequestListener {
  const { config, log, baseUrl, auth } = platform
  const endpoints = apiEndpoints(platform, options.gatewayUrl)
  const app = createApp({
    log,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    https: baseUrl.startsWith('https:'),
    endpoints,
    authenticate: createRequestAuthorization({
      ...auth,
      limits: platform.rateLimits,
      requestLimits: platform.requestLimits,
    }),
    interceptor: platform.idempotency.around,
    observe: platform.metrics.request,
    diskIsFull: () => platform.diskWatch.full,
    validateResponses: config.validateOutput,
    before: [
      probes(options.readiness),
      metricsRoute(platform.metricsPage),
      homePage(),
      consolePage(),
      downloadsPage({ baseUrl }),
      unsubscribePage(platform),
      docsPage(),
      ...options.pages,
      ...mcpEndpoint(platform, endpoints),
      limitLogins(platform.rateLimits, platform.report),
      ...(platform.payments ? [onboardingPage({ auth, payments: platform.payments })] : []),
      loginRoutes({ ...platform, corsOrigins: config.corsOrigins }),
      ...(platform.builtIn ? [platform.builtIn.middleware] : []),
    ],
  })
  return app.callback()
}
