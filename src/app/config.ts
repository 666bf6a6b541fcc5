import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { parseOptions } from '../core/http/validation-messages.ts'
import { DEFAULT_DATA_DIR, separateDataDir } from '../core/process/data-dir.ts'
import { parseNetwork, webhookNetworks, webhookProblems } from '../modules/webhooks/index.ts'
import {
  address,
  base64url,
  connections,
  DAY_MS,
  days,
  flag,
  list,
  mailbox,
  milliseconds,
  origin,
  rate,
  redisNodes,
  smtpUrl,
  urlOf,
} from './config-values.ts'
import { portProblems, portsFrom, portVariables } from './port-config.ts'
import { localStorageIn, storageProblems, storageSettings, storageVariables } from './storage-config.ts'

const ProcessRoles = z.enum(['api', 'hub', 'gateway', 'worker', 'media', 'recorder'])
/** Roles without which the platform works, with fewer functions. */
const OPTIONAL_ROLES: ReadonlySet<string> = new Set(['media', 'recorder'])

/** The variables of the environment. */
export const Env = z.object({
  NODE_ENV: z.string().optional(),
  /** Set by npm when it runs a script of package.json. */
  npm_lifecycle_event: z.string().optional(),
  ROLES: list.pipe(z.array(ProcessRoles).min(1)).default([...ProcessRoles.options]),
  DATABASE_URL: urlOf(/^postgres(ql)?$/).optional(),
  DATABASE_POOL_SIZE: connections.default(10),
  REDIS_URL: redisNodes.optional(),
  DATA_DIR: z.string().optional(),
  ...storageVariables,
  ...portVariables,
  /** Whether the gateway runs in a separate thread. */
  GATEWAY_THREAD: flag.default(true),
  /** Whether this thread asks for real-time scheduling. */
  GATEWAY_REALTIME: flag.default(false),
  /** The IP address at which clients reach the UDP port of the data channels, if this machine does not have it. */
  GATEWAY_UDP_ADDRESS: z.union([z.ipv4(), z.ipv6()]).optional(),
  /** The address at which gateways and media roles reach the recorder. By default this machine. */
  RECORDER_URL: urlOf(/^wss?$/)
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  /** The IP address at which clients reach the UDP port of the cameras, if this machine does not have it. */
  MEDIA_UDP_ADDRESS: z.union([z.ipv4(), z.ipv6()]).optional(),
  /** Highest bitrate of a camera. */
  MEDIA_MAX_KBPS: z
    .string()
    .regex(/^\d{3,6}$/, 'must be a whole number of kilobits per second, at least 100')
    .transform(Number)
    .default(4_000),
  /** TURN servers for networks that block UDP, and the secret that they share with the platform. */
  TURN_URLS: list
    .pipe(
      z.array(z.string().regex(/^turns?:[^\s"<>?]+(\?transport=(udp|tcp))?$/, 'must be like turn:host:3478')),
    )
    .default([]),
  TURN_SECRET: z.string().min(16, 'must be at least 16 characters').optional(),
  HOST: z.string().optional(),
  /** Allows the built-in identity provider and the demo where other machines can connect. */
  ALLOW_INSECURE_DEV: flag.default(false),
  BASE_URL: origin.optional(),
  GATEWAY_URL: urlOf(/^wss?$/)
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  IDP_ISSUER: urlOf(/^https?$/).optional(),
  IDP_AUDIENCE: z.string().optional(),
  IDP_JWKS_URL: urlOf(/^https?$/).optional(),
  IDP_CLIENT_ID: z.string().optional(),
  IDP_CLIENT_SECRET: z.string().optional(),
  IDP_CLI_CLIENT_ID: z.string().optional(),
  SECRET_KEY: z.string().min(32, 'must be at least 32 characters').optional(),
  ADMIN_EMAILS: list.transform((emails) => emails.map((email) => email.toLowerCase())).default([]),
  SMTP_URL: smtpUrl.optional(),
  MAIL_FROM: mailbox.optional(),
  CONTACT_TO: address.optional(),
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^(sk|rk)_/, 'must be a secret key (sk_…) or a restricted one (rk_…)')
    .optional(),
  STRIPE_WEBHOOK_SECRET: list.pipe(z.array(z.string().startsWith('whsec_'))).default([]),
  STRIPE_API_BASE: origin.optional(),
  EARNINGS_HOLD_DAYS: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number of days')
    .transform(Number)
    .pipe(z.number().max(365))
    .default(45),
  /** Private networks that webhooks may connect to. */
  WEBHOOK_ALLOWED_NETWORKS: z
    .union([
      z.literal('none').transform((): string[] => []),
      list.pipe(
        z.array(
          z
            .string()
            .refine((text) => parseNetwork(text) !== undefined, 'must be a network such as 10.0.0.0/8'),
        ),
      ),
    ])
    .optional(),
  /** Whether webhooks may connect to this machine. */
  WEBHOOK_ALLOW_LOOPBACK: flag.default(false),
  /** The key pair with which push services recognize the platform, in base64url. By default generated. */
  VAPID_PUBLIC_KEY: base64url(65).optional(),
  VAPID_PRIVATE_KEY: base64url(32).optional(),
  VAPID_SUBJECT: urlOf(/^(https|mailto)$/).optional(),
  CORS_ORIGINS: list.pipe(z.array(origin)).default([]),
  /** The number of proxies in front of the api. `true` means one. */
  TRUST_PROXY: z
    .enum(['true', 'false', ...'0123456789'])
    .transform((text) => (text === 'true' ? 1 : text === 'false' ? 0 : Number(text)))
    .default(0),
  RATE_LIMIT_PER_MINUTE: rate.default(1_200),
  RATE_LIMIT_PUBLIC_PER_MINUTE: rate.default(300),
  /** Whether a newly registered robot requires certified operators by default. */
  ROBOTS_REQUIRE_CERTIFICATION: flag.default(false),
  ROBOT_CONNECTS_PER_MINUTE: rate.default(30),
  METRICS_TOKEN: z.string().min(16, 'must be at least 16 characters').optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  DEMO: flag.optional(),
  HEARTBEAT_INTERVAL_MS: milliseconds(100).default(1_000),
  HEARTBEAT_TIMEOUT_MS: milliseconds(300).default(3_500),
  DEADMAN_MS: milliseconds(50).default(250),
  OPERATOR_GRACE_MS: milliseconds(0).default(10_000),
  ROBOT_GRACE_MS: milliseconds(0).default(120_000),
  ROBOT_LOG_DAYS: days.default(7),
  OPERATOR_JOIN_MS: milliseconds(0).default(120_000),
  PAUSE_LIMIT_MS: milliseconds(0).default(1_800_000),
  OPERATOR_GONE_MS: milliseconds(0).default(300_000),
})
type Env = z.infer<typeof Env>

/** Returns the problems that concern several variables. Each problem names the variable and what to do. */
function findCombinationProblems(env: Env): string[] {
  const problems: string[] = []
  const production = env.NODE_ENV === 'production'
  // Without media and recorder, there is no video and no recording; everything else works in one process.
  const split = ProcessRoles.options.some((role) => !OPTIONAL_ROLES.has(role) && !env.ROLES.includes(role))
  if (split) {
    const why = `is required when a process runs only some roles (ROLES=${env.ROLES.join(',')})`
    if (!env.DATABASE_URL) problems.push(`DATABASE_URL ${why}: every process must share one PostgreSQL`)
    if (!env.REDIS_URL) problems.push(`REDIS_URL ${why}: Redis carries the events between processes`)
  }
  if (production && !env.SECRET_KEY) {
    problems.push('SECRET_KEY is required in production: set at least 32 random characters')
  }
  if (production && !env.IDP_ISSUER) {
    problems.push('IDP_ISSUER is required in production: the built-in identity provider is for development')
  }
  if (env.IDP_ISSUER && !env.IDP_AUDIENCE && !env.IDP_CLIENT_ID) {
    problems.push(
      'IDP_AUDIENCE or IDP_CLIENT_ID is required with IDP_ISSUER: tokens are validated against it',
    )
  }
  if (env.SMTP_URL && !env.MAIL_FROM) {
    problems.push(
      'MAIL_FROM is required with SMTP_URL: mail needs a sender, e.g. Wheelhouse <hub@example.com>',
    )
  }
  if (env.SMTP_URL && !env.CONTACT_TO) {
    problems.push('CONTACT_TO is required with SMTP_URL: the address that contact messages are sent to')
  }
  if (env.STRIPE_SECRET_KEY && env.STRIPE_WEBHOOK_SECRET.length === 0) {
    problems.push(
      'STRIPE_WEBHOOK_SECRET is required with STRIPE_SECRET_KEY: payments are confirmed by webhooks',
    )
  }
  if (!env.VAPID_PUBLIC_KEY !== !env.VAPID_PRIVATE_KEY) {
    const missing = env.VAPID_PUBLIC_KEY ? 'VAPID_PRIVATE_KEY' : 'VAPID_PUBLIC_KEY'
    problems.push(`${missing} is required with the other VAPID key: they are one pair`)
  }
  if (env.TURN_URLS.length > 0 && !env.TURN_SECRET) {
    problems.push('TURN_SECRET is required with TURN_URLS: clients get credentials that are derived from it')
  }
  if (env.GATEWAY_REALTIME && !env.GATEWAY_THREAD) {
    problems.push('GATEWAY_REALTIME needs GATEWAY_THREAD: only the thread of the gateway gets the priority')
  }
  if (env.HEARTBEAT_TIMEOUT_MS < 2 * env.HEARTBEAT_INTERVAL_MS) {
    problems.push(
      'HEARTBEAT_TIMEOUT_MS must be at least twice HEARTBEAT_INTERVAL_MS: one late heartbeat must not count as a lost robot',
    )
  }
  if (production && env.ALLOW_INSECURE_DEV) {
    problems.push('ALLOW_INSECURE_DEV cannot be on in production: it gives admin accounts to anyone who asks')
  }
  if (production && env.DEMO) problems.push('DEMO cannot be on in production: it prints working credentials')
  return [...problems, ...portProblems(env), ...storageProblems(env), ...webhookProblems(env)]
}

/** Returns the environment of the process. A file `.env` in the working directory sets the missing variables. */
function environment(): NodeJS.ProcessEnv {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return process.env
}

/**
 * Reads and validates the environment. Only this function reads it.
 * @throws Error that names all problems.
 */
export function loadConfig(source: Record<string, string | undefined> = environment()) {
  // Compose files and shells use an empty variable for "unset".
  const given = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== ''))
  const { error } = Env.safeParse(given, parseOptions)
  const wrong = new Set(error?.issues.map((issue) => String(issue.path[0])))
  // Invalid values are left out here, so that one run reports the problems of single values and of combinations.
  const env = Env.parse(Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name))))
  const problems = [
    ...(error ? [z.prettifyError(error)] : []),
    ...findCombinationProblems(env)
      .filter((problem) => !wrong.has(problem.split(' ')[0] as string))
      .map((problem) => `✖ ${problem}`),
  ]
  if (problems.length > 0) throw new Error(`Invalid environment:\n${problems.join('\n')}`)

  const production = env.NODE_ENV === 'production'
  const ports = portsFrom(env)
  const dataDir = resolve(env.DATA_DIR ?? DEFAULT_DATA_DIR)
  return Object.freeze({
    production,
    /** In tests, every response is validated against its schema. */
    validateOutput: env.NODE_ENV === 'test',
    runByNpm: env.npm_lifecycle_event !== undefined,
    roles: env.ROLES,
    databaseUrl: env.DATABASE_URL,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    redisUrl: env.REDIS_URL,
    dataDir,
    /**
     * The data directory for a platform that begins while one on another port uses `dataDir`; undefined if DATA_DIR or
     * DATABASE_URL is set, with which processes may share the directory.
     */
    separateDataDir: env.DATA_DIR || env.DATABASE_URL ? undefined : separateDataDir(dataDir, env.PORT),
    ...storageSettings(env, dataDir),
    allowInsecureDev: env.ALLOW_INSECURE_DEV,
    host: env.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: env.PORT,
    hubPort: ports.HUB_PORT,
    gatewayPort: ports.GATEWAY_PORT,
    gatewayThread: env.GATEWAY_THREAD,
    gatewayRealTime: env.GATEWAY_REALTIME,
    /** Null to use WebSockets only. */
    dataChannel:
      env.GATEWAY_UDP_PORT === 'off'
        ? null
        : { port: env.GATEWAY_UDP_PORT || undefined, publicAddress: env.GATEWAY_UDP_ADDRESS },
    recorder: { port: ports.RECORDER_PORT, url: env.RECORDER_URL },
    media: {
      port: ports.MEDIA_UDP_PORT,
      /** Undefined if no TURN server is reached over TCP or TLS. */
      relayPort: env.TURN_URLS.some((url) => /^turns:|transport=tcp$/.test(url))
        ? env.MEDIA_RELAY_PORT
        : undefined,
      publicAddress: env.MEDIA_UDP_ADDRESS,
      maxBitsPerSecond: env.MEDIA_MAX_KBPS * 1_000,
    },
    turn:
      env.TURN_URLS.length > 0 && env.TURN_SECRET
        ? { urls: env.TURN_URLS, secret: env.TURN_SECRET }
        : undefined,
    workerPort: env.WORKER_PORT,
    baseUrl: env.BASE_URL ?? `http://localhost:${env.PORT}`,
    /** True when BASE_URL is not set. With port 0, the URL then gets the real port once it is known. */
    baseUrlFromPort: env.BASE_URL === undefined,
    gatewayUrl: env.GATEWAY_URL ?? `ws://localhost:${ports.GATEWAY_PORT}`,
    gatewayUrlFromPort: env.GATEWAY_URL === undefined,
    idp: env.IDP_ISSUER
      ? {
          issuer: env.IDP_ISSUER,
          audience: (env.IDP_AUDIENCE ?? env.IDP_CLIENT_ID) as string,
          jwksUrl: env.IDP_JWKS_URL,
          clientId: env.IDP_CLIENT_ID,
          clientSecret: env.IDP_CLIENT_SECRET,
          /** An empty value means unset, because a compose file passes it on. */
          cliClientId: env.IDP_CLI_CLIENT_ID || undefined,
        }
      : undefined,
    secretKey: env.SECRET_KEY,
    adminEmails: env.ADMIN_EMAILS,
    mail:
      env.SMTP_URL && env.MAIL_FROM && env.CONTACT_TO
        ? { url: env.SMTP_URL, from: env.MAIL_FROM, contactTo: env.CONTACT_TO }
        : undefined,
    payments: env.STRIPE_SECRET_KEY
      ? {
          secretKey: env.STRIPE_SECRET_KEY,
          webhookSecrets: env.STRIPE_WEBHOOK_SECRET,
          apiBase: env.STRIPE_API_BASE,
        }
      : undefined,
    webhookNetworks: webhookNetworks(env),
    vapid: {
      keys:
        env.VAPID_PUBLIC_KEY && env.VAPID_PRIVATE_KEY
          ? { publicKey: env.VAPID_PUBLIC_KEY, privateKey: env.VAPID_PRIVATE_KEY }
          : undefined,
      subject: env.VAPID_SUBJECT,
    },
    corsOrigins: env.CORS_ORIGINS,
    trustedProxies: env.TRUST_PROXY,
    rateLimits: { perMinute: env.RATE_LIMIT_PER_MINUTE, publicPerMinute: env.RATE_LIMIT_PUBLIC_PER_MINUTE },
    robotsRequireCertification: env.ROBOTS_REQUIRE_CERTIFICATION,
    robotConnectsPerMinute: env.ROBOT_CONNECTS_PER_MINUTE,
    metricsToken: env.METRICS_TOKEN,
    logLevel: env.LOG_LEVEL,
    demo: env.DEMO ?? (!production && !env.DATABASE_URL && !env.REDIS_URL && !env.IDP_ISSUER),
    heartbeatIntervalMs: env.HEARTBEAT_INTERVAL_MS,
    heartbeatTimeoutMs: env.HEARTBEAT_TIMEOUT_MS,
    earningsHoldMs: env.EARNINGS_HOLD_DAYS * DAY_MS,
    deadmanMs: env.DEADMAN_MS,
    operatorGraceMs: env.OPERATOR_GRACE_MS,
    robotGraceMs: env.ROBOT_GRACE_MS,
    robotLogDays: env.ROBOT_LOG_DAYS,
    /** 0: sessions wait for their operators without a limit. */
    operatorJoinMs: env.OPERATOR_JOIN_MS,
    /** 0: pauses have no limit. */
    pauseLimitMs: env.PAUSE_LIMIT_MS,
    /** 0: sessions whose operators are gone end at the pause limit. */
    operatorGoneMs: env.OPERATOR_GONE_MS,
  })
}
export type Config = ReturnType<typeof loadConfig>

/** Returns the configuration with another data directory. */
export function withDataDir(config: Config, dataDir: string): Config {
  const storage = config.storage.kind === 'local' ? localStorageIn(dataDir) : config.storage
  return Object.freeze({ ...config, dataDir, storage })
}

/**
 * Returns how long a robot in a session may take to reconnect to another gateway before it counts as lost. The limit
 * equals the grace period of its operator, who reconnects as well.
 */
export const handoverMs = ({ operatorGraceMs, robotGraceMs, heartbeatTimeoutMs }: Config) =>
  Math.max(heartbeatTimeoutMs, Math.min(operatorGraceMs, robotGraceMs))
