import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { builtinModules, createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Installation, installPackages, packInto } from '../../support/packages/packages.ts'

// Packs the packages like `npm run pack`, installs them with npm into an empty folder, and uses them there.

const root = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)
/** Folder of each package, by name. */
const parts: Record<string, string> = {
  '@wheelhouse/protocol': 'protocol',
  '@wheelhouse/sdk': 'sdk',
  '@wheelhouse/cli': 'cli',
}
/** The packages whose code each package contains, each in a folder of its name. */
const contained: Record<string, readonly string[]> = {
  protocol: [],
  sdk: ['protocol'],
  cli: ['protocol', 'sdk'],
}

/** Returns the source of a file in a package, as part and path. */
function originOf(part: string, path: string): readonly [part: string, path: string] {
  const [folder = '', ...rest] = path.split('/')
  return contained[part]?.includes(folder) ? [folder, rest.join('/')] : [part, path]
}
const LIMIT_MS = 600_000

let installed: Installation
beforeAll(async () => {
  installed = await installPackages(['@types/node@22.20.5'])
}, LIMIT_MS)
afterAll(async () => await installed?.[Symbol.asyncDispose]())

/** Returns all files of an installed package, by path. */
async function filesOf(name: string): Promise<Map<string, string>> {
  const entries = await readdir(installed.of(name), { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.of(name).length + 1))
    .filter((path) => !path.startsWith('node_modules/'))
  return new Map(
    await Promise.all(
      paths.map(async (path) => [path, await readFile(join(installed.of(name), path), 'utf8')] as const),
    ),
  )
}

describe.each(Object.entries(parts))('%s', (name, part) => {
  test('contains only its own code and that of its Wheelhouse dependencies, as JavaScript', async () => {
    const files = await filesOf(name)
    const about = ['package.json', 'README.md', 'LICENSE']
    const code = [...files.keys()].filter((path) => !about.includes(path))
    const foreign = code.filter((path) => {
      const stem = path.replace(/\.(js|d\.ts|js\.map)$/, '')
      const source = join(root, 'packages', ...originOf(part, stem))
      return stem === path || !['.ts', '.d.ts'].some((end) => existsSync(source + end))
    })
    expect(foreign).toEqual([])
    for (const path of about) expect(files.get(path), path).toMatch(/\S/)
    expect(code.length).toBeGreaterThan(5)
  })

  test('imports only files that it contains and packages that it declares', async () => {
    const files = await filesOf(name)
    const { dependencies, peerDependencies = {}, imports = {} } = JSON.parse(files.get('package.json')!)
    const pattern =
      /^(?:import|export)\s[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]/gm
    const lost = [...files].flatMap(([path, text]) =>
      /\.(js|d\.ts)$/.test(path)
        ? [...text.matchAll(pattern)]
            .map((match) => (match[1] ?? match[2] ?? match[3]) as string)
            .filter((specifier) => {
              if (specifier.startsWith('.')) {
                const target = join(path, '..', specifier)
                return (
                  !files.has(target) && !(path.endsWith('.d.ts') && files.has(target.replace(/js$/, 'd.ts')))
                )
              }
              const [scope, second] = specifier.split('/')
              const dependency = scope?.startsWith('@') ? `${scope}/${second}` : scope!
              const declared = { ...dependencies, ...peerDependencies }
              const known = dependency in declared || specifier in imports
              return !known && !specifier.startsWith('node:') && !builtinModules.includes(specifier)
            })
            .map((specifier) => `${path}: ${specifier}`)
        : [],
    )
    expect(lost).toEqual([])
    expect(Object.keys(dependencies).filter((dependency) => dependency in parts)).toEqual([])
  })

  test('contains no paths of the build machine, and its source maps contain the sources', async () => {
    for (const [path, text] of await filesOf(name)) {
      expect(text.includes(root) || text.includes(tmpdir()), path).toBe(false)
      if (!path.endsWith('.map')) continue
      const map = JSON.parse(text)
      const source = originOf(part, path.replace('.js.map', '.ts')).join('/')
      expect(map.sources, path).toEqual([`wheelhouse:///${source}`])
      expect(map.sourcesContent[0], path).toBe(await readFile(join(root, 'packages', source), 'utf8'))
    }
  })

  test('has a complete manifest for a registry', async () => {
    const manifest = JSON.parse(await readFile(join(installed.of(name), 'package.json'), 'utf8'))
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    expect(manifest).toMatchObject({ name, version, type: 'module', license: 'Apache-2.0' })
    expect(manifest).toMatchObject({ description: expect.any(String), keywords: expect.any(Array) })
    expect(manifest.engines).toEqual({ node: '>=22.12' })
    for (const field of ['private', 'scripts', 'devDependencies', 'workspaces'])
      expect(manifest, field).not.toHaveProperty(field)
    for (const [dependency, range] of Object.entries(manifest.dependencies))
      expect(range, dependency).toMatch(/^\^\d/)
  })
})

test('the same sources produce the same bytes', { timeout: LIMIT_MS }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wheelhouse-pack-again-'))
  try {
    const again = await packInto(folder)
    expect(again.map((file) => basename(file))).toEqual(installed.tarballs.map((file) => basename(file)))
    for (const [index, file] of again.entries()) {
      const [first, other] = await Promise.all([readFile(file), readFile(installed.tarballs[index]!)])
      expect(first.equals(other), basename(file)).toBe(true)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

describe('types', () => {
  const program = `
import { closeCodes, ToRobotFrame } from '@wheelhouse/protocol'
import {
  answerOf, createRestClient, HubClient, ObserverLink, OperatorLink, RobotLink, type Schemas, type SessionLinkState, SimulatedRobot,
  ticketsOf, type Welcome, WatcherLink,
} from '@wheelhouse/sdk'

export const rest = createRestClient({ baseUrl: 'http://127.0.0.1', token: async () => 'key', retry: { attempts: 2 } })
export async function names(): Promise<string[]> {
  const robots: Schemas['Robot'][] = await answerOf(rest.GET('/api/client/robots'))
  // @ts-expect-error the field does not exist
  robots[0]?.nothing
  // @ts-expect-error the route does not exist
  rest.GET('/api/nowhere')
  // @ts-expect-error a robot is registered with a name
  rest.POST('/api/client/robots', { body: { robot_type: 'a', hardware_id: 'b' } })
  return robots.map(({ name }) => name)
}
export const robot = new RobotLink({ url: 'ws://127.0.0.1', token: 't', onWelcome: (first: Welcome) => first.epoch })
export const operator: OperatorLink = new OperatorLink({
  getTicket: ticketsOf({ baseUrl: '', token: '', sessionId: '', part: 'control' }),
  onState: (state: SessionLinkState) => state.stop?.reason,
  onDropped: (seq, why) => [seq.toFixed(), why === 'latency', closeCodes.draining.code],
})
export const sent: number | null = operator.control({ linear_mps: 1 })
// @ts-expect-error internals of a link are not public
operator.life
// @ts-expect-error an observer link has no control
export const observer = new ObserverLink({ getTicket: async () => ({ url: '', ticket: '' }) }).control({})
/** The deprecated name. */
export const watcher: ObserverLink = new WatcherLink({ getTicket: async () => ({ url: '', ticket: '' }) })
export const hub = new HubClient({ url: '', token: '' })
hub.watch('', { onEvent: ({ seq, type }) => [seq.toFixed(), type.length] })
export const simulated = new SimulatedRobot({ url: '', token: '' }).state.xM.toFixed()
export const frame = ToRobotFrame.parse({})
// @ts-expect-error rooms are for hubs
import('@wheelhouse/protocol').then(({ rooms }) => rooms)
// @ts-expect-error every frame has one of the known types
frame.type === 'nothing'
`
  test.each([
    // A server program has no DOM types; a page has no Node types.
    ['nodenext', { module: 'nodenext', lib: ['es2024'], types: ['node'] }],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler', lib: ['es2024', 'dom'], types: [] }],
  ])(
    'are complete for a strict program with moduleResolution %s',
    { timeout: LIMIT_MS },
    async (name, options) => {
      const folder = join(installed.folder, name)
      await mkdir(folder)
      const compilerOptions = {
        ...options,
        target: 'es2024',
        strict: true,
        noEmit: true,
        skipLibCheck: false,
      }
      await writeFile(join(folder, 'program.ts'), program)
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
      const compiler = createRequire(import.meta.url)
        .resolve('typescript/package.json')
        .replace('package.json', 'bin/tsc')
      const { stdout } = await run(process.execPath, [compiler, '--project', folder]).catch(
        (failed) => failed,
      )
      expect(stdout).toBe('')
    },
  )
})

test('the libraries support `require` too', async () => {
  const program = `
    const { RobotLink, HubClient } = require('@wheelhouse/sdk')
    const { RobotFrame } = require('@wheelhouse/protocol')
    console.log(typeof RobotLink, typeof HubClient, RobotFrame.parse({ type: 'ack', seq: 1 }).seq)`
  await installed.write('program.cjs', program)
  expect((await installed.run('node', ['program.cjs'])).stdout).toBe('function function 1\n')
})

describe('wheelhouse', () => {
  test('prints its version and its commands', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'packages/cli/package.json'), 'utf8'))
    expect(await installed.run('wheelhouse', ['--version'])).toEqual({ stdout: `${version}\n`, stderr: '' })
    const help = await installed.run('wheelhouse', ['--help'])
    expect(help.stdout).toMatch(/^Usage: wheelhouse/)
    expect(help.stdout).toContain('robots')
  })

  test('loads none of the dependencies of its commands for its help', async () => {
    const loaded = `
      import { registerHooks } from 'node:module'
      const seen = []
      registerHooks({ load(url, context, next) { seen.push(url); return next(url, context) } })
      process.on('exit', () => process.stderr.write(seen.join('\\n')))`
    await installed.write('loaded.mjs', loaded)
    const main = join(installed.of('@wheelhouse/cli'), 'main.js')
    const { stderr } = await installed.run('node', ['--import', './loaded.mjs', main, '--help'])
    const packages = new Set(
      [...stderr.matchAll(/node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//g)].map(([, name]) => name),
    )
    expect(packages).toContain('commander')
    for (const heavy of ['zod', 'ws', 'socket.io-client', '@modelcontextprotocol/server'])
      expect([...packages]).not.toContain(heavy)
    expect(stderr).not.toMatch(/cli\/(sdk|protocol)\//)
  })
})
