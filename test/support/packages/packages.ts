import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startLocalRegistry } from './local-registry.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Packs the packages like `npm run pack`. @returns the paths of the tarballs */
export async function packInto(folder: string): Promise<string[]> {
  await run(process.execPath, [join(root, 'tools/scripts/pack.mjs'), '--to', folder])
  const files = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
  return files.sort().map((name) => join(folder, name))
}

/** Packs the packages that a platform of this checkout serves at /downloads, unless the sources are unchanged. */
export async function ensurePackages(): Promise<void> {
  await run(process.execPath, ['tools/scripts/ensure-packages.mjs', '--strict'], { cwd: root })
}

export type Installation = Awaited<ReturnType<typeof installPackages>>

/**
 * Installs the Wheelhouse packages from their tarballs into an empty folder outside the checkout, with their declared
 * dependencies and the packages in `more`.
 */
export async function installPackages(more: readonly string[] = []) {
  const home = await mkdtemp(join(tmpdir(), 'wheelhouse-packages-'))
  const [packed, folder] = [join(home, 'packed'), join(home, 'project')]
  const end = () => rm(home, { recursive: true, force: true })
  // Inherits only PATH from the environment of the test.
  const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`, HOME: home }
  try {
    await mkdir(folder)
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    const tarballs = await packInto(packed)
    await using registry = await startLocalRegistry()
    const args = ['install', '--no-audit', '--no-fund', '--registry', registry.url, ...tarballs, ...more]
    await run('npm', args, { cwd: folder, env })
    return {
      folder,
      tarballs,
      env,
      /** Returns the folder of an installed Wheelhouse package. */
      of: (name: string) => join(folder, 'node_modules', name),
      /** Runs a program of the folder's `node_modules/.bin`, or Node itself. @returns its output */
      run: async (program: string, args: readonly string[], more: Record<string, string> = {}) => {
        const file = program === 'node' ? process.execPath : join(folder, 'node_modules/.bin', program)
        return await run(file, args, { cwd: folder, env: { ...env, ...more } })
      },
      /** Starts a program of the folder, which runs until the test ends it. */
      start: (file: string, more: Record<string, string>) =>
        follow(spawn(process.execPath, [file], { cwd: folder, env: { ...env, ...more }, stdio: 'pipe' })),
      write: (name: string, text: string) => writeFile(join(folder, name), text),
      [Symbol.asyncDispose]: end,
    }
  } catch (cause) {
    await end()
    throw cause
  }
}

function follow(child: ChildProcessWithoutNullStreams) {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    /** Resolves with the exit code; null after a signal. */
    ended,
    /** Returns the whole output. */
    output: () => output,
    signal: (name: NodeJS.Signals) => child.kill(name),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
