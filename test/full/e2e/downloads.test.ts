import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { downloadsPage } from '../../../src/roles/api/site/downloads-page.ts'
import { startLocalRegistry } from '../../support/packages/local-registry.ts'
import { ensurePackages } from '../../support/packages/packages.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// The packages that a running platform serves, installed by npm from its address.

const LIMIT_MS = 600_000
const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
const parts = ['cli', 'sdk', 'protocol'] as const
const run = promisify(execFile)

let world: World
let registry: Awaited<ReturnType<typeof startLocalRegistry>>
let home: string
beforeAll(async () => {
  await ensurePackages()
  world = await createWorld()
  registry = await startLocalRegistry()
  home = await mkdtemp(join(tmpdir(), 'wheelhouse-downloads-'))
}, LIMIT_MS)
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await registry?.[Symbol.asyncDispose]()
  await rm(home, { recursive: true, force: true })
})

const addressOf = (part: string) => `${world.baseUrl}/downloads/wheelhouse-${part}-${version}.tgz`

/** Returns the text of the page: markup removed, entities decoded. */
async function pageText(): Promise<string> {
  const answer = await fetch(`${world.baseUrl}/downloads`)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('Content-Type')).toMatch(/^text\/html/)
  return (await answer.text()).replaceAll(/<[^>]+>/g, '').replaceAll('&amp;', '&')
}

/** Runs npm in a new, empty folder that is configured for the local registry only. */
async function npmIn(name: string) {
  const folder = join(home, name)
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const env = {
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    HOME: home,
    npm_config_registry: registry.url,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  }
  return {
    folder,
    /** Runs a command line of the page, word by word. */
    run: async (command: string) => {
      const [program = '', ...args] = command.split(' ')
      const file = program === 'node' ? process.execPath : program
      return (await run(file, args, { cwd: folder, env })).stdout
    },
  }
}

describe('the page', () => {
  test('shows every command with the address of this platform, and the hash of every file', async () => {
    const text = await pageText()
    expect(text).toContain(`npm install --global --allow-remote=root ${addressOf('cli')}`)
    expect(text).toContain(`wheelhouse login ${world.baseUrl}`)
    for (const part of ['sdk', 'protocol'])
      expect(text).toContain(`npm install --allow-remote=root ${addressOf(part)}`)
    for (const part of parts) {
      const bytes = Buffer.from(await (await fetch(addressOf(part))).arrayBuffer())
      expect(text).toContain(`sha512-${createHash('sha512').update(bytes).digest('base64')}`)
    }
  })

  test('runs no script, and the front page links to it', async () => {
    const { headers } = await fetch(`${world.baseUrl}/downloads`)
    expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'")
    expect(await (await fetch(world.baseUrl)).text()).toContain('href="/downloads"')
  })

  test('escapes the address and follows BASE_URL', async () => {
    await using other = await serve({ baseUrl: 'https://hub.example/"><script>' })
    const text = await (await fetch(`${other.url}/downloads`)).text()
    expect(text).toContain('https://hub.example/&quot;&gt;&lt;script&gt;/downloads/wheelhouse-sdk-')
    expect(text).not.toContain('<script>')
  })
})

describe('a file', () => {
  test.each(parts)('%s is sent with an ETag, and not again while it is unchanged', async (part) => {
    const first = await fetch(addressOf(part))
    expect(first.status).toBe(200)
    expect(first.headers.get('Content-Type')).toBe('application/gzip')
    expect(first.headers.get('Content-Disposition')).toContain(`wheelhouse-${part}-${version}.tgz`)
    expect(first.headers.get('X-Content-Type-Options')).toBe('nosniff')
    expect(first.headers.get('Cache-Control')).toBe('public, no-cache')
    const bytes = await first.arrayBuffer()
    expect(first.headers.get('Content-Length')).toBe(String(bytes.byteLength))
    const etag = first.headers.get('ETag') ?? ''
    expect(etag).toMatch(/^"sha512-/)
    expect(await statusOf(addressOf(part), { 'If-None-Match': etag })).toBe(304)
    expect(await statusOf(addressOf(part), { 'If-None-Match': '"sha512-other"' })).toBe(200)
    const head = await fetch(addressOf(part), { method: 'HEAD' })
    expect([head.status, head.headers.get('Content-Length')]).toEqual([200, String(bytes.byteLength)])
  })

  test.each(parts)(
    '%s has an address without its version, which redirects to the current version',
    async (part) => {
      const address = `${world.baseUrl}/downloads/wheelhouse-${part}.tgz`
      const answer = await fetch(address, { redirect: 'manual' })
      expect([answer.status, answer.headers.get('Location')]).toEqual([
        302,
        `/downloads/wheelhouse-${part}-${version}.tgz`,
      ])
    },
  )

  test('is refused when it is not one of the three, and for methods other than GET and HEAD', async () => {
    const names = ['stamp', '', 'wheelhouse-sdk-9.9.9.tgz', '..%2f..%2fpackage.json', '%2e%2e/stamp', 'sdk/']
    for (const name of names) {
      const answer = await fetch(`${world.baseUrl}/downloads/${name}`)
      expect(answer.status, name).toBe(404)
    }
    const posted = await fetch(addressOf('sdk'), { method: 'POST' })
    expect([posted.status, posted.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('is replaced in a running platform when it is packed again', async () => {
    const folder = join(home, 'packed')
    await mkdir(folder)
    await using other = await serve({ baseUrl: 'http://localhost', folder })
    expect((await fetch(`${other.url}/downloads`)).status).toBe(503)
    expect(await (await fetch(`${other.url}/downloads`)).text()).toContain('npm run pack')
    for (const content of ['one', 'another']) {
      await writeFile(join(folder, 'wheelhouse-sdk-1.2.3.tgz'), content)
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => fetch(`${other.url}/downloads/wheelhouse-sdk.tgz`)),
      )
      for (const answer of answers) expect(await answer.text()).toBe(content)
    }
  })
})

describe('npm', () => {
  test.each([
    ['sdk', "import('@wheelhouse/sdk').then(({RobotLink})=>console.log(typeof(RobotLink)))", 'function\n'],
    ['protocol', "import('@wheelhouse/protocol').then(({rooms})=>console.log(typeof(rooms)))", 'object\n'],
  ])('installs %s from a single address', async (part, program, printed) => {
    const npm = await npmIn(part)
    await npm.run(`npm install --allow-remote=root ${addressOf(part)}`)
    expect(await npm.run(`node --eval ${program}`)).toBe(printed)
    const lock = JSON.parse(await readFile(join(npm.folder, 'package-lock.json'), 'utf8'))
    const bytes = Buffer.from(await (await fetch(addressOf(part))).arrayBuffer())
    expect(lock.packages[`node_modules/@wheelhouse/${part}`]).toMatchObject({
      resolved: addressOf(part),
      integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
    })
    expect(await readdir(join(npm.folder, 'node_modules/@wheelhouse'))).toEqual([part])
    await rm(join(npm.folder, 'node_modules'), { recursive: true })
    await npm.run('npm ci --allow-remote=root')
    expect(await npm.run(`node --eval ${program}`)).toBe(printed)
  })

  test('runs the command line from its address, without installing it', async () => {
    const npm = await npmIn('npx')
    expect(await npm.run(`npx --yes --allow-remote=root ${addressOf('cli')} --version`)).toBe(`${version}\n`)
    const status = await npm.run(
      `npx --yes --allow-remote=root ${addressOf('cli')} status --json --server ${world.baseUrl}`,
    )
    expect(JSON.parse(status)).toMatchObject({ server: world.baseUrl })
  })

  test('requests none of our names from a registry', async () => {
    expect(registry.requested.length).toBeGreaterThan(3)
    expect(registry.requested.filter((path) => path.includes('wheelhouse'))).toEqual([])
  })
})

/** Sends a request as a cache does; `fetch` requests a full response whenever it sends an ETag. */
async function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  get(url, { headers }, (answer) => resolve(answer.resume().statusCode)).on('error', reject)
  return await promise
}

/** Serves only the page. */
async function serve(parts: Parameters<typeof downloadsPage>[0]) {
  const server = createServer(new Koa().use(downloadsPage(parts)).callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
