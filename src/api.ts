import type { RequestListener } from 'node:http'
import type { Middleware } from 'koa'
import { accountEndpoints } from './accounts/profile.routes.ts'
import { auditEndpoints } from './admin/audit.routes.ts'
import { inboxEndpoints } from './admin/inbox.routes.ts'
import { overviewEndpoint } from './admin/overview.routes.ts'
import { billingEndpoints } from './billing/billing.routes.ts'
import { clientProfileEndpoints } from './clients/client-profile.routes.ts'
import { clientStatsEndpoints } from './clients/stats.routes.ts'
import { ticketEndpoints } from './control/ticket.routes.ts'
import { datasetEndpoints } from './datasets/dataset.routes.ts'
import type { Platform } from './deps.ts'
import { createAdmission, limitLogins } from './http/admission.ts'
import { createApp } from './http/app.ts'
import type { Endpoint } from './http/endpoint.ts'
import { cliLoginEndpoint } from './idp/cli-login.routes.ts'
import { loginRoutes } from './idp/login.routes.ts'
import { mcpEndpoint } from './mcp/index.ts'
import { avatarEndpoints } from './media/avatar.routes.ts'
import { metricsRoute } from './metrics/metrics.http.ts'
import { robotModelEndpoints } from './models/robot-model.routes.ts'
import { notificationEndpoints } from './notifications/notification.routes.ts'
import { unsubscribePage } from './notifications/unsubscribe.page.ts'
import { docsPage } from './openapi/docs.page.ts'
import { withDescription } from './openapi/openapi.routes.ts'
import { certificationEndpoints } from './operators/certification.routes.ts'
import { operatorProfileEndpoints } from './operators/operator-profile.routes.ts'
import { scheduleEndpoints } from './operators/schedule.routes.ts'
import { operatorStatsEndpoints } from './operators/stats.routes.ts'
import { streamEndpoints } from './outbound/stream.routes.ts'
import { webhookEndpoints } from './outbound/webhook.routes.ts'
import { onboardingPage } from './payments/onboarding.page.ts'
import { paymentEndpoints } from './payments/payment.routes.ts'
import { robotEndpoints } from './robots/robot.routes.ts'
import { createRobotViews } from './robots/robot.view.ts'
import { robotLogEndpoint } from './robots/robot-log.routes.ts'
import { exportEndpoints } from './sessions/export.routes.ts'
import { extensionEndpoints } from './sessions/extension.routes.ts'
import { ratingEndpoints } from './sessions/rating.routes.ts'
import { sessionEndpoints } from './sessions/session.routes.ts'
import { consolePage } from './site/console.page.ts'
import { downloadsPage } from './site/downloads.page.ts'
import { healthEndpoint } from './site/health.ts'
import { homePage } from './site/home.page.ts'
import { probes, type Readiness } from './site/probes.ts'
import { statsEndpoint } from './site/stats.ts'
import { contactEndpoints } from './support/contact.routes.ts'
import { robotRequestEndpoints } from './support/robot-request.routes.ts'

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
  parts: { gatewayUrl: () => string; readiness: Readiness; pages: readonly Middleware[] },
): RequestListener {
  const { config, log, baseUrl, auth } = platform
  const endpoints = apiEndpoints(platform, parts.gatewayUrl)
  const app = createApp({
    log,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    https: baseUrl.startsWith('https:'),
    endpoints,
    authenticate: createAdmission({
      ...auth,
      limits: platform.rateLimits,
      requestLimits: platform.requestLimits,
    }),
    around: platform.idempotency.around,
    observe: platform.metrics.request,
    diskIsFull: () => platform.diskWatch.full,
    checkAnswers: config.checkAnswers,
    before: [
      probes(parts.readiness),
      metricsRoute(platform.metricsPage),
      homePage(),
      consolePage(),
      downloadsPage({ baseUrl }),
      unsubscribePage(platform),
      docsPage(),
      ...parts.pages,
      ...mcpEndpoint(platform, endpoints),
      limitLogins(platform.rateLimits, platform.report),
      ...(platform.payments ? [onboardingPage({ auth, payments: platform.payments })] : []),
      loginRoutes({ ...platform, corsOrigins: config.corsOrigins }),
      ...(platform.builtIn ? [platform.builtIn.middleware] : []),
    ],
  })
  return app.callback()
}
