import { randomUUID } from 'node:crypto'
import { demoAccounts } from '../../tools/demo/accounts.ts'
import { createTransactor } from '../core/events/transactor.ts'
import { createIdempotency } from '../core/http/idempotency.ts'
import { createRateLimits } from '../core/http/rate-limits.ts'
import { createRequestLimits } from '../core/http/request-authorization.ts'
import type { Log } from '../core/log.ts'
import { createMailer } from '../core/mail/mailer.ts'
import { measureDatabase, measureDisk } from '../core/metrics/database-metrics.ts'
import { createMetrics } from '../core/metrics/metrics.ts'
import { createMetricsPage } from '../core/metrics/metrics-http.ts'
import { createGuard } from '../core/process/guard.ts'
import { createSecrets, loadOrCreateRootKey } from '../core/secrets.ts'
import { createEarningsRelease, createInvoices, createPlans, createSettle } from '../modules/billing/index.ts'
import { createClientProfiles, createClientStats } from '../modules/clients/index.ts'
import { createDatasets, createEpisodeStore } from '../modules/datasets/index.ts'
import {
  createApiKeys,
  createAuth,
  createAvatars,
  createIdentity,
  createRoles,
  createUserPresence,
  createUsers,
} from '../modules/identity/index.ts'
import {
  createDigests,
  createNotificationMails,
  createNotifications,
  createUnsubscribing,
  type Unsubscribing,
  writeNotifications,
} from '../modules/notifications/index.ts'
import {
  type Certifications,
  createAvailability,
  createCertifications,
  createOperatorProfiles,
  createOperatorStats,
  createSchedules,
} from '../modules/operators/index.ts'
import { createPayments } from '../modules/payments/index.ts'
import {
  createBatteryJob,
  createRobotLogJobs,
  createRobotLogStore,
  createRobotLogs,
  createRobots,
  createRobotTokens,
  createRobotWatch,
} from '../modules/robots/index.ts'
import {
  createControlPersistence,
  createExtensions,
  createMessages,
  createRatings,
  createSessionExports,
  createSessionLifecycle,
  createSessionPresence,
  createSessionQueries,
  createSessionStarts,
  createSessionTickets,
  createTicketStore,
  createTickets,
  type SessionLifecycle,
} from '../modules/sessions/index.ts'
import { createContact, createContactDelivery, createContactQueue } from '../modules/support/index.ts'
import { createWebhookServices } from '../modules/webhooks/index.ts'
import type { Config } from './config.ts'
import { openInfrastructure } from './infrastructure.ts'

export interface RuntimeContext {
  readonly log: Log
  readonly now: () => Date
  /** Public origin, once the port is known. */
  readonly baseUrl: string
  /** Other machines can use the built-in identity provider, as ALLOW_INSECURE_DEV allows. */
  readonly insecure?: boolean
  /** Called when the platform cannot go on, with a message that says why. */
  readonly fail: (cause: Error) => void
  /** Called before every guarded handler, for tests, which throw from it. */
  readonly beforeHandler?: ((handler: string) => void) | undefined
}

/** The composition root: everything is built here once, in reading order, and closed in reverse. */
export async function createPlatform(config: Config, context: RuntimeContext) {
  const { log, fail } = context
  const closers = createClosers(log)
  const report = (cause: unknown) => log.error({ err: cause }, 'background work failed')
  try {
    const infrastructure = await openInfrastructure(config, { log, report, fail, onClose: closers.add })
    const base = createBase({ ...context, ...infrastructure, config, report })
    const accounts = await createAccounts(base)
    closers.add(() => accounts.apiKeys.flush())
    const sessions = createSessions(base)
    const operators = createOperators(base)
    const billing = createBilling(base)
    return {
      ...base,
      ...accounts,
      ...sessions,
      ...operators,
      ...createRobotServices(base, sessions.lifecycle, operators.certifications),
      ...billing,
      payments: createPayments({ ...base, ...accounts, ...operators, ...billing, settings: config.payments }),
      ...createWebhookServices({ ...base, allowedNetworks: config.webhookNetworks }),
      ...createSupport({ ...base, ...accounts }),
      driving: createControlPersistence({ ...base, queries: sessions.sessionQueries, users: accounts.users }),
      close: closers.closeAll,
    }
  } catch (cause) {
    await closers.closeAll()
    throw cause
  }
}
export type Platform = Awaited<ReturnType<typeof createPlatform>>

/** Closes what was opened, newest first; one failure does not keep the rest open. */
function createClosers(log: Log) {
  const closers: (() => Promise<unknown>)[] = []
  return {
    add: (close: () => Promise<unknown>) => closers.push(close),
    async closeAll() {
      for (const close of closers.reverse()) {
        await close().catch((cause) => log.error({ err: cause }, 'not closed cleanly'))
      }
    },
  }
}

type Infrastructure = Awaited<ReturnType<typeof openInfrastructure>>
type Base = ReturnType<typeof createBase>

/** What all of the platform is made of: metrics, secrets, transactions, and what guards the requests. */
function createBase(
  deps: RuntimeContext & Infrastructure & { config: Config; report: (cause: unknown) => void },
) {
  const { config, limitsRedis, log } = deps
  const metrics = createMetrics()
  const guardOf = (role: string) =>
    createGuard({
      role,
      log,
      before: deps.beforeHandler,
      count: (handler) => metrics.handlerFailed(role, handler),
    })
  const guards = { gateway: guardOf('gateway'), hub: guardOf('hub'), process: guardOf('process') }
  measureDatabase(metrics, deps)
  measureDisk(metrics, deps.diskWatch, config.databaseUrl ? undefined : config.dataDir)
  const metricsPage = createMetricsPage({
    metrics,
    token: config.metricsToken,
    production: config.production,
  })
  const secrets = createSecrets(config.secretKey ?? loadOrCreateRootKey(config.dataDir))
  const rateLimits = createRateLimits(config.rateLimits, {
    redis: limitsRedis,
    countRejected: metrics.rateLimited,
  })
  const idempotency = createIdempotency({ ...deps, secrets, count: metrics.idempotency })
  const transact = createTransactor({
    ...deps,
    forkEntityManager: () => deps.orm.em.fork(),
    writeNotifications,
    validateEvents: config.validateOutput,
    beforeCommit: idempotency.markEffect,
  })
  return {
    ...deps,
    processId: randomUUID(),
    metrics,
    metricsPage,
    guards,
    secrets,
    rateLimits,
    idempotency,
    transact,
  }
}

/** Who people are and how they prove it. */
async function createAccounts(base: Base) {
  const { config, baseUrl } = base
  const accounts = config.demo ? demoAccounts : []
  const identity = await createIdentity({ ...base, accounts })
  const admins = accounts.filter((account) => account.admin).map((account) => account.email)
  const users = createUsers({ ...base, adminEmails: [...config.adminEmails, ...admins] })
  const apiKeys = createApiKeys(base)
  const { verifyToken } = identity
  const auth = createAuth({ users, apiKeys, verifyToken, baseUrl, corsOrigins: config.corsOrigins })
  return {
    ...identity,
    users,
    apiKeys,
    auth,
    roles: createRoles(base),
    userPresence: createUserPresence(base),
    avatars: createAvatars(base),
    notifications: createNotifications(base),
    unsubscribing: createUnsubscribing(base),
  }
}

/** Sessions and what happens in them. */
function createSessions(base: Base) {
  const sessionQueries = createSessionQueries(base)
  const queries = sessionQueries
  const starts = createSessionStarts(base)
  const tickets = createTickets(base)
  const ticketStore = createTicketStore(base)
  return {
    sessionQueries,
    starts,
    tickets,
    ticketStore,
    lifecycle: createSessionLifecycle({ ...base, queries, starts, settle: createSettle(base.config) }),
    messages: createMessages({ ...base, queries }),
    extensions: createExtensions({ ...base, queries }),
    ratings: createRatings({ ...base, queries }),
    sessionExports: createSessionExports(base),
    sessionTickets: createSessionTickets({ ...base, queries, tickets, ticketStore }),
    sessionPresence: createSessionPresence(base),
    requestLimits: createRequestLimits({ limits: base.rateLimits, isParticipant: queries.isParticipant }),
  }
}

/** What operators tell of themselves, and what they may drive. */
const createOperators = (base: Base) => ({
  operatorProfiles: createOperatorProfiles(base),
  operatorStats: createOperatorStats(base),
  schedules: createSchedules(base),
  availability: createAvailability(base),
  certifications: createCertifications(base),
})

/** Robots and what they bring home. */
const createRobotServices = (base: Base, lifecycle: SessionLifecycle, certifications: Certifications) => ({
  robots: createRobots({
    ...base,
    cancelScheduled: lifecycle.cancelScheduled,
    requireCertification: base.config.robotsRequireCertification,
  }),
  robotTokens: createRobotTokens(base.secrets),
  robotWatch: createRobotWatch({ ...base, certifications }),
  robotLogs: createRobotLogs(base),
  robotLogStore: createRobotLogStore(base),
  robotLogJobs: createRobotLogJobs({ ...base, keptDays: base.config.robotLogDays }),
  batteryJob: createBatteryJob(base),
  datasets: createDatasets(base),
  episodeStore: createEpisodeStore(base),
})

/** Clients and what they pay. */
const createBilling = (base: Base) => ({
  clientProfiles: createClientProfiles(base),
  clientStats: createClientStats(base),
  plans: createPlans(base),
  invoices: createInvoices(base),
  earningsRelease: createEarningsRelease(base),
})

/** What the public writes to us, and what goes out by mail. Without a mail server it is stored and waits. */
function createSupport(base: Base & { unsubscribing: Unsubscribing }) {
  const { mail } = base.config
  const contactQueue = createContactQueue(base)
  if (!mail) return { contact: createContact({ ...base, contactQueue, delivery: undefined }) }
  const mailer = createMailer(mail)
  const contactDelivery = createContactDelivery({ ...base, contactQueue, mailer, contactTo: mail.contactTo })
  return {
    contact: createContact({ ...base, contactQueue, delivery: contactDelivery }),
    contactDelivery,
    digests: createDigests(base),
    notificationMails: createNotificationMails({ ...base, mailer }),
  }
}
