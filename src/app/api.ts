import type { RequestListener } from 'node:http'
import type { Middleware } from 'koa'
import { createApp } from '../core/http/app.ts'
import type { Endpoint } from '../core/http/endpoint.ts'
import { createRequestAuthorization, limitLogins } from '../core/http/request-authorization.ts'
import { metricsRoute } from '../core/metrics/metrics-http.ts'
import { auditEndpoints } from '../modules/admin/audit.routes.ts'
import { inboxEndpoints } from '../modules/admin/inbox.routes.ts'
import { overviewEndpoint } from '../modules/admin/overview.routes.ts'
import { billingEndpoints } from '../modules/billing/billing.routes.ts'
import { clientProfileEndpoints } from '../modules/clients/client-profile.routes.ts'
import { clientStatsEndpoints } from '../modules/clients/stats.routes.ts'
import { datasetEndpoints } from '../modules/datasets/dataset.routes.ts'
import { avatarEndpoints } from '../modules/identity/avatars/avatar.routes.ts'
import { cliLoginEndpoint } from '../modules/identity/oidc/cli-login.routes.ts'
import { loginRoutes } from '../modules/identity/oidc/login.routes.ts'
import { accountEndpoints } from '../modules/identity/profile.routes.ts'
import { notificationEndpoints } from '../modules/notifications/notification.routes.ts'
import { unsubscribePage } from '../modules/notifications/unsubscribe-page.ts'
import { certificationEndpoints } from '../modules/operators/certification.routes.ts'
import { operatorProfileEndpoints } from '../modules/operators/operator-profile.routes.ts'
import { scheduleEndpoints } from '../modules/operators/schedule.routes.ts'
import { operatorStatsEndpoints } from '../modules/operators/stats.routes.ts'
import { onboardingPage } from '../modules/payments/onboarding-page.ts'
import { paymentEndpoints } from '../modules/payments/payment.routes.ts'
import { robotEndpoints } from '../modules/robots/robot.routes.ts'
import { createRobotViews } from '../modules/robots/robot.view.ts'
import { robotLogEndpoint } from '../modules/robots/robot-log.routes.ts'
import { robotModelEndpoints } from '../modules/robots/robot-model.routes.ts'
import { ticketEndpoints } from '../modules/sessions/control/ticket.routes.ts'
import { exportEndpoints } from '../modules/sessions/export.routes.ts'
import { extensionEndpoints } from '../modules/sessions/extension.routes.ts'
import { ratingEndpoints } from '../modules/sessions/rating.routes.ts'
import { sessionEndpoints } from '../modules/sessions/session.routes.ts'
import { contactEndpoints } from '../modules/support/contact.routes.ts'
import { robotRequestEndpoints } from '../modules/support/robot-request.routes.ts'
import { streamEndpoints } from '../modules/webhooks/event-stream.routes.ts'
import { webhookEndpoints } from '../modules/webhooks/webhook.routes.ts'
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
