import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ajv from '@redocly/ajv'
import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Env, loadConfig } from '../../../src/app/config.ts'
import { isLoopback } from '../../../src/core/http/loopback.ts'
import { createTestCertificate } from '../../support/network/certificate.ts'
import { requireProgram } from '../../support/programs/installed-programs.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

const Service = z.object({
  image: z.string(),
  build: z.string().optional(),
  environment: z.record(z.string(), z.string()).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
})
const Compose = z.object({ services: z.record(z.string(), Service) })

const text = read('docker-compose.yml')
const { services } = Compose.parse(load(text))
const dockerfile = read('Dockerfile')
const haproxy = read('tools/haproxy.cfg')
/** The services that run Wheelhouse. */
const ours = Object.entries(services).filter(([, { build }]) => build !== undefined)

/** Fills in `${NAME:-default}` as Compose does; a required value that is missing is an error. */
function filledIn(value: string, env: Record<string, string>): string {
  return value.replaceAll(/\$\{(\w+):([-?])([^}]*)\}/g, (_all, name: string, kind: string, rest: string) => {
    if (env[name]) return env[name]
    if (kind === '?') throw new Error(`${name}: ${rest}`)
    return rest
  })
}

const environmentOf = (name: string, env: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(services[name]?.environment ?? {}).map(([key, value]) => [key, filledIn(value, env)]),
  )

const secrets = {
  SECRET_KEY: 'f'.repeat(64),
  POSTGRES_PASSWORD: '0123456789abcdef',
  TURN_SECRET: 'e'.repeat(64),
}
const production = { ...secrets, IDP_ISSUER: 'https://login.example', IDP_CLIENT_ID: 'wheelhouse' }
const trial = { ...secrets, NODE_ENV: 'development', DEMO: 'true', ALLOW_INSECURE_DEV: 'true' }

describe('docker-compose.yml', () => {
  test('conforms to the Compose Specification', () => {
    const schema = JSON.parse(read('test/support/compose/compose-spec.schema.json'))
    const validate = new ajv.default({ strict: false, allErrors: true, validateFormats: false }).compile(
      schema,
    )
    expect(validate(load(text)), JSON.stringify(validate.errors)).toBe(true)
    expect(validate({ services: { api: { image: 'x', healthchek: {} } } }), 'a schema that refuses').toBe(
      false,
    )
  })

  test('has two services of every role, the stores, a proxy, a TURN server and a mail catcher', () => {
    expect(Object.keys(services).sort()).toEqual([
      'api-1',
      'api-2',
      'gateway-1',
      'gateway-2',
      'hub-1',
      'hub-2',
      'mailpit',
      'media-1',
      'media-2',
      'postgres',
      'proxy',
      'recorder-1',
      'recorder-2',
      'redis',
      'turn',
      'worker-1',
      'worker-2',
    ])
    for (const [name, { environment }] of ours) expect(name).toBe(`${environment.ROLES}-${name.at(-1)}`)
  })

  test('names every image by an exact version', () => {
    const images = [...Object.values(services).map(({ image }) => image), ...baseImages()]
    for (const image of images) expect(image).toMatch(/^[a-z0-9/]+:v?\d+\.\d+(\.\d+)?(-[a-z]+\d*)*$/)
  })

  test('has a health check for every service, in the file or in the image', () => {
    const unchecked = Object.entries(services).filter(([, { build, healthcheck }]) => !build && !healthcheck)
    expect(unchecked.map(([name]) => name)).toEqual([])
    expect(dockerfile).toMatch(/^HEALTHCHECK .*CMD \[/m)
  })

  test('sets only existing settings', () => {
    const unknown = ours.flatMap(([name, { environment }]) =>
      Object.keys(environment)
        .filter((key) => !(key in Env.shape))
        .map((key) => `${name}: ${key}`),
    )
    expect(unknown).toEqual([])
    const image = [...dockerfile.matchAll(/^(?:ENV)? +([A-Z_]+)=/gm)].map(([, key]) => key as string)
    expect(image.length).toBeGreaterThan(4)
    expect(image.filter((key) => key !== 'PATH' && !(key in Env.shape))).toEqual([])
  })

  test('contains no secret, and names the step that creates them', () => {
    expect(text).toContain('content: ${TLS_PEM:?see step 1')
    for (const missing of Object.keys(secrets)) {
      const rest = Object.fromEntries(Object.entries(production).filter(([name]) => name !== missing))
      expect(() => environmentOf('api-1', rest), missing).toThrow(/step 1/)
    }
  })

  test.each(ours.map(([name]) => name))(
    '%s starts with its environment, in production and for a trial',
    (name) => {
      const config = loadConfig(environmentOf(name, production))
      expect(config).toMatchObject({ production: true, host: '0.0.0.0', trustedProxies: 1, demo: false })
      expect(loadConfig(environmentOf(name, trial)).demo).toBe(name === 'api-1')
      expect(() => loadConfig(environmentOf(name, secrets)), 'the built-in provider').toThrow(/IDP_ISSUER/)
    },
  )

  test('gives each gateway a separate public address, and the proxy all of them', () => {
    const addressOf = (name: string) => loadConfig(environmentOf(name, trial)).gatewayUrl
    const addresses = ['api-1', 'gateway-1', 'gateway-2'].map(addressOf)
    expect(new Set(addresses).size).toBe(3)
    const published = services.proxy?.ports.map((port) => port.split(':').at(-1))
    expect(published).toEqual(['8443', ...addresses.map((url) => new URL(url).port)])
    // A trial signs in over plain http, which the platform allows only on the local machine.
    expect(isLoopback(new URL(loadConfig(environmentOf('api-1', trial)).baseUrl).hostname)).toBe(true)
    expect(isLoopback('localhost.example')).toBe(false)
  })

  test('publishes the UDP port of each gateway with the number that the gateway announces', () => {
    const udpPorts = ['gateway-1', 'gateway-2'].map((name) => {
      const { dataChannel } = loadConfig(environmentOf(name, production))
      const published = services[name]!.ports.map((port) => filledIn(port, {}))
      expect(published).toEqual([`127.0.0.1:${dataChannel!.port}:${dataChannel!.port}/udp`])
      expect(dataChannel!.publicAddress).toBe('127.0.0.1')
      return dataChannel!.port
    })
    expect(new Set(udpPorts).size).toBe(2)
  })

  test('publishes both UDP ports of each media process with the numbers that it announces', () => {
    const udpPorts = ['media-1', 'media-2'].flatMap((name) => {
      const { port, relayPort, publicAddress } = loadConfig(environmentOf(name, production)).media
      const published = services[name]!.ports.map((entry) => filledIn(entry, {}))
      expect(published).toEqual([port, relayPort].map((number) => `127.0.0.1:${number}:${number}/udp`))
      expect(publicAddress).toBe('127.0.0.1')
      return [port, relayPort]
    })
    expect(new Set(udpPorts).size).toBe(4)
  })

  test('gives each recorder its address inside the network, and the storage', () => {
    const recorders = ours.filter(([name]) => name.startsWith('recorder'))
    expect(recorders).toHaveLength(2)
    for (const [name, { volumes }] of recorders) {
      const { recorder, storage } = loadConfig(environmentOf(name, production))
      expect(recorder.url).toBe(`ws://${name}:3005`)
      expect(dockerfile).toContain('RECORDER_PORT=3005')
      expect(storage.kind).toBe('local')
      expect(volumes).toEqual(services['api-1']!.volumes)
    }
  })

  test('publishes no port to other machines by default', () => {
    const ports = Object.values(services).flatMap((service) => service.ports)
    expect(ports.length).toBeGreaterThan(5)
    for (const port of ports) expect(filledIn(port, {})).toMatch(/^127\.0\.0\.1:/)
  })

  test('points the proxy to existing services and ports', () => {
    const wanted = Object.entries(services.proxy?.environment ?? {}).filter(([key]) => /_\d$/.test(key))
    expect(wanted).toHaveLength(6)
    for (const [key, address] of wanted) {
      const [name = '', port] = address.split(':')
      expect(name).toBe(key.toLowerCase().replace('_', '-'))
      const variable = { api: 'PORT', hub: 'HUB_PORT', gateway: 'GATEWAY_PORT' }[name.slice(0, -2)]
      expect(dockerfile).toContain(`${variable}=${port}`)
    }
  })
})

describe('Dockerfile', () => {
  test('builds in stages, installs from the lockfile without development dependencies, and runs as an unprivileged user', () => {
    expect(baseImages().length).toBeGreaterThan(1)
    expect(dockerfile).toMatch(/npm ci --omit=dev/)
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
    expect(last).toMatch(/^USER node$/m)
    expect(last.indexOf('USER node')).toBeLessThan(last.indexOf('\nCMD '))
  })

  test('copies only existing files that .dockerignore includes', () => {
    const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, list]) =>
      list!.split(' '),
    )
    expect(sources).toContain('src')
    const ignore = read('.dockerignore').split('\n')
    expect(ignore).toContain('*')
    for (const source of sources) {
      expect(existsSync(join(root, source)), source).toBe(true)
      expect(
        ignore.some((line) => line.startsWith('!') && `${source}/`.startsWith(`${line.slice(1)}/`)),
        source,
      ).toBe(true)
    }
  })
})

describe('haproxy.cfg', () => {
  const addresses = ['API_1', 'API_2', 'HUB_1', 'HUB_2', 'GATEWAY_1', 'GATEWAY_2']

  test('is valid, with the addresses of a cluster and with the names of containers', async () => {
    const local = Object.fromEntries(addresses.map((name, index) => [name, `127.0.0.1:${9_000 + index}`]))
    await using certificate = await createTestCertificate('wheelhouse.localhost')
    const containers = { ...services.proxy?.environment, TLS_CERTIFICATE: certificate.file }
    for (const env of [local, { ...local, TLS_CERTIFICATE: certificate.file }, containers]) {
      const filled = Object.entries(env).map(([key, value]) => [key, filledIn(value, {})])
      const { stdout, stderr } = await promisify(execFile)(
        requireProgram('haproxy', 'haproxy'),
        ['-c', '-f', join(root, 'tools/haproxy.cfg')],
        { env: Object.fromEntries(filled) },
      )
      expect(`${stdout}${stderr}`).toMatch(/valid/)
      const warnings = stderr.split('\n').filter((line) => line.startsWith('[WARNING]'))
      // The names of containers resolve only between containers; the proxy keeps retrying.
      expect(warnings.filter((line) => !line.includes('could not resolve address'))).toEqual([])
      if (env !== containers) expect(warnings).toEqual([])
    }
  })

  test('checks the readiness of every node', () => {
    expect(haproxy).toContain('http-check send meth GET uri /readyz')
    for (const name of addresses) expect(haproxy).toMatch(new RegExp(`"\\$\\{${name}\\}" check$`, 'm'))
  })
})

function baseImages(): string[] {
  return [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image as string)
}
