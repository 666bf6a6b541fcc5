import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ensurePackages } from '../../support/packages/packages.ts'
import { python } from '../../support/programs/external-programs.ts'
import { withMedia } from '../../support/video/video-fixture.ts'
import { tolerateLatency } from '../../support/world/session-fixtures.ts'
import { waitFor } from '../../support/world/wait.ts'
import { createWorld, type World } from '../../support/world/world.ts'

// The package for Python, installed by pip from the index of a running platform.

const LIMIT_MS = 600_000
const run = promisify(execFile)
const script = (name: string) => fileURLToPath(new URL(`../../support/python/${name}`, import.meta.url))

let world: World
let home: string
let program: string
beforeAll(async () => {
  await ensurePackages()
  world = await createWorld({ env: withMedia })
  home = await mkdtemp(join(tmpdir(), 'wheelhouse-python-'))
  // With the packages of the system, because the index has only ours.
  await run(await python(['websockets', 'aiortc', 'ensurepip']), [
    '-m',
    'venv',
    '--system-site-packages',
    home,
  ])
  program = join(home, 'bin/python')
  await pip('install', '--no-deps', '--index-url', `${world.baseUrl}/downloads/simple/`, 'wheelhouse')
}, LIMIT_MS)
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await rm(home, { recursive: true, force: true })
})

/** Runs pip without the settings of this machine. */
const pip = (...args: string[]) =>
  run(program, ['-m', 'pip', ...args], { env: { PIP_CONFIG_FILE: '/dev/null', HOME: home } })

test('pip installs the package from the index, with its types, and checks the hash', async () => {
  const { stdout } = await pip('show', '--files', 'wheelhouse')
  for (const file of [
    'wheelhouse/robot.py',
    'wheelhouse/py.typed',
    'wheelhouse/rest.pyi',
    'wheelhouse/openapi.json',
  ])
    expect(stdout).toContain(file)
  expect(stdout).toContain('Requires: websockets')
  const page = await (await fetch(`${world.baseUrl}/downloads/simple/wheelhouse/`)).text()
  const [, file, sha256] = /href="\.\.\/\.\.\/([^"#]+)#sha256=([0-9a-f]{64})"/.exec(page) ?? []
  const install = (hash: string) =>
    pip(
      'install',
      '--no-deps',
      '--force-reinstall',
      `wheelhouse @ ${world.baseUrl}/downloads/${file}#sha256=${hash}`,
    )
  await install(sha256!)
  await expect(install('0'.repeat(64))).rejects.toThrow(/DO NOT MATCH/)
})

test('the page shows the command with the hash, and the address without a version leads to the wheel', async () => {
  const text = (await (await fetch(`${world.baseUrl}/downloads`)).text()).replaceAll('&amp;', '&')
  const wheel = await fetch(`${world.baseUrl}/downloads/wheelhouse.whl`)
  expect(wheel.headers.get('Content-Type')).toBe('application/zip')
  const sha256 = createHash('sha256')
    .update(new Uint8Array(await wheel.arrayBuffer()))
    .digest('hex')
  expect(text).toContain(`wheelhouse @ ${wheel.url}#sha256=${sha256}`)
  expect(text).toContain(`--index-url ${world.baseUrl}/downloads/simple/ wheelhouse`)
})

test('the same sources give the same wheel', async () => {
  const [root, folder] = [
    fileURLToPath(new URL('../../..', import.meta.url)),
    await mkdtemp(join(home, 'wheel-')),
  ]
  const program = 'import { packWheel } from "./tools/scripts/wheel.mjs"; packWheel(".", process.argv[1])'
  await run(process.execPath, ['--input-type=module', '--eval', program, folder], { cwd: root })
  const [file] = await readdir(folder)
  const served = await fetch(`${world.baseUrl}/downloads/wheelhouse.whl`)
  expect((await readFile(join(folder, file!))).equals(Buffer.from(await served.arrayBuffer()))).toBe(true)
})

test('the index redirects to its addresses, and has no other project', async () => {
  const answerTo = async (path: string) => {
    const { status, headers } = await fetch(`${world.baseUrl}/downloads/${path}`, { redirect: 'manual' })
    return [status, headers.get('Location')]
  }
  expect(await answerTo('simple')).toEqual([301, '/downloads/simple/'])
  expect(await answerTo('simple/wheelhouse')).toEqual([301, '/downloads/simple/wheelhouse/'])
  expect(await answerTo('simple/')).toEqual([200, null])
  for (const path of ['simple/websockets/', 'simple/wheelhouse/x', 'simple/websockets'])
    expect(await answerTo(path), path).toEqual([404, null])
})

test('a robot pairs and drives, an operator stops it, and the hub tells everything once', async () => {
  const [owner, operator] = [await world.client(), await world.operator()]
  const robot = await world.robot(owner, { require_certification: false })
  await tolerateLatency(world, robot.id)
  const { code } = (await owner.post(`/api/client/robots/${robot.id}/pairing-code`)).body
  const child = spawn(program, ['-B', script('package_robot.py'), world.baseUrl, code], { cwd: home })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  try {
    const list = async () => (await owner.get(`/api/client/robots/${robot.id}/cameras`)).body.cameras
    await waitFor(async () => expect(await list(), output).toMatchObject([{ name: 'front', live: true }]))
    const args = ['-B', script('package_session.py'), world.baseUrl, world.hubUrl, operator.token, robot.id]
    const { stdout } = await run(program, args, { cwd: home })
    const seen = JSON.parse(stdout)
    expect(seen).toMatchObject({
      why: 'stopped',
      stop: ['a test', true, true],
      battery: 0.5,
      chat: 'hello',
      refused: 409,
      unknown: [404, expect.stringMatching(/./)],
    })
    expect(seen.acks).toBeGreaterThan(0)
    expect(seen.seen.map(([seq]: [number]) => seq)).toEqual(
      seen.seen.map((_: unknown, index: number) => index + 1),
    )
    const types = seen.seen.map(([, type]: [number, string]) => type)
    for (const type of [
      'session.started',
      'chat.message',
      'session.stopped',
      'session.stop_cleared',
      'session.ended',
    ])
      expect(types.filter((item: string) => item === type)).toHaveLength(1)
    const store = join(home, 'wheelhouse-robot.json')
    expect((await stat(store)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(await readFile(store, 'utf8'))).toMatchObject({ token: robot.token })
  } finally {
    child.kill('SIGTERM')
    expect(await ended, output).toBe(0)
  }
})
