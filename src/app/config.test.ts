import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from './config.ts'

/** Returns the message of the error that `loadConfig` throws for this environment. */
function refusal(env: Record<string, string>): string {
  try {
    loadConfig(env)
  } catch (cause) {
    return (cause as Error).message
  }
  throw new Error('loadConfig accepted the environment')
}

const production = {
  NODE_ENV: 'production',
  SECRET_KEY: 'x'.repeat(32),
  IDP_ISSUER: 'https://id.example',
  IDP_AUDIENCE: 'wheelhouse',
}
const shared = { DATABASE_URL: 'postgres://localhost/wheelhouse', REDIS_URL: 'redis://localhost' }

test('an empty environment starts all roles on this machine, with a demo', () => {
  expect(loadConfig({})).toMatchObject({
    production: false,
    roles: ['api', 'hub', 'gateway', 'worker', 'media', 'recorder'],
    databaseUrl: undefined,
    redisUrl: undefined,
    dataDir: resolve('./.data'),
    host: '127.0.0.1',
    port: 3000,
    hubPort: 3001,
    gatewayPort: 3002,
    workerPort: undefined,
    media: { port: 3004 },
    recorder: { port: 3005 },
    baseUrl: 'http://localhost:3000',
    gatewayUrl: 'ws://localhost:3002',
    idp: undefined,
    adminEmails: [],
    mail: undefined,
    corsOrigins: [],
    trustedProxies: 0,
    rateLimits: { perMinute: 1_200, publicPerMinute: 300 },
    metricsToken: undefined,
    logLevel: 'info',
    demo: true,
    heartbeatIntervalMs: 1_000,
    heartbeatTimeoutMs: 3_500,
    deadmanMs: 250,
    operatorGraceMs: 10_000,
    robotGraceMs: 120_000,
  })
})

test('every variable is read', () => {
  const config = loadConfig({
    ...production,
    ...shared,
    ROLES: 'api, gateway',
    DATA_DIR: '/var/lib/wheelhouse',
    PORT: '0',
    HUB_PORT: '1',
    GATEWAY_PORT: '65535',
    WORKER_PORT: '9000',
    HOST: '10.0.0.1',
    BASE_URL: 'https://hub.example/',
    GATEWAY_URL: 'wss://gateway-1.example/',
    IDP_JWKS_URL: 'https://id.example/jwks',
    IDP_CLIENT_ID: 'dashboard',
    IDP_CLIENT_SECRET: 'shh',
    ADMIN_EMAILS: 'Root@Example.com, ops@example.com,',
    SMTP_URL: 'smtps://user:p%40ss@mail.example:465',
    MAIL_FROM: 'Wheelhouse <hub@example.com>',
    CONTACT_TO: 'support@example.com',
    CORS_ORIGINS: 'https://a.example,https://b.example',
    TRUST_PROXY: 'true',
    RATE_LIMIT_PER_MINUTE: '600',
    RATE_LIMIT_PUBLIC_PER_MINUTE: '0',
    METRICS_TOKEN: 'a token for metrics',
    LOG_LEVEL: 'warn',
    DEMO: 'false',
    HEARTBEAT_INTERVAL_MS: '500',
    HEARTBEAT_TIMEOUT_MS: '1000',
    DEADMAN_MS: '100',
    OPERATOR_GRACE_MS: '0',
    ROBOT_GRACE_MS: '5000',
  })
  expect(config).toMatchObject({
    production: true,
    roles: ['api', 'gateway'],
    databaseUrl: shared.DATABASE_URL,
    redisUrl: shared.REDIS_URL,
    dataDir: '/var/lib/wheelhouse',
    host: '10.0.0.1',
    port: 0,
    hubPort: 1,
    gatewayPort: 65_535,
    workerPort: 9_000,
    baseUrl: 'https://hub.example',
    baseUrlFromPort: false,
    gatewayUrl: 'wss://gateway-1.example',
    gatewayUrlFromPort: false,
    idp: {
      issuer: 'https://id.example',
      audience: 'wheelhouse',
      jwksUrl: 'https://id.example/jwks',
      clientId: 'dashboard',
      clientSecret: 'shh',
    },
    secretKey: production.SECRET_KEY,
    adminEmails: ['root@example.com', 'ops@example.com'],
    mail: {
      url: 'smtps://user:p%40ss@mail.example:465',
      from: { name: 'Wheelhouse', address: 'hub@example.com' },
      contactTo: 'support@example.com',
    },
    corsOrigins: ['https://a.example', 'https://b.example'],
    trustedProxies: 1,
    rateLimits: { perMinute: 600, publicPerMinute: 0 },
    metricsToken: 'a token for metrics',
    logLevel: 'warn',
    demo: false,
    heartbeatIntervalMs: 500,
    heartbeatTimeoutMs: 1_000,
    deadmanMs: 100,
    operatorGraceMs: 0,
    robotGraceMs: 5_000,
  })
})

test('only a default data directory is replaced while another platform uses it: processes may share one that is set', () => {
  const env = { PORT: '4100' }
  expect(loadConfig(env).separateDataDir).toBe(resolve('.data/port-4100'))
  expect(loadConfig({ ...env, DATA_DIR: '/var/lib/wheelhouse' }).separateDataDir).toBeUndefined()
  expect(loadConfig({ ...env, DATABASE_URL: shared.DATABASE_URL }).separateDataDir).toBeUndefined()
})

test('the configuration cannot be changed', () => {
  expect(Object.isFrozen(loadConfig({}))).toBe(true)
})

test('an empty variable means unset', () => {
  expect(loadConfig({ PORT: '', DATABASE_URL: '', DEMO: '', ROLES: '' })).toMatchObject({
    port: 3000,
    databaseUrl: undefined,
    demo: true,
    roles: ['api', 'hub', 'gateway', 'worker', 'media', 'recorder'],
  })
})

test.each([
  ['PORT', 'http'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['GATEWAY_PORT', '3002.5'],
  ['ROLES', 'api,robot'],
  ['ROLES', ','],
  ['DATABASE_URL', 'mysql://localhost/x'],
  ['DATABASE_URL', 'localhost'],
  ['REDIS_URL', 'http://localhost'],
  ['REDIS_URL', 'redis://localhost,http://localhost'],
  ['REDIS_URL', 'redis://a:secret@localhost,redis://localhost'],
  ['REDIS_URL', ','],
  ['BASE_URL', 'ftp://hub.example'],
  ['BASE_URL', 'https://hub.example/teleop'],
  ['CORS_ORIGINS', 'https://console.example/app'],
  ['CORS_ORIGINS', 'https://me:secret@console.example'],
  ['OPERATOR_GRACE_MS', '3000000000'],
  ['GATEWAY_URL', 'https://gateway.example'],
  ['IDP_ISSUER', 'id.example'],
  ['SECRET_KEY', 'too short'],
  ['SMTP_URL', 'mail.example:25'],
  ['SMTP_URL', 'http://mail.example'],
  ['SMTP_URL', 'smtp:///path'],
  ['MAIL_FROM', 'Wheelhouse'],
  ['MAIL_FROM', 'Wheelhouse <hub@example.com>, x'],
  ['MAIL_FROM', 'a\r\nBcc: x@example.com <hub@example.com>'],
  ['CONTACT_TO', 'a@example.com,b@example.com'],
  ['TRUST_PROXY', 'yes'],
  ['TRUST_PROXY', '-1'],
  ['RATE_LIMIT_PER_MINUTE', '-1'],
  ['RATE_LIMIT_PUBLIC_PER_MINUTE', 'none'],
  ['METRICS_TOKEN', 'too short'],
  ['DEMO', 'maybe'],
  ['LOG_LEVEL', 'loud'],
  ['HEARTBEAT_INTERVAL_MS', '1s'],
  ['HEARTBEAT_TIMEOUT_MS', '0'],
  ['DEADMAN_MS', '-5'],
  ['OPERATOR_GRACE_MS', '1.5'],
])('%s=%s is rejected with the name of the variable', (name, value) => {
  expect(refusal({ [name]: value })).toContain(name)
})

describe('processes that run only some roles', () => {
  test.each(['api', 'hub', 'gateway', 'worker', 'api,hub,gateway'])(
    '%s requires PostgreSQL and Redis',
    (roles) => {
      const message = refusal({ ROLES: roles })
      expect(message).toContain('DATABASE_URL is required')
      expect(message).toContain('REDIS_URL is required')
      expect(message).toContain(`ROLES=${roles}`)
      expect(refusal({ ROLES: roles, DATABASE_URL: shared.DATABASE_URL })).not.toContain('DATABASE_URL is')
      expect(loadConfig({ ...shared, ROLES: roles }).roles).toEqual(roles.split(','))
    },
  )

  test('a process with all four roles by name needs neither service', () => {
    expect(loadConfig({ ROLES: 'worker,gateway,hub,api' }).roles).toHaveLength(4)
  })
})

describe('production', () => {
  test('listens on every address and has no demo', () => {
    expect(loadConfig(production)).toMatchObject({ production: true, host: '0.0.0.0', demo: false })
  })

  test.each([
    ['SECRET_KEY', { SECRET_KEY: '' }],
    ['IDP_ISSUER', { IDP_ISSUER: '' }],
    ['DEMO', { DEMO: 'true' }],
  ])('rejects %s', (name, change) => {
    expect(refusal({ ...production, ...change })).toContain(name)
  })
})

test('an identity provider without an audience or client id is rejected, because its tokens cannot be validated', () => {
  expect(refusal({ IDP_ISSUER: 'https://id.example' })).toContain('IDP_AUDIENCE')
  const config = loadConfig({ IDP_ISSUER: 'https://id.example', IDP_CLIENT_ID: 'dashboard' })
  expect(config.idp?.audience).toBe('dashboard')
})

test('a mail server requires a sender and a receiver, which may also be set without a mail server', () => {
  const SMTP_URL = 'smtp://127.0.0.1:25'
  expect(refusal({ SMTP_URL })).toMatch(/MAIL_FROM is required[\s\S]*CONTACT_TO is required/)
  expect(refusal({ SMTP_URL, MAIL_FROM: 'hub@localhost' })).not.toContain('MAIL_FROM')
  const users = { MAIL_FROM: 'hub@localhost', CONTACT_TO: 'me@localhost' }
  expect(loadConfig({ SMTP_URL, ...users }).mail).toEqual({
    url: SMTP_URL,
    from: { name: '', address: 'hub@localhost' },
    contactTo: 'me@localhost',
  })
  expect(loadConfig(users).mail).toBeUndefined()
  expect(refusal({ SMTP_URL: 'smtp://user:hunter2@host:port' })).not.toContain('hunter2')
})

test('a heartbeat timeout below two intervals is rejected', () => {
  expect(refusal({ HEARTBEAT_INTERVAL_MS: '1000', HEARTBEAT_TIMEOUT_MS: '1999' })).toContain(
    'HEARTBEAT_TIMEOUT_MS',
  )
})

test('real-time scheduling needs the thread of the gateway', () => {
  expect(loadConfig({ GATEWAY_REALTIME: 'true' }).gatewayRealTime).toBe(true)
  expect(refusal({ GATEWAY_REALTIME: 'true', GATEWAY_THREAD: 'false' })).toContain('GATEWAY_REALTIME')
})

test('origins are normalized to the form that browsers send', () => {
  const config = loadConfig({
    BASE_URL: 'https://Hub.Example:443/',
    CORS_ORIGINS: 'https://Console.Example/, http://localhost:5173',
  })
  expect(config.baseUrl).toBe('https://hub.example')
  expect(config.corsOrigins).toEqual(['https://console.example', 'http://localhost:5173'])
})

test.each([shared, { DATABASE_URL: shared.DATABASE_URL }, { REDIS_URL: shared.REDIS_URL }])(
  'with %o the demo is off unless DEMO is set',
  (env) => {
    expect(loadConfig(env).demo).toBe(false)
    expect(loadConfig({ ...env, DEMO: 'true' }).demo).toBe(true)
  },
)

describe('the networks of webhooks', () => {
  const networks = (env: Record<string, string>) => loadConfig(env).webhookNetworks
  const loopback = { WEBHOOK_ALLOW_LOOPBACK: 'true' }

  test('are public ones by default', () => {
    for (const env of [{}, { HOST: '127.0.0.1' }, { HOST: '0.0.0.0' }, production])
      expect(networks(env)).toEqual([])
    expect(networks({ ...production, WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, fd00::/8' })).toEqual([
      '10.0.0.0/8',
      'fd00::/8',
    ])
    expect(networks({ WEBHOOK_ALLOWED_NETWORKS: 'none' })).toEqual([])
    expect(() => networks({ WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0' })).toThrow('WEBHOOK_ALLOWED_NETWORKS')
  })

  test('contain this machine only with its own setting', () => {
    expect(networks(loopback)).toEqual(['127.0.0.0/8', '::1/128'])
    expect(networks({ ...loopback, WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8' })).toEqual([
      '10.0.0.0/8',
      '127.0.0.0/8',
      '::1/128',
    ])
    const own = [
      '127.0.0.0/8',
      '127.0.0.1/32',
      '0.0.0.0/0',
      '0.0.0.0/32',
      '::1/128',
      '::/0',
      '::/128',
      '10.0.0.0/8,::1/128',
    ]
    for (const list of own) {
      expect(() => networks({ WEBHOOK_ALLOWED_NETWORKS: list }), list).toThrow('use WEBHOOK_ALLOW_LOOPBACK')
    }
  })

  test('may not contain this machine if other machines can reach the platform', () => {
    const local = [
      'http://localhost:3000',
      'http://127.0.0.1:3000',
      'http://[::1]:3000',
      'http://hub.localhost',
    ]
    for (const url of local) expect(networks({ ...loopback, BASE_URL: url }), url).toHaveLength(2)
    for (const url of [
      'https://hub.example.com',
      'http://192.168.1.5:3000',
      'https://localhost.example.com',
    ]) {
      expect(() => networks({ ...loopback, BASE_URL: url }), url).toThrow('public BASE_URL')
    }
    for (const count of ['1', 'true']) {
      expect(() => networks({ ...loopback, TRUST_PROXY: count })).toThrow(
        'WEBHOOK_ALLOW_LOOPBACK cannot be on behind',
      )
    }
  })
})

test('one error reports every problem with its variable', () => {
  const message = refusal({
    NODE_ENV: 'production',
    ROLES: 'gateway',
    PORT: 'http',
    LOG_LEVEL: 'loud',
    HEARTBEAT_INTERVAL_MS: '5000',
    DEMO: 'true',
  })
  const named = [
    'PORT',
    'LOG_LEVEL',
    'DATABASE_URL',
    'REDIS_URL',
    'SECRET_KEY',
    'IDP_ISSUER',
    'HEARTBEAT_TIMEOUT_MS',
    'DEMO',
  ]
  expect(named.filter((name) => !message.includes(name))).toEqual([])
})
