import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/app/config.ts'
import { checkDevelopmentAccess } from '../../../src/roles/exposure.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts'
import { createBrowser } from '../../support/network/cookie-client.ts'
import { startWheelhouse } from '../../support/processes/processes.ts'

let database: TestDatabase
let dataDir: string
beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-insecure-'))
})
afterAll(async () => {
  await database.drop()
  await rm(dataDir, { recursive: true, force: true })
})

const start = (env: Record<string, string>) =>
  startWheelhouse({
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    DEMO: 'true',
    ...env,
  })

const signInPage = async (baseUrl: string) => (await createBrowser(baseUrl).go('/auth/login')).text

describe('the built-in identity provider and the demo', () => {
  test('refuse to start where other machines can connect, and name the alternatives', async () => {
    await using app = start({ HOST: '0.0.0.0' })

    expect(await app.exited).toMatchObject({ code: 1 })
    expect(app.errorOutput).toContain('the api listens on 0.0.0.0, where other machines can connect')
    for (const way of ['HOST=127.0.0.1', 'IDP_ISSUER', 'ALLOW_INSECURE_DEV=true'])
      expect(app.errorOutput).toContain(way)
  })

  test('start there with ALLOW_INSECURE_DEV=true; log, banner and sign-in page carry a warning', async () => {
    await using app = start({ HOST: '0.0.0.0', ALLOW_INSECURE_DEV: 'true' })
    const { baseUrl } = await app.serving()
    await app.line((text) => text.includes('Ctrl-C stops Wheelhouse'))

    expect(app.lines.find((line) => line.includes('INSECURE: '))).toContain('"level":40')
    expect(app.lines.find((line) => line.includes('WARNING: ALLOW_INSECURE_DEV=true'))).toBeDefined()
    expect(await signInPage(baseUrl)).toContain('open to the network')
  })

  test('need no permission and carry no warning on a loopback address', async () => {
    await using app = start({ HOST: '127.0.0.1' })
    const { baseUrl } = await app.serving()
    await app.line((text) => text.includes('Ctrl-C stops Wheelhouse'))

    expect(app.output()).not.toMatch(/INSECURE|WARNING/)
    expect(await signInPage(baseUrl)).not.toContain('open to the network')
  })
})

describe('the decision', () => {
  const check = (env: Record<string, string>, address: string) =>
    checkDevelopmentAccess(loadConfig(env), address)

  test.each(['127.0.0.1', '127.3.2.1', '::1', '::ffff:127.0.0.1'])(
    '%s is reachable from this machine only',
    (address) => {
      expect(check({}, address)).toBeUndefined()
    },
  )

  test.each(['0.0.0.0', '::', '192.168.1.4', 'fe80::1', '::ffff:10.0.0.1'])(
    '%s is reachable from other machines',
    (address) => {
      expect(() => check({}, address)).toThrow(`listens on ${address}`)
      expect(check({ ALLOW_INSECURE_DEV: 'true' }, address)).toContain(address)
    },
  )

  test('a proxy and a public BASE_URL count as reachable from other machines', () => {
    expect(() => check({ TRUST_PROXY: '1' }, '127.0.0.1')).toThrow('TRUST_PROXY')
    expect(() => check({ BASE_URL: 'https://hub.example' }, '127.0.0.1')).toThrow(
      'BASE_URL is https://hub.example',
    )
  })

  test('an external identity provider is safe on any address, the demo is not', () => {
    const provider = { IDP_ISSUER: 'https://id.example', IDP_AUDIENCE: 'wheelhouse' }
    expect(check(provider, '0.0.0.0')).toBeUndefined()
    expect(() => check({ ...provider, DEMO: 'true' }, '0.0.0.0')).toThrow('DEMO=false')
  })

  test('production rejects ALLOW_INSECURE_DEV', () => {
    expect(() => loadConfig({ NODE_ENV: 'production', ALLOW_INSECURE_DEV: 'true' })).toThrow(
      'ALLOW_INSECURE_DEV cannot be on in production',
    )
  })
})
