// Runs before `npm run check` and `npm run format`: restores the program of Biome, 65 MB, which an installation by
// ensure-installed.mjs omits because nothing else needs it. Its source is npm's cache or the registry.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Problem, withLock } from './lock.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const home = join(root, 'node_modules/@biomejs')
const fresh = join(root, 'node_modules/.biome-new')
const lock = join(root, '.data/biome.lock')
const windows = process.platform === 'win32'
const program = windows ? 'biome.exe' : 'biome'

try {
  if (missing().length > 0) {
    await withLock(lock, 'installation of Biome', async (run) => {
      for (const name of missing()) await restore(run, name)
    })
  }
} catch (error) {
  if (!(error instanceof Problem)) throw error
  console.error(`\n${error.message}\n`)
  process.exitCode = 1
}

/** Returns the packages for this platform (npm installs no others) whose program is missing. */
function missing() {
  return readdirSync(home).filter((name) => name.startsWith('cli-') && !existsSync(join(home, name, program)))
}

async function restore(run, name) {
  console.log('Installing Biome (first check, or it has changed) …')
  rmSync(fresh, { recursive: true, force: true })
  const path = `node_modules/@biomejs/${name}`
  const { version, integrity } = readJson(join(root, 'package-lock.json')).packages[path]
  const options = ['--no-save', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  const args = ['install', '--prefix', fresh, ...options, '--loglevel=error', `@biomejs/${name}@${version}`]
  const done = await run('npm', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], shell: windows })
  if (done.error) throw new Problem(`npm could not be run (${done.error.message}).`)
  if (done.status !== 0)
    throw new Problem('Biome could not be installed. The message of npm is printed above.')
  const installed = readJson(join(fresh, 'node_modules/.package-lock.json')).packages[path]
  if (installed.integrity !== integrity)
    throw new Problem(`@biomejs/${name} from the registry is not the one of package-lock.json.`)
  renameSync(join(fresh, path, program), join(root, path, program))
  rmSync(fresh, { recursive: true, force: true })
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
