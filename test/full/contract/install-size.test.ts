import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const script = join(root, 'tools/scripts/prune-packages.mjs')
const { platform, arch, versions } = process
const ownSockets = `uWebSockets.js/dist/bin/uws_${platform}_${arch}_${versions.modules}.node`
const otherSockets = 'uWebSockets.js/dist/bin/uws_other_x64_1.node'

/** Without the program of Biome and the library of DuckDB. 66 MB are the demo's video encoder. */
const LIMIT_MB = 600

describe('installed packages', () => {
  const modules = join(root, 'node_modules')
  beforeAll(() => run(process.execPath, [script]))

  test('uWebSockets.js has only the module for this platform, which loads', async () => {
    expect(readdirSync(join(modules, 'uWebSockets.js/dist/bin'))).toEqual([ownSockets.split('/').at(-1)])
    const program = "console.log(typeof (await import('uWebSockets.js')).App)"
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: root })
    expect(stdout).toBe('function\n')
  })

  test('known unused files are deleted', () => {
    const unused = [
      '@mantine/core/cjs',
      'hls.js/dist/hls.mjs.map',
      'recharts/umd',
      'stripe/cjs',
      'swagger-ui-dist/swagger-ui.js',
      'zod/src',
      '@tabler',
    ]
    expect(unused.filter((path) => existsSync(join(modules, path)))).toEqual([])
  })

  test('are small', async () => {
    expect(await megabytes(modules)).toBeLessThan(LIMIT_MB)
  })
})

describe('pruning', () => {
  let folder: string
  const prune = (...options: string[]) => run(process.execPath, [script, '--root', folder, ...options])
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wheelhouse-prune-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** Recreates the packages from the files, with a workspace `part` and a link to it. */
  async function install(files: string[]) {
    await rm(folder, { recursive: true })
    await put('package.json', '{"workspaces":["part"]}')
    for (const file of ['part/index.js.map', ...files.map((path) => `node_modules/${path}`)]) await put(file)
    await symlink('../part', join(folder, 'node_modules/part'))
  }
  async function put(path: string, text = '') {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const left = async () => (await filesBelow(join(folder, 'node_modules'))).sort()

  const needed = [
    'a/index.js',
    'a/maps.map',
    '@b/c/index.d.ts',
    'stripe/esm/index.js',
    'stripe/cjs/LICENSE',
    'd/README.md',
    'e/LICENSE',
  ]
  const unused = [
    'e/README.md',
    'a/index.js.map',
    'a/node_modules/d/x.d.ts.map',
    'stripe/cjs/index.js',
    'recharts/lib/a/b.js',
  ]

  test('deletes unused files and the folders that become empty, and keeps licences and workspaces', async () => {
    await install([...needed, ...unused])
    expect((await prune()).stdout).toContain('Deleted 5 files')
    expect(await left()).toEqual([...needed, 'part'].sort())
    expect(existsSync(join(folder, 'node_modules/recharts/lib'))).toBe(false)
    expect(existsSync(join(folder, 'part/index.js.map'))).toBe(true)
    expect((await prune()).stdout).toBe('')
  })

  test('keeps every module of uWebSockets.js when the one for this platform is missing', async () => {
    await install([otherSockets])
    await prune()
    expect(await left()).toContain(otherSockets)
    await install([otherSockets, ownSockets])
    await prune()
    expect(await left()).toEqual(['part', ownSockets])
  })

  test('deletes declarations and the program of Biome only with the option for the image', async () => {
    const more = ['@b/c/index.d.ts', '@biomejs/cli-linux-x64/biome', '@biomejs/cli-linux-x64/package.json']
    await install(more)
    await prune()
    expect(await left()).toEqual([...more, 'part'])
    await prune('--image')
    expect(await left()).toEqual([...more.slice(1), 'part'])
    await prune('--restorable')
    expect(await left()).toEqual([more[2], 'part'])
  })
})

/** Returns the paths of files and links, relative to the folder. */
async function filesBelow(folder: string, below = ''): Promise<string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true })
  const lists = entries.map((entry) =>
    entry.isDirectory() ? filesBelow(folder, `${below}${entry.name}/`) : [below + entry.name],
  )
  return (await Promise.all(lists)).flat()
}

/** Returns the size of the packages. It counts hard links once and skips the caches of tools, which begin with a dot. */
async function megabytes(folder: string): Promise<number> {
  const files = (await filesBelow(folder)).filter((path) => !/^\.|^@biomejs\/cli-|libduckdb/.test(path))
  const sizes = new Map<number, number>()
  for (const path of files) {
    const { ino, size } = await lstat(join(folder, path))
    sizes.set(ino, size)
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0) / 1_048_576
}
