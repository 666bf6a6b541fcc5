import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { createApiKeys } from './accounts/api-key.service.ts'
import { createAuth } from './accounts/auth.ts'
import { createDiscovery } from './accounts/discovery.ts'
import { createTokenVerifier, remoteJwks } from './accounts/tokens.ts'
import { createUsers } from './accounts/user.service.ts'
import { createUserinfo } from './accounts/userinfo.ts'
import type { Config } from './config.ts'
import { createSessionTickets } from './control/ticket.service.ts'
import { createTickets } from './control/ticket.ts'
import { startEmbeddedPostgres } from './db/embedded.ts'
import { applyMigrations } from './db/migrations.ts'
import { closeOrm, connectOrm, queries } from './db/orm.ts'
import { demoAccounts } from './demo/accounts.ts'
import { createMemoryBus } from './events/bus.ts'
import { createRedisBus } from './events/redis-bus.ts'
import { createTransactor } from './events/transactor.ts'
import { DASHBOARD_CLIENT_ID, DEV_AUDIENCE, DEV_ISSUER_NAME } from './idp/provider.settings.ts'
import { createIdentityProvider } from './idp/provider.ts'
import type { Log } from './log.ts'
import { createNotifications } from './notifications/notification.service.ts'
import { createCertifications } from './operators/certification.service.ts'
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

    const secrets = createSecrets(config.secretKey ?? loadOrCreateRootKey(config.dataDir))
    const identity = await createIdentity(config, { baseUrl, secrets, report })
    const adminEmails = config.demo
      ? [...config.adminEmails, ...demoAccounts.filter((one) => one.admin).map((one) => one.email)]
      : config.adminEmails
    const users = createUsers({ db, adminEmails })
    const apiKeys = createApiKeys({ db, bus, report })
    closers.add(() => apiKeys.settled())
    const auth = createAuth({
      users,
      apiKeys,
      verifyToken: identity.verifyToken,
      baseUrl,
      corsOrigins: config.corsOrigins,
    })

    const transact = createTransactor({ db, bus })
    const sessionQueries = createSessionQueries({ db })
    const starts = createSessionStarts({ transact, now })
    const lifecycle = createSessionLifecycle({ transact, now, queries: sessionQueries, starts })
    const messages = createMessages({ db, transact, now, queries: sessionQueries })
    const extensions = createExtensions({ transact, now, queries: sessionQueries })
    const sessionExports = createSessionExports({ db })
    const tickets = createTickets({ secrets, now })
    const sessionTickets = createSessionTickets({ db, queries: sessionQueries, tickets })
    const ratings = createRatings({ transact, now, queries: sessionQueries })
    const sessionPresence = createSessionPresence({ db, transact, now })
    const notifications = createNotifications({ db, now })
    const certifications = createCertifications({ db, transact, now })
    const robots = createRobots({ db, transact, now, cancelScheduled: lifecycle.cancelScheduled })
    const robotTokens = createRobotTokens(secrets)
    const robotWatch = createRobotWatch({ db, certifications })

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
    const redis = connectRedis(config.redisUrl as string, { name, log, patient })
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
  return { databaseUrl, orm, db, bus, hubRedis }
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
