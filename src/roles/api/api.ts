import type { RequestListener } from 'node:http'
import { ActionReason } from '@wheelhouse/protocol'
import type { Middleware } from 'koa'
import type { Platform } from '../../app/container.ts'
import { createApp } from '../../core/http/app.ts'
import type { Endpoint, HandlerWrapper } from '../../core/http/endpoint.ts'
import {
  createRequestAuthorization,
  createRequestLimits,
  isEmergencyStop,
  limitLogins,
} from '../../core/http/request-authorization.ts'
import { metricsRoute } from '../../core/metrics/metrics-http.ts'
import { hasScope } from '../../core/permissions/authorization.ts'
import { adminListEndpoints, auditEndpoints, overviewEndpoint } from '../../modules/admin/index.ts'
import { billingEndpoints } from '../../modules/billing/index.ts'
import { clientsEndpoints } from '../../modules/clients/index.ts'
import { datasetEndpoints, hubPages } from '../../modules/datasets/index.ts'
import { type Auth, identityEndpoints, loginRoutes } from '../../modules/identity/index.ts'
import { jobEndpoints } from '../../modules/jobs/index.ts'
import { notificationEndpoints, unsubscribePage } from '../../modules/notifications/index.ts'
import { operatorsEndpoints } from '../../modules/operators/index.ts'
import { dataGrantEndpoints, organizationEndpoints } from '../../modules/organizations/index.ts'
import { onboardingPage, paymentEndpoints } from '../../modules/payments/index.ts'
import { provisioningRoutes, scimServer } from '../../modules/provisioning/index.ts'
import { recordingsEndpoints } from '../../modules/recordings/index.ts'
import { robotsEndpoints } from '../../modules/robots/index.ts'
import { searchEndpoint } from '../../modules/search/index.ts'
import {
  ChangeControl,
  type ControlLeases,
  createDirectStop,
  type DirectStop,
  sessionsEndpoints,
} from '../../modules/sessions/index.ts'
import { supportEndpoints } from '../../modules/support/index.ts'
import { videoEndpoints } from '../../modules/video/index.ts'
import { streamEndpoints, webhookEndpoints } from '../../modules/webhooks/index.ts'
import { guidePages, hasPictures } from './docs/guide-pages.ts'
import { createFoxgloveTickets, createSessionSource, foxgloveEndpoints } from './foxglove/index.ts'
import { mcpEndpoint } from './mcp/index.ts'
import { docsPage } from './openapi/docs-page.ts'
import { withDescription } from './openapi/openapi.routes.ts'
import { connectPage } from './site/connect-page.ts'
import { consolePage, sharedReplayPage } from './site/console-page.ts'
import { downloadsPage } from './site/downloads-page.ts'
import { siteFont } from './site/font.ts'
import { healthEndpoint } from './site/health.ts'
import { homePage } from './site/home-page.ts'
import { probes, type Readiness } from './site/probes.ts'
import { createPublicStats, statsEndpoint } from './site/stats.ts'

/** Returns every route of the REST API. */
export function apiEndpoints(platform: Platform, gatewayUrl: () => string): Endpoint[] {
  const { core, identity, sessions, robots, operators, clients, billing } = platform
  const endpoints = [
    ...identityEndpoints(identity, core),
    ...organizationEndpoints(platform),
    ...dataGrantEndpoints(platform),
    ...clientsEndpoints(clients),
    ...operatorsEndpoints(operators),
    ...robotsEndpoints(robots, gatewayUrl),
    ...datasetEndpoints(platform.datasets),
    ...recordingsEndpoints(platform.recordings, core, platform.downloads),
    ...sessionsEndpoints(sessions, identity.users, core),
    ...foxgloveEndpoints({
      ...sessions,
      tickets: createFoxgloveTickets(core),
      source: createSessionSource({ ...core, ...sessions }),
      baseUrl: core.baseUrl,
    }),
    ...videoEndpoints({ ...platform.video, ...sessions, now: core.now }),
    ...notificationEndpoints(platform.notifications),
    ...streamEndpoints({ ...platform.webhooks, ...identity.auth }),
    ...webhookEndpoints({ ...platform.webhooks, now: core.now }),
    ...auditEndpoints({ ...core, ...platform }),
    ...adminListEndpoints({ ...core, users: identity.users }),
    ...jobEndpoints(platform.jobControl, core),
    ...billingEndpoints(billing),
    ...paymentEndpoints(platform),
    ...provisioningRoutes(platform.provisioning, { ...core, ...platform.organizationClients }),
    healthEndpoint(core),
    statsEndpoint(core),
    ...supportEndpoints(platform.support, core),
    overviewEndpoint(core),
    searchEndpoint(platform),
  ]
  return withDescription(endpoints, core.baseUrl)
}

/** Creates the api role as a request handler. */
export function createApi(
  platform: Platform,
  options: {
    gatewayUrl: () => string
    readiness: Readiness
    pages: readonly Middleware[]
    /** How long a stop waits for the database. Default: 0.5 s. */
    stopWaitMs?: number | undefined
  },
): RequestListener {
  const { core, identity, sessions } = platform
  const { config, baseUrl, idempotency, metrics, rateLimits } = core
  const { auth } = identity
  const endpoints = apiEndpoints(platform, options.gatewayUrl)
  const requestLimits = createRequestLimits({
    limits: rateLimits,
    isParticipant: sessions.queries.isParticipant,
    threadTime: core.threadTime,
  })
  const directStop = createDirectStop(core.bus, options.stopWaitMs)
  const authenticate = createRequestAuthorization({ ...auth, limits: rateLimits, requestLimits })
  const app = createApp({
    log: core.log,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    https: baseUrl.startsWith('https:'),
    endpoints,
    authenticate,
    interceptor: idempotency.intercept,
    threadTime: core.threadTime,
    rememberedCaller: auth.rememberedCaller,
    wrap: haltsWithoutDatabase(auth, directStop, sessions.controlLeases),
    observe: metrics.request,
    diskIsFull: () => core.diskWatch.full,
    validateResponses: config.validateOutput,
    before: [
      probes(options.readiness),
      metricsRoute(core.metricsPage),
      siteFont(),
      homePage({
        baseUrl,
        readiness: options.readiness,
        stats: createPublicStats(core),
        accounts: identity.builtIn?.accounts ?? [],
        picture: hasPictures(),
      }),
      guidePages(),
      consolePage(core),
      sharedReplayPage(),
      downloadsPage({ baseUrl }),
      connectPage({ baseUrl }),
      unsubscribePage({ ...platform.notifications, ...core }),
      docsPage(),
      hubPages({ ...platform.datasets, ...platform, ...core, authenticate }),
      ...options.pages,
      ...mcpEndpoint({ ...core, ...identity, requestLimits, directStop }, endpoints),
      scimServer(platform.provisioning, core),
      limitLogins(rateLimits, core.report),
      ...(platform.payments ? [onboardingPage({ auth, payments: platform.payments })] : []),
      loginRoutes({
        ...core,
        ...identity,
        corsOrigins: config.corsOrigins,
        organizations: {
          signIns: platform.provisioning.signIns,
          settings: platform.provisioning.signInSettings,
          clients: platform.organizationClients,
        },
      }),
      ...(identity.builtIn ? [identity.builtIn.middleware] : []),
    ],
  })
  return app.callback()
}

/**
 * Lets a stop of a session reach the robot although the database does not answer, and a change of who controls it before the database
 * has found the caller.
 */
const haltsWithoutDatabase =
  (auth: Auth, directStop: DirectStop, controlLeases: ControlLeases): HandlerWrapper =>
  ({ method, path }, handle) => {
    if (method === 'post' && path === '/api/sessions/{id}/control')
      return async (http) => {
        const { data: command } = ChangeControl.safeParse(http.request.body)
        const caller = command && auth.rememberedCaller(http)
        const mayDrive = caller && hasScope(caller.credential, ['drive'])
        const release = mayDrive && controlLeases.haltAhead(caller, String(http.params.id), command)
        try {
          await handle(http)
        } finally {
          if (release) release() // does nothing once control has changed hands
        }
      }
    if (method !== 'patch' || path !== '/api/sessions/{id}') return handle
    return async (http) => {
      const { body } = http.request
      if (!isEmergencyStop(body)) return await handle(http)
      const reason = ActionReason.optional().safeParse(Object(body).reason)
      const stop = {
        caller: reason.success ? auth.rememberedCaller(http) : undefined,
        sessionId: String(http.params.id),
        reason: reason.data,
      }
      await directStop(stop, handle(http), () => http.response.get('Idempotent-Replayed') !== '')
    }
  }
