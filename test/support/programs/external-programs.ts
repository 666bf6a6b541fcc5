import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { WAIT_LIMIT_MS } from '../wait-limit.ts'
import { installOnDebian } from './debian.ts'
import { findProgram } from './installed-programs.ts'

const run = promisify(execFile)
const HEADLESS_SHELL = 'chromium-headless-shell'

/** The packages that the tests of a tier of test/ use beyond Redis, which the services install, and how to find each. */
const programsOf: Readonly<Record<string, readonly (readonly [string[], () => unknown])[]>> = {
  smoke: [
    [['python3-websockets', 'python3-aiortc'], () => findPython(['websockets', 'aiortc'])],
    [['chromium'], () => findChromium()],
    [['redis-server'], () => findProgram('redis-server')],
  ],
  full: [
    [
      ['python3-websockets', 'python3-aiortc', 'python3-venv'],
      () => findPython(['websockets', 'aiortc', 'ensurepip']),
    ],
    [['chromium'], () => findChromium()],
    // The servers of a cluster.
    [['haproxy'], () => findProgram('haproxy')],
    [['redis-server'], () => findProgram('redis-server')],
    // A second client of the storage.
    [['python3-boto3'], () => findPython(['boto3'])],
    // Video through TURN.
    [['coturn'], () => findProgram('turnserver')],
  ],
}

/**
 * Installs the runtimes of external clients and servers that a tier needs, when they are missing. Tests that need one
 * check whether it is available; all other tests run without.
 */
export async function installProgramsOf(tier: string): Promise<void> {
  const programs = programsOf[tier]
  if (!programs) return
  const missing: string[] = []
  for (const [packages, find] of programs) if (!(await find())) missing.push(...packages)
  if (missing.length > 0) await installOnDebian(...missing)
  // Before the tests, because several files at once would wait for the package manager. Some systems do not have the package.
  if (onPath(HEADLESS_SHELL).length === 0) await installOnDebian(HEADLESS_SHELL)
}

/** Returns a Python 3 with these packages. */
export async function python(modules: readonly string[] = ['websockets']): Promise<string> {
  const debianNames = modules.map((name) => `python3-${name}`)
  const found = await findPython(modules)
  if (found) return found
  throw new Error(
    `This test needs Python 3 with ${modules.join(' and ')}, which was not found. Install it ` +
      `(Debian: apt-get install ${debianNames.join(' ')}; elsewhere: python3 -m pip install ${modules.join(' ')}).`,
  )
}

/**
 * Returns the path of Chromium: of `chromium-headless-shell` if possible, which needs three quarters of the processor time
 * and which root on Debian installs when it is missing.
 */
export async function chromium(): Promise<string> {
  if (onPath(HEADLESS_SHELL).length === 0) await installOnDebian(HEADLESS_SHELL)
  return onPath(HEADLESS_SHELL)[0] ?? wholeChromium()
}

/** Returns the path of the whole Chromium, which has notifications; the headless shell has none. */
export function wholeChromium(): string {
  const found = findChromium()
  if (found) return found
  throw new Error(
    'This test needs Chromium, which was not found. Install it (Debian: apt-get install chromium) so that ' +
      '`chromium` is found on the PATH.',
  )
}

/** Checks all: the first `python3` of the PATH may lack a package that Debian's own has. */
async function findPython(modules: readonly string[]): Promise<string | undefined> {
  for (const program of onPath('python3')) {
    const works = await run(program, ['-c', `import ${modules}`], { timeout: WAIT_LIMIT_MS }).then(
      () => true,
      () => false,
    )
    if (works) return program
  }
  return undefined
}

const findChromium = () => onPath('chromium')[0]

function onPath(program: string): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, program)).filter((file) => existsSync(file))
}
