import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createApiKeys } from './accounts/api-key.service.ts'
import { createAuth } from './accounts/auth.ts'
import { createDiscovery } from './accounts/discovery.ts'
import { createTokenVerifier, remoteJwks } from './accounts/tokens.ts'
import { createUsers } from './accounts/user.service.ts'
import { createUserPresence } from './accounts/user-presence.ts'
import { createUserinfo } from './accounts/userinfo.ts'
import { createInvoices } from './billing/invoice.service.ts'
import { createPlans } from './billing/plan.service.ts'
import { createClientProfiles } from './clients/client-profile.service.ts'
import { createClientStats } from './clients/stats.service.ts'
import type { Config } from './config.ts'
import { createSessionTickets } from './control/ticket.service.ts'
import { createTickets } from './control/ticket.ts'
import { createDatasets } from './datasets/dataset.service.ts'
import { createEpisodeStore } from './datasets/episode.store.ts'
import { startEmbeddedPostgres } from './db/embedded.ts'
import { applyMigrations } from './db/migrations.ts'
import { closeOrm, connectOrm, queries } from './db/orm.ts'
import { demoAccounts } from './demo/accounts.ts'
import { createMemoryBus } from './events/bus.ts'
import { createRedisBus } from './events/redis-bus.ts'
import { createTransactor } from './events/transactor.ts'
import { createIdempotency } from './http/idempotency.ts'
import { createRateLimits } from './http/rate-limits.ts'
import { DASHBOARD_CLIENT_ID, DEV_AUDIENCE, DEV_ISSUER_NAME } from './idp/provider.settings.ts'
import { createIdentityProvider } from './idp/provider.ts'
import type { Log } from './log.ts'
import { createMailer } from './mail/mailer.ts'
import { createAvatars } from './media/avatar.service.ts'
import { measureDatabase } from './metrics/database.metrics.ts'
import { createMetricsPage } from './metrics/metrics.http.ts'
import { createMetrics } from './metrics/metrics.ts'
import { createNotifications } from './notifications/notification.service.ts'
import { createAvailability } from './operators/availability.service.ts'
import { createCertifications } from './operators/certification.service.ts'
import { createOperatorProfiles } from './operators/operator-profile.service.ts'
import { createSchedules } from './operators/schedule.service.ts'
import { createOperatorStats } from './operators/stats.service.ts'
import { connectRedis } from './redis.ts'
import { createRobots } from './robots/robot.service.ts'
import { createRobotTokens } from './robots/robot.token.ts'
import { createRobotWatch } from './robots/robot.watch.ts'
import { createSecrets, loadOrCreateRootKey } from './secrets.ts'
import { createSessionExports } from './sessions/export.service.ts'
import { createExtensions } from './sessions/extension.service.ts'
import { createMessages } from './sessions/message.service.ts'
import { createRatings } from './sessions/rating.service.ts'
import { createSessionLifecycle } from './sessions/session.lifecycle.ts'
import { createSessionPresence } from './sessions/session.presence.ts'
import { createSessionQueries } from './sessions/session.queries.ts'
import { createSessionStarts } from './sessions/session.start.ts'
import { createContactClaims } from './support/contact.claims.ts'
import { createContactDelivery } from './support/contact.delivery.ts'
import { createContact } from './support/contact.service.ts'

const POOL_SIZE = 10

export interface Surroundings {
  readonly log: Log
  readonly now: () => Date
  /** Public origin, once the port is known. */
  readonly baseUrl: string
}

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

/** The composition root: everything is built here once, in reading order, and closed in reverse. */
export async function createPlatform(config: Config, { log, now, baseUrl }: Surroundings) {
  const closers = createClosers(log)
  const report = (cause: unknown) => log.error({ err: cause }, 'background work failed')
  try {
    const infrastructure = await openInfrastructure(config, log, report, closers.add)
    const { db, bus } = infrastructure

    const metrics = createMetrics()
    measureDatabase(metrics, infrastructure)
    const metricsPage = createMetricsPage({
      metrics,
      token: config.metricsToken,
      production: config.production,
    })
    const secrets = createSecrets(config.secretKey ?? loadOrCreateRootKey(config.dataDir))
    const identity = await createIdentity(config, { baseUrl, secrets, report })
    const adminEmails = config.demo
      ? [...config.adminEmails, ...demoAccounts.filter((one) => one.admin).map((one) => one.email)]
      : config.adminEmails
    const rateLimits = createRateLimits(config.rateLimits, {
      redis: infrastructure.limitsRedis,
      refused: metrics.rateLimited,
    })
    const idempotency = createIdempotency({ db, secrets, now, report, count: metrics.idempotency })
    const transact = createTransactor({ db, bus, beforeCommit: idempotency.mark })
    const users = createUsers({ db, transact, now, adminEmails })
    const apiKeys = createApiKeys({ db, transact, bus, now, report })
    closers.add(() => apiKeys.settled())
    const auth = createAuth({
      users,
      apiKeys,
      verifyToken: identity.verifyToken,
      baseUrl,
      corsOrigins: config.corsOrigins,
    })

    const sessionQueries = createSessionQueries({ db })
    const starts = createSessionStarts({ transact, now })
    const lifecycle = createSessionLifecycle({ transact, now, queries: sessionQueries, starts })
    const messages = createMessages({ db, transact, now, queries: sessionQueries })
    const extensions = createExtensions({ transact, now, queries: sessionQueries })
    const sessionExports = createSessionExports({ db, now })
    const tickets = createTickets({ secrets, now })
    const sessionTickets = createSessionTickets({ db, queries: sessionQueries, tickets })
    const ratings = createRatings({ transact, now, queries: sessionQueries })
    const sessionPresence = createSessionPresence({ db, transact, now })
    const notifications = createNotifications({ db, now })
    const certifications = createCertifications({ db, transact, now })
    const robots = createRobots({ db, transact, now, cancelScheduled: lifecycle.cancelScheduled })
    const robotTokens = createRobotTokens(secrets)
    const robotWatch = createRobotWatch({ db, certifications })
    const datasets = createDatasets({ db })
    const episodeStore = createEpisodeStore({ transact, now })
    const clientProfiles = createClientProfiles({ db, now })
    const operatorProfiles = createOperatorProfiles({ db, now })
    const schedules = createSchedules({ db, now })
    const availability = createAvailability({ db, now })
    const userPresence = createUserPresence({ db })
    const avatars = createAvatars({ db, now })
    const plans = createPlans({ db, transact, now })
    const invoices = createInvoices({ db })
    const clientStats = createClientStats({ db, now })
    const operatorStats = createOperatorStats({ db, now })

    const { mail } = config
    const contactClaims = createContactClaims({ db, transact, now })
    const contactDelivery =
      mail &&
      createContactDelivery({
        claims: contactClaims,
        mailer: createMailer(mail),
        contactTo: mail.contactTo,
        now,
        log,
      })
    const contact = createContact({ claims: contactClaims, delivery: contactDelivery, report })

    return {
      ...infrastructure,
      ...identity,
      config,
      log,
      now,
      baseUrl,
      report,
      processId: randomUUID(),
      secrets,
      users,
      apiKeys,
      auth,
      transact,
      metrics,
      metricsPage,
      idempotency,
      rateLimits,
      sessionQueries,
      starts,
      lifecycle,
      messages,
      extensions,
      ratings,
      sessionExports,
      tickets,
      sessionTickets,
      sessionPresence,
      notifications,
      certifications,
      robots,
      robotTokens,
      robotWatch,
      datasets,
      episodeStore,
      clientProfiles,
      operatorProfiles,
      schedules,
      availability,
      userPresence,
      avatars,
      plans,
      invoices,
      clientStats,
      operatorStats,
      contact,
      contactDelivery,
      close: closers.closeAll,
    }
  } catch (cause) {
    await closers.closeAll()
    throw cause
  }
}
export type Platform = Awaited<ReturnType<typeof createPlatform>>

async function openInfrastructure(
  config: Config,
  log: Log,
  report: (cause: unknown) => void,
  onClose: (close: () => Promise<unknown>) => void,
) {
  let { databaseUrl } = config
  if (!databaseUrl) {
    const embedded = await startEmbeddedPostgres({
      dataDir: join(config.dataDir, 'postgres'),
      log: (text) => log.info(text),
    })
    onClose(() => embedded.stop())
    databaseUrl = embedded.url
  }
  const orm = await connectOrm({ url: databaseUrl, poolSize: POOL_SIZE, applicationName: 'wheelhouse' })
  onClose(() => closeOrm(orm))
  const applied = await applyMigrations(orm, databaseUrl)
  if (applied.length > 0) log.info({ applied }, 'database schema brought up to date')
  const db = queries(orm.em.fork())

  const open = (name: string) => {
    const patient = name.endsWith('-subscriber')
    const eager = name === 'rate-limits'
    const redis = connectRedis(config.redisUrl as string, { name, log, patient, eager })
    onClose(async () => redis.disconnect())
    return redis
  }
  const bus = config.redisUrl
    ? await createRedisBus({
        publisher: open('bus-publisher'),
        subscriber: open('bus-subscriber'),
        processId: randomUUID(),
        report,
      })
    : createMemoryBus(report)
  const hubRedis =
    config.redisUrl && config.roles.includes('hub')
      ? { publisher: open('hub-publisher'), subscriber: open('hub-subscriber') }
      : undefined
  const limitsRedis = config.redisUrl && config.roles.includes('api') ? open('rate-limits') : undefined
  return { databaseUrl, orm, db, bus, hubRedis, limitsRedis }
}

/** Who vouches for people: the configured provider, or the built-in one, in this process or in the api's. */
async function createIdentity(
  config: Config,
  parts: { baseUrl: string; secrets: ReturnType<typeof createSecrets>; report: (cause: unknown) => void },
) {
  const { baseUrl, secrets, report } = parts
  const builtIn =
    config.idp || !config.roles.includes('api')
      ? undefined
      : await createIdentityProvider({
          baseUrl,
          dataDir: config.dataDir,
          secrets,
          production: config.production,
          accounts: config.demo ? demoAccounts : [],
          report,
        })
  const provider = config.idp ?? {
    issuer: builtIn?.issuer ?? `${baseUrl}/idp`,
    audience: DEV_AUDIENCE,
    jwksUrl: `${baseUrl}/idp/jwks`,
    clientId: DASHBOARD_CLIENT_ID,
    clientSecret: undefined,
  }
  const discover = createDiscovery({ issuer: provider.issuer })
  const verifyToken = createTokenVerifier({
    issuer: provider.issuer,
    audience: provider.audience,
    jwks: builtIn?.localJwks ?? remoteJwks({ discover, jwksUrl: provider.jwksUrl }),
    ...(!config.idp && { knownAs: DEV_ISSUER_NAME }),
  })
  return { builtIn, provider, verifyToken, userinfo: createUserinfo({ discover }) }
}
