import type { RequestListener } from 'node:http'
import { accountEndpoints } from './accounts/profile.routes.ts'
import { auditEndpoints } from './admin/audit.routes.ts'
import type { Platform } from './deps.ts'
import { createApp } from './http/app.ts'
import type { Endpoint } from './http/endpoint.ts'
import { loginRoutes } from './idp/login.routes.ts'
import { notificationEndpoints } from './notifications/notification.routes.ts'
import { docsPage } from './openapi/docs.page.ts'
import { withDescription } from './openapi/openapi.routes.ts'
import { certificationEndpoints } from './operators/certification.routes.ts'
import { robotEndpoints } from './robots/robot.routes.ts'
import { createRobotViews } from './robots/robot.view.ts'
import { sessionEndpoints } from './sessions/session.routes.ts'
import { healthEndpoint, probes } from './site/health.ts'
import { homePage } from './site/home.page.ts'

/** Every route of the REST API. */
export function apiEndpoints(platform: Platform, gatewayUrl: () => string): Endpoint[] {
  const { db, now, users, robots, robotTokens, certifications, notifications } = platform
  const endpoints = [
    ...accountEndpoints(platform),
    ...robotEndpoints({ robots, views: createRobotViews(gatewayUrl), tokens: robotTokens }),
    ...certificationEndpoints({ certifications }),
    ...sessionEndpoints({
      queries: platform.sessionQueries,
      starts: platform.starts,
      lifecycle: platform.lifecycle,
      messages: platform.messages,
      isOperator: users.isOperator,
      now,
    }),
    ...notificationEndpoints({ notifications }),
    ...auditEndpoints({ db }),
    healthEndpoint({ db, now }),
  ]
  return withDescription(endpoints, platform.baseUrl)
}

/** The api role as a request handler. */
export function createApi(
  platform: Platform,
  parts: { gatewayUrl: () => string; isReady: () => boolean },
): RequestListener {
  const { config, log, baseUrl, auth } = platform
  const app = createApp({
    log,
    corsOrigins: config.corsOrigins,
    trustProxy: config.trustProxy,
    https: baseUrl.startsWith('https:'),
    endpoints: apiEndpoints(platform, parts.gatewayUrl),
    authenticate: auth.authenticate,
    checkAnswers: config.checkAnswers,
    before: [
      probes(parts.isReady),
      homePage(platform),
      docsPage(),
      loginRoutes({ ...platform, corsOrigins: config.corsOrigins }),
      ...(platform.builtIn ? [platform.builtIn.middleware] : []),
    ],
  })
  return app.callback()
}
