import { randomUUID } from 'node:crypto'
import { createApiKeys } from './accounts/api-key.service.ts'
import { createAuth } from './accounts/auth.ts'
import { createUsers } from './accounts/user.service.ts'
import { createUserPresence } from './accounts/user-presence.ts'
import { createEarningsRelease } from './billing/earnings.service.ts'
import { createInvoices } from './billing/invoice.service.ts'
import { createPlans } from './billing/plan.service.ts'
import { createSettle } from './billing/settle.ts'
import { createClientProfiles } from './clients/client-profile.service.ts'
import { createClientStats } from './clients/stats.service.ts'
import type { Config } from './config.ts'
import { createDriving } from './control/driving.service.ts'
import { createSessionTickets } from './control/ticket.service.ts'
import { createTicketStore } from './control/ticket.store.ts'
import { createTickets } from './control/ticket.ts'
import { createDatasets } from './datasets/dataset.service.ts'
import { createEpisodeStore } from './datasets/episode.store.ts'
import { demoAccounts } from './demo/accounts.ts'
import { createTransactor } from './events/transactor.ts'
import { createGuard } from './guard.ts'
import { createRequestLimits } from './http/admission.ts'
import { createIdempotency } from './http/idempotency.ts'
import { createRateLimits } from './http/rate-limits.ts'
import { createIdentity } from './idp/identity.ts'
import { openInfrastructure } from './infrastructure.ts'
import type { Log } from './log.ts'
import { createMailer } from './mail/mailer.ts'
import { createAvatars } from './media/avatar.service.ts'
import { measureDatabase, measureDisk } from './metrics/database.metrics.ts'
import { createMetricsPage } from './metrics/metrics.http.ts'
import { createMetrics } from './metrics/metrics.ts'
import { createDigests } from './notifications/digest.service.ts'
import { createNotificationMails } from './notifications/mail.service.ts'
import { createNotifications } from './notifications/notification.service.ts'
import { createUnsubscribing, type Unsubscribing } from './notifications/unsubscribe.ts'
import { createAvailability } from './operators/availability.service.ts'
import { type Certifications, createCertifications } from './operators/certification.service.ts'
import { createOperatorProfiles } from './operators/operator-profile.service.ts'
import { createSchedules } from './operators/schedule.service.ts'
import { createOperatorStats } from './operators/stats.service.ts'
import { createOutbound } from './outbound/outbound.ts'
import { createPayments } from './payments/payments.ts'
import { createBatteryJob } from './robots/battery.worker.ts'
import { createRobots } from './robots/robot.service.ts'
import { createRobotTokens } from './robots/robot.token.ts'
import { createRobotWatch } from './robots/robot.watch.ts'
import { createRobotLogs } from './robots/robot-log.service.ts'
import { createRobotLogStore } from './robots/robot-log.store.ts'
import { createRobotLogJobs } from './robots/robot-log.worker.ts'
import { createSecrets, loadOrCreateRootKey } from './secrets.ts'
import { createSessionExports } from './sessions/export.service.ts'
import { createExtensions } from './sessions/extension.service.ts'
import { createMessages } from './sessions/message.service.ts'
import { createRatings } from './sessions/rating.service.ts'
import { createSessionLifecycle, type SessionLifecycle } from './sessions/session.lifecycle.ts'
import { createSessionPresence } from './sessions/session.presence.ts'
import { createSessionQueries } from './sessions/session.queries.ts'
import { createSessionStarts } from './sessions/session.start.ts'
import { createContactClaims } from './support/contact.claims.ts'
import { createContactDelivery } from './support/contact.delivery.ts'
import { createContact } from './support/contact.service.ts'

export interface Surroundings {
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
export async function createPlatform(config: Config, surroundings: Surroundings) {
  const { log, fail } = surroundings
  const closers = createClosers(log)
  const report = (cause: unknown) => log.error({ err: cause }, 'background work failed')
  try {
    const infrastructure = await openInfrastructure(config, { log, report, fail, onClose: closers.add })
    const base = createBase({ ...surroundings, ...infrastructure, config, report })
    const accounts = await createAccounts(base)
    closers.add(() => accounts.apiKeys.settled())
    const sessions = createSessions(base)
    const operators = createOperators(base)
    const billing = createBilling(base)
    return {
      ...base,
      ...accounts,
      ...sessions,
      ...operators,
      ...createFleet(base, sessions.lifecycle, operators.certifications),
      ...billing,
      payments: createPayments({ ...base, ...accounts, ...operators, ...billing, settings: config.payments }),
      ...createOutbound({ ...base, allowedNetworks: config.webhookNetworks }),
      ...createSupport({ ...base, ...accounts }),
      driving: createDriving({ ...base, queries: sessions.sessionQueries, users: accounts.users }),
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
  parts: Surroundings & Infrastructure & { config: Config; report: (cause: unknown) => void },
) {
  const { config, limitsRedis, log } = parts
  const metrics = createMetrics()
  const guardOf = (role: string) =>
    createGuard({
      ...{ role, log, before: parts.beforeHandler },
      count: (handler) => metrics.handlerFailed(role, handler),
    })
  const guards = { gateway: guardOf('gateway'), hub: guardOf('hub'), process: guardOf('process') }
  measureDatabase(metrics, parts)
  measureDisk(metrics, parts.diskWatch, config.databaseUrl ? undefined : config.dataDir)
  const metricsPage = createMetricsPage({
    metrics,
    token: config.metricsToken,
    production: config.production,
  })
  const secrets = createSecrets(config.secretKey ?? loadOrCreateRootKey(config.dataDir))
  const rateLimits = createRateLimits(config.rateLimits, { redis: limitsRedis, refused: metrics.rateLimited })
  const idempotency = createIdempotency({ ...parts, secrets, count: metrics.idempotency })
  const transact = createTransactor({
    ...parts,
    checkFacts: config.checkAnswers,
    beforeCommit: idempotency.mark,
  })
  return {
    ...{ ...parts, processId: randomUUID() },
    ...{ metrics, metricsPage, guards, secrets, rateLimits, idempotency, transact },
  }
}

/** Who people are and how they prove it. */
async function createAccounts(base: Base) {
  const { config, baseUrl } = base
  const accounts = config.demo ? demoAccounts : []
  const identity = await createIdentity({ ...base, accounts })
  const admins = accounts.filter((one) => one.admin).map((one) => one.email)
  const users = createUsers({ ...base, adminEmails: [...config.adminEmails, ...admins] })
  const apiKeys = createApiKeys(base)
  const { verifyToken } = identity
  const auth = createAuth({ users, apiKeys, verifyToken, baseUrl, corsOrigins: config.corsOrigins })
  return {
    ...{ ...identity, users, apiKeys, auth },
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
    ...{ sessionQueries, starts, tickets, ticketStore },
    lifecycle: createSessionLifecycle({ ...base, queries, starts, settle: createSettle(base.config) }),
    messages: createMessages({ ...base, queries }),
    extensions: createExtensions({ ...base, queries }),
    ratings: createRatings({ ...base, queries }),
    sessionExports: createSessionExports(base),
    sessionTickets: createSessionTickets({ ...base, queries, tickets, ticketStore }),
    sessionPresence: createSessionPresence(base),
    requestLimits: createRequestLimits({ limits: base.rateLimits, takesPart: queries.takesPart }),
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
const createFleet = (base: Base, lifecycle: SessionLifecycle, certifications: Certifications) => ({
  robots: createRobots({ ...base, cancelScheduled: lifecycle.cancelScheduled }),
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
  const claims = createContactClaims(base)
  if (!mail) return { contact: createContact({ ...base, claims, delivery: undefined }) }
  const mailer = createMailer(mail)
  const contactDelivery = createContactDelivery({ ...base, claims, mailer, contactTo: mail.contactTo })
  return {
    contact: createContact({ ...base, claims, delivery: contactDelivery }),
    contactDelivery,
    digests: createDigests(base),
    notificationMails: createNotificationMails({ ...base, mailer }),
  }
}
