import { randomUUID } from 'node:crypto'
import { createAuditChain } from '../core/audit/audit-chain.ts'
import { createStatementRunner, createTransactor } from '../core/events/transactor.ts'
import { createDownloads, type Downloads } from '../core/http/downloads.ts'
import { createIdempotency } from '../core/http/idempotency.ts'
import { createRateLimits } from '../core/http/rate-limits.ts'
import { cronQueue } from '../core/jobs/cron-queue.ts'
import { removeOrphanedProgress } from '../core/jobs/job-progress.ts'
import { createJobs } from '../core/jobs/jobs.ts'
import type { Log } from '../core/log.ts'
import { createMailer } from '../core/mail/mailer.ts'
import { measureDatabase, measureDisk } from '../core/metrics/database-metrics.ts'
import { createMetrics } from '../core/metrics/metrics.ts'
import { createMetricsPage } from '../core/metrics/metrics-http.ts'
import { createGuard } from '../core/process/guard.ts'
import { createThreadTime } from '../core/process/thread-time.ts'
import { createSecrets, loadOrCreateRootKey } from '../core/secrets.ts'
import { createObjectStore } from '../core/storage/storage.ts'
import { createBilling } from '../modules/billing/index.ts'
import { createClients } from '../modules/clients/index.ts'
import { connectRecording, createDatasetServices } from '../modules/datasets/index.ts'
import {
  createIdentity,
  createOrganizationClients,
  type DevAccount,
  type RevocationSources,
  watchRevocations,
} from '../modules/identity/index.ts'
import { createJobControl, registerQueueMetrics } from '../modules/jobs/index.ts'
import { createNotificationServices, writeNotifications } from '../modules/notifications/index.ts'
import { createOperators } from '../modules/operators/index.ts'
import { createDataGrants, createMemberships, createOrganizations } from '../modules/organizations/index.ts'
import { createPayments } from '../modules/payments/index.ts'
import { createProvisioning } from '../modules/provisioning/index.ts'
import { createRecordingServices, watchLinks } from '../modules/recordings/index.ts'
import { createRobotServices } from '../modules/robots/index.ts'
import { createSearch } from '../modules/search/index.ts'
import { appendSessionNote, createSessions } from '../modules/sessions/index.ts'
import { createSupport } from '../modules/support/index.ts'
import { createVideo } from '../modules/video/index.ts'
import { createWebhookServices } from '../modules/webhooks/index.ts'
import type { Config } from './config.ts'
import { openInfrastructure } from './infrastructure.ts'

/** Creates the list of running downloads, which end with the API key, the user or the link of their request. */
function createPlatformDownloads(
  deps: Omit<RevocationSources, 'guard'> & Omit<Parameters<typeof watchLinks>[0], 'guard'>,
  guard: RevocationSources['guard'],
): Downloads {
  const { now } = deps
  return createDownloads({
    guard,
    now,
    watch: (ends, openLinks) => {
      const watches = [
        watchRevocations({ ...deps, guard }, ends),
        watchLinks({ ...deps, guard }, openLinks, ends.linkEnded),
      ]
      return {
        close: () => {
          for (const watch of watches) watch.close()
        },
      }
    },
  })
}

const IDEMPOTENCY_CLEAN_UP = cronQueue(
  'idempotency-clean-up',
  '* * * * *',
  'Removes expired idempotency keys',
)
const MONTHLY_CLOSE = {
  ...cronQueue('monthly-close', '* * * * *', 'Issues the invoices of ended months and has them collected'),
  runsAtStart: true,
}
const AUDIT_CLEAN_UP = cronQueue(
  'audit-clean-up',
  '43 * * * *',
  'Deletes entries of the audit log after their time',
)
const JOB_CLEAN_UP = cronQueue('job-clean-up', '29 * * * *', 'Removes the progress of finished jobs')

export interface RuntimeContext {
  readonly log: Log
  readonly now: () => Date
  /** The public origin, once the port is known. */
  readonly baseUrl: string
  /** True when other machines can use the built-in identity provider, as ALLOW_INSECURE_DEV permits. */
  readonly insecure?: boolean
  /** Called when the platform cannot continue, with the reason. */
  readonly fail: (cause: Error) => void
  /** The accounts of the built-in identity provider in the demo. */
  readonly accounts?: readonly DevAccount[]
  /** Whether workers look for abandoned jobs. Default: true. Tests that move the clock turn it off. */
  readonly superviseJobs?: boolean | undefined
  /** How long a response of the contact form waits for the mail server. Default: 3 s. Tests set another time. */
  readonly contactWaitMs?: number | undefined
  /** Longest time that a request waits for Redis to count it. Default: 100 ms. Tests set another time. */
  readonly redisCommandMs?: number | undefined
  /** Runs before every guarded handler. Tests throw from it. */
  readonly beforeHandler?: ((handler: string) => void) | undefined
}

/**
 * Creates the platform. This is the composition root: it creates every service once and closes all in reverse order.
 */
export async function createPlatform(given: Config, context: RuntimeContext) {
  const { log } = context
  const closers = createClosers(log)
  const report = (cause: unknown) => log.error({ err: cause }, 'background work failed')
  try {
    const infrastructure = await openInfrastructure(given, { ...context, report, onClose: closers.add })
    const { config } = infrastructure
    const core = createCore({ ...context, ...infrastructure, report })
    closers.add(core.jobs.close)
    core.jobs.register(IDEMPOTENCY_CLEAN_UP, core.idempotency.removeExpired)
    core.jobs.register(JOB_CLEAN_UP, () => removeOrphanedProgress(core.db))
    const auditChain = createAuditChain(core)
    core.jobs.register(AUDIT_CLEAN_UP, auditChain.deleteExpired)
    registerQueueMetrics(core)
    const storage = await createObjectStore(config.storage)
    closers.add(() => storage.close())
    const mailer = config.mail && createMailer(config.mail)
    const accounts = context.accounts ?? []
    const admins = accounts.filter(({ role }) => role === 'admin').map(({ email }) => email)
    const settings = { ...config, adminEmails: [...config.adminEmails, ...admins] }
    const memberships = createMemberships(core)
    const provisioning = createProvisioning(core, {
      platformIssuer: config.idp?.issuer ?? `${core.baseUrl}/idp`,
    })
    const identity = await createIdentity(core, {
      joinProvisioned: provisioning.scim.joinProvisioned,
      settings,
      accounts,
      memberships,
      signIns: provisioning.signIns,
      insecure: context.insecure ?? false,
    })
    closers.add(() => identity.apiKeys.flush())
    const { users } = identity
    const billing = createBilling(core, config)
    const operators = createOperators(core)
    const clients = createClients(core)
    const sessions = createSessions(core, { settings: config, settle: billing.settle, users })
    const robots = createRobotServices(core, {
      settings: config,
      cancelScheduled: sessions.lifecycle.cancelScheduled,
      certifications: operators.certifications,
    })
    const payments = createPayments({ ...core, users, ...clients, ...operators, settings: config.payments })
    core.jobs.register(MONTHLY_CLOSE, async () => {
      await billing.monthlyClose.run()
      await payments?.enqueueOpenInvoices()
    })
    const recordings = createRecordingServices(core, {
      store: storage,
      settings: config,
      appendNote: appendSessionNote,
      onFinished: connectRecording,
      users,
    })
    const webhooks = createWebhookServices({ ...core, allowedNetworks: config.webhookNetworks })
    const platform = {
      core,
      identity,
      notifications: createNotificationServices(core, {
        mailer,
        pushService: webhooks.outboundClient,
        vapid: config.vapid,
      }),
      billing,
      operators,
      clients,
      sessions,
      robots,
      datasets: createDatasetServices(core, {
        storage,
        dataDir: config.dataDir,
        logExport: recordings.recordingAccess.noteExport,
        isStorageFull: recordings.quota.isExceeded,
        appendNote: appendSessionNote,
      }),
      storage,
      downloads: createPlatformDownloads({ ...core, ...identity }, core.guards.api),
      recordings,
      payments,
      webhooks,
      support: createSupport(core, {
        mail: mailer && config.mail && { mailer, contactTo: config.mail.contactTo },
        waitLimitMs: context.contactWaitMs,
      }),
      jobControl: createJobControl(core),
      video: createVideo(core, { ...robots, ...sessions, guard: core.guards.media, turn: config.turn }),
      search: createSearch({ ...core, ...identity, ...robots, ...operators }),
      ...createOrganizations(core, { mailer }),
      auditChain,
      dataGrants: createDataGrants(core),
      provisioning,
      organizationClients: createOrganizationClients({ ...core, outbound: webhooks.outboundClient }),
      close: closers.closeAll,
    }
    await core.jobs.open()
    return platform
  } catch (cause) {
    await closers.closeAll()
    throw cause
  }
}
export type Platform = Awaited<ReturnType<typeof createPlatform>>

/** Creates a list of close functions. It runs them in reverse order, also when one of them fails. */
function createClosers(log: Log) {
  const closers: (() => Promise<unknown>)[] = []
  return {
    add: (close: () => Promise<unknown>) => closers.push(close),
    async closeAll() {
      for (const close of closers.reverse()) {
        await close().catch((cause) => log.error({ err: cause }, 'a resource could not be closed'))
      }
    },
  }
}

type Infrastructure = Awaited<ReturnType<typeof openInfrastructure>>

/** Creates the services that every module uses, and those of the HTTP server. */
function createCore(
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
      countLong: (handler) => metrics.longStep(role, handler),
    })
  const guards = {
    api: guardOf('api'),
    gateway: guardOf('gateway'),
    hub: guardOf('hub'),
    media: guardOf('media'),
    process: guardOf('process'),
    recorder: guardOf('recorder'),
  }
  const threadTime = createThreadTime({
    log,
    count: (step) => metrics.longStep('main', step),
    limited: config.rateLimits.perMinute > 0,
  })
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
  const forkEntityManager = () => deps.orm.em.fork()
  const isWorker = config.roles.includes('worker')
  const jobs = createJobs({
    ...deps,
    hints: {
      created: {
        publish: (queues) => deps.bus.publish('jobs.created', { queues }),
        subscribe: (listener) => deps.bus.subscribe('jobs.created', ({ queues }) => listener(queues)),
      },
      cancelled: {
        publish: (jobIds) => deps.bus.publish('jobs.cancelled', { jobIds }),
        subscribe: (listener) => deps.bus.subscribe('jobs.cancelled', ({ jobIds }) => listener(jobIds)),
      },
    },
    observe: metrics.jobAttempt,
    supervise: isWorker && (deps.superviseJobs ?? true),
  })
  const transact = createTransactor({
    ...deps,
    jobs,
    forkEntityManager,
    writeNotifications,
    validateEvents: config.validateOutput,
    beforeCommit: idempotency.markEffect,
  })
  const runStatement = createStatementRunner({
    ...deps,
    beforeCommit: idempotency.markEffect,
    hasEffectBeforeCommit: idempotency.marksEffects,
  })
  return {
    ...deps,
    processId: randomUUID(),
    metrics,
    metricsPage,
    guards,
    threadTime,
    secrets,
    rateLimits,
    idempotency,
    forkEntityManager,
    transact,
    runStatement,
    jobs,
  }
}
