import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { waitFor } from '../../support/world/wait.ts'

const SCRIPTS = fileURLToPath(new URL('../../../tools/scripts/', import.meta.url))

/** JavaScript that says in a file that it has come this far, and continues when the file `block` is gone. */
const BLOCK = `
  const { existsSync, writeFileSync } = require('node:fs')
  if (existsSync(process.env.CHECKOUT + '/block')) writeFileSync(process.env.CHECKOUT + '/blocked', '')
  while (existsSync(process.env.CHECKOUT + '/block')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
`
/** Programs in place of Vite and of pack.mjs. Each notes that it has begun, as `built` reads. */
const BUILDER = `
  const { appendFileSync, mkdirSync } = require('node:fs')
  appendFileSync(process.env.CHECKOUT + '/builds', 'x')
  const folder = process.argv[1 + Math.max(process.argv.indexOf('--outDir'), process.argv.indexOf('--to'))]
  mkdirSync(folder + '/assets', { recursive: true })
  ${BLOCK}
  writeFileSync(folder + '/assets/index.js', 'complete')
`

let root: string
let env: NodeJS.ProcessEnv
const inRoot = (path: string) => join(root, path)
const write = (path: string, content: string) => {
  mkdirSync(dirname(inRoot(path)), { recursive: true })
  writeFileSync(inRoot(path), content)
}

/** Creates a checkout with our scripts and two small packages in place of all others. */
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'wheelhouse-checkout-'))
  // With it, the embedded PostgreSQL may be missing. The npm of the machine, not that of node_modules.
  env = {
    ...process.env,
    DATABASE_URL: 'postgres://localhost/none',
    CHECKOUT: root,
    npm_config_cache: inRoot('.npm'),
  }
  cpSync(SCRIPTS, inRoot('tools/scripts'), { recursive: true })
  write(
    'tools/scripts/pack.mjs',
    `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n${BUILDER}`,
  )
  for (const name of ['packages/console', 'packages/sdk', 'packages/protocol', 'packages/cli'])
    write(`${name}/index.ts`, '')
  for (const name of ['tsconfig.json', 'LICENSE']) write(name, '')

  const bin = `#!/bin/sh\nexec '${process.execPath}' "$@"\n`
  const node = {
    name: 'node',
    version: '22.99.0',
    bin: 'bin/node',
    scripts: { postinstall: 'node block.cjs' },
  }
  write('sources/node/package.json', JSON.stringify(node))
  write('sources/node/bin/node', bin)
  chmodSync(inRoot('sources/node/bin/node'), 0o755)
  write('sources/node/block.cjs', BLOCK)
  write('sources/sockets/package.json', JSON.stringify({ name: 'uWebSockets.js', version: '1.0.0' }))
  write('sources/sockets/index.js', '')
  const npm = (...args: string[]) => execFileSync('npm', args, { cwd: root, env, encoding: 'utf8' })
  npm('pack', '--silent', './sources/node', './sources/sockets')
  const dependencies = { node: 'file:node-22.99.0.tgz', 'uWebSockets.js': 'file:uWebSockets.js-1.0.0.tgz' }
  write('package.json', JSON.stringify({ name: 'checkout', private: true, dependencies }))
  npm('install', '--package-lock-only', '--offline', '--no-audit')
  expect(await run('ensure-installed')).toMatchObject({
    code: 0,
    output: expect.stringContaining('Installing'),
  })
})
afterAll(() => rm(root, { recursive: true, force: true }))
const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) killGroup(child)
})
beforeEach(() => {
  for (const name of ['block', 'blocked', 'builds']) rmSync(inRoot(name), { force: true })
})

/** Starts a script in a new process group, which is killed at the end of the test at the latest. */
function start(script: string, args: readonly string[] = []) {
  const child = spawn(process.execPath, [inRoot(`tools/scripts/${script}.mjs`), ...args], {
    cwd: root,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  const exited = once(child, 'exit')
  const outputs = Promise.all([text(child.stdout), text(child.stderr)])
  const done = async () => ({ code: (await exited)[0] as number | null, output: (await outputs).join('') })
  return { child, done: done() }
}

const run = (script: string, args?: readonly string[]) => start(script, args).done

function killGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL')
  } catch {
    // all of its processes have ended
  }
}

/** Starts a script, and kills it while the program that it started is at work. */
async function killAtWork(script: string, what: 'the script only' | 'the whole group'): Promise<void> {
  write('block', '')
  const { child } = start(script)
  await waitFor(() => expect(existsSync(inRoot('blocked'))).toBe(true))
  if (what === 'the script only') child.kill('SIGKILL')
  else killGroup(child)
  await once(child, 'exit')
}

const unblock = () => rmSync(inRoot('block'))

describe('an installation', () => {
  const record = 'node_modules/.package-lock.json'
  const stamp = 'node_modules/.wheelhouse-install'

  test.each<[string, () => void]>([
    [
      'has only a part of the record of npm',
      () => {
        truncateSync(inRoot(record), 40)
        rmSync(inRoot(stamp))
      },
    ],
    [
      'has no record of npm',
      () => {
        rmSync(inRoot(record))
        rmSync(inRoot(stamp))
      },
    ],
    [
      'has all records but not all packages',
      () => rmSync(inRoot('node_modules/uWebSockets.js'), { recursive: true }),
    ],
    ['has no program', () => rmSync(inRoot('node_modules/.bin'), { recursive: true })],
    ['is gone', () => rmSync(inRoot('node_modules'), { recursive: true })],
  ])('that %s begins again', async (_, damage) => {
    damage()
    expect(await run('ensure-installed')).toMatchObject({
      code: 0,
      output: expect.stringContaining('Installing'),
    })
    expect(existsSync(inRoot('node_modules/uWebSockets.js/package.json'))).toBe(true)
    expect(await run('ensure-installed')).toEqual({ code: 0, output: '' })
  })

  test('by npm ci, which removes our stamp, is not repeated', async () => {
    rmSync(inRoot(stamp))
    expect(await run('ensure-installed')).toEqual({ code: 0, output: '' })
    expect(existsSync(inRoot(stamp))).toBe(true)
  })

  test('begins again after it was killed with npm', async () => {
    rmSync(inRoot('node_modules'), { recursive: true })
    await killAtWork('ensure-installed', 'the whole group')
    unblock()
    expect(await run('ensure-installed')).toMatchObject({
      code: 0,
      output: expect.stringContaining('Installing'),
    })
  })

  test('waits for the npm of a killed one: two in one folder destroy the work of each other', async () => {
    rmSync(inRoot('node_modules'), { recursive: true })
    await killAtWork('ensure-installed', 'the script only')
    const next = start('ensure-installed')
    await once(next.child.stdout, 'readable')
    unblock()
    expect(await next.done).toMatchObject({
      code: 0,
      output: expect.stringContaining('Waiting for the installation'),
    })
  })
})

describe.each([
  ['ensure-console', 'console.lock', 'packages/console/dist'],
  ['ensure-packages', 'packages.lock', 'dist/packages'],
])('a build by %s', (script, lock, target) => {
  beforeEach(() => {
    write('node_modules/vite/bin/vite.js', BUILDER)
    write('node_modules/typescript/bin/tsc', '')
    rmSync(inRoot(target), { recursive: true, force: true })
  })
  const expectComplete = () =>
    expect(readFileSync(inRoot(`${target}/assets/index.js`), 'utf8')).toBe('complete')
  const builds = () => readFileSync(inRoot('builds'), 'utf8').length

  test('is made once', async () => {
    expect((await run(script)).code).toBe(0)
    expectComplete()
    expect(await run(script)).toEqual({ code: 0, output: '' })
  })

  test('begins again after it was killed', async () => {
    await killAtWork(script, 'the whole group')
    unblock()
    expect((await run(script)).code).toBe(0)
    expectComplete()
    expect(builds()).toBe(2)
  })

  test('waits for the builder of a killed one, which writes into the same folder', async () => {
    await killAtWork(script, 'the script only')
    const next = start(script)
    await once(next.child.stdout, 'readable')
    expect(builds()).toBe(1)
    unblock()
    expect(await next.done).toMatchObject({ code: 0, output: expect.stringContaining('Waiting for') })
    expectComplete()
  })

  test.each([
    ['a process that has ended', ['4194304-1']],
    ['a process whose number another one has now', [`${process.pid}-1`]],
    ['a process that was killed before it wrote its name', []],
    ['an earlier version', ['pid']],
  ])('does not wait for the lock of %s', async (_, owners) => {
    mkdirSync(inRoot(`.data/${lock}`), { recursive: true })
    for (const owner of owners) write(`.data/${lock}/${owner}`, '')
    const { code, output } = await run(script)
    expect(code).toBe(0)
    expect(output).not.toContain('Waiting')
    expect(existsSync(inRoot(`.data/${lock}`))).toBe(false)
  })

  test('is made once by many processes that find the lock of a killed one', async () => {
    write(`.data/${lock}/4194304-1`, '')
    const outcomes = await Promise.all(Array.from({ length: 6 }, () => run(script)))
    expect(outcomes.map(({ code }) => code)).toEqual(Array(6).fill(0))
    expect(builds()).toBe(1)
    expectComplete()
  })
})

test('a program is not started after npm was killed during the preparation', async () => {
  write(
    'tools/scripts/ensure-slow.mjs',
    `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n${BLOCK}`,
  )
  write('block', '')
  const command = [process.execPath, inRoot('tools/scripts/run.mjs'), '--slow', 'node', '-p', '"started"']
  const npm = spawn('sh', ['-c', `"$@" & wait`, 'sh', ...command], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(npm)
  const output = text(npm.stdout)
  await waitFor(() => expect(existsSync(inRoot('blocked'))).toBe(true))
  npm.kill('SIGKILL')
  await once(npm, 'exit')
  unblock()
  // The output ends when the last process has ended.
  expect(await output).toBe('')
})
