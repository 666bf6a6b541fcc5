// Restores files of packages that an installation by ensure-installed.mjs omits, because few need them. Their source is npm's
// cache, which the installation has filled, or the registry. Plain JavaScript, as all scripts that run before a start.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Problem, withLock } from './lock.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const windows = process.platform === 'win32'

/**
 * Restores one file of every installed package of a scope: npm installs only those for this platform. Prints why it failed, and
 * sets the exit code.
 * @param {{ label: string, scope: string, prefix: string, files: string[] }} what the file is one of `files`
 */
export async function restoreFile({ label, scope, prefix, files }) {
  const home = join(root, 'node_modules', scope)
  const missing = () =>
    readdirSync(home).filter(
      (name) => name.startsWith(prefix) && !files.some((file) => existsSync(join(home, name, file))),
    )
  try {
    if (missing().length === 0) return
    await withLock(join(root, `.data/${scope.slice(1)}.lock`), `installation of ${label}`, async (run) => {
      for (const name of missing()) await restore(run, { label, scope, name, files })
    })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    console.error(`\n${error.message}\n`)
    process.exitCode = 1
  }
}

async function restore(run, { label, scope, name, files }) {
  console.log(`Installing ${label} (first use, or it has changed) …`)
  const fresh = join(root, `node_modules/.${scope.slice(1)}-new`)
  rmSync(fresh, { recursive: true, force: true })
  const path = `node_modules/${scope}/${name}`
  const { version, integrity } = readJson(join(root, 'package-lock.json')).packages[path]
  const options = ['--no-save', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  const args = ['install', '--prefix', fresh, ...options, '--loglevel=error', `${scope}/${name}@${version}`]
  const done = await run('npm', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], shell: windows })
  if (done.error) throw new Problem(`npm could not be run (${done.error.message}).`)
  if (done.status !== 0)
    throw new Problem(`${label} could not be installed. The message of npm is printed above.`)
  const installed = readJson(join(fresh, 'node_modules/.package-lock.json')).packages[path]
  if (installed.integrity !== integrity)
    throw new Problem(`${scope}/${name} from the registry is not the one of package-lock.json.`)
  for (const file of files.filter((file) => existsSync(join(fresh, path, file))))
    renameSync(join(fresh, path, file), join(root, path, file))
  rmSync(fresh, { recursive: true, force: true })
}

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'))
