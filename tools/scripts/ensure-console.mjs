// Builds the console (packages/console/dist) when its sources have changed since the last build; --again builds in any
// case. Runs before every start, under whatever Node the machine has: plain JavaScript.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { Problem, withLock } from './lock.mjs'
import { sourceHash } from './source-hash.mjs'

const SOURCES = ['packages/console', 'packages/sdk', 'packages/protocol', 'package-lock.json']

const root = fileURLToPath(new URL('../..', import.meta.url))
const built = join(root, 'packages/console/dist')
const fresh = join(root, 'packages/console/dist-new')
const stamp = join(built, 'stamp')
const lock = join(root, '.data/console.lock')
const vite = join(root, 'node_modules/vite/bin/vite.js')
const windows = process.platform === 'win32'
const ownNode = join(root, 'node_modules/.bin', windows ? 'node.cmd' : 'node')

try {
  const again = process.argv.includes('--again')
  if (again || !isBuilt()) {
    await withLock(lock, 'build of the console', async (run) => {
      if (again || !isBuilt()) await build(run)
    })
  }
} catch (error) {
  if (!(error instanceof Problem)) throw error
  console.error(`\n${error.message}\n`)
  process.exitCode = 1
}

function isBuilt() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash(root, SOURCES)
}

async function build(run) {
  if (!existsSync(vite)) {
    // A production installation contains the built console, or serves none.
    console.log('The console is not built: its tools are not installed (npm ci installs them).')
    return
  }
  console.log('Building the console (first start, or it has changed) …')
  const hash = sourceHash(root, SOURCES)
  const args = [vite, 'build', 'packages/console', '--outDir', fresh, '--emptyOutDir', '--logLevel', 'warn']
  // A test's NODE_ENV would make it the development build of React.
  const env = { ...process.env, NODE_ENV: 'production' }
  const done = await run(ownNode, args, { cwd: root, stdio: 'inherit', env, shell: windows })
  if (done.status !== 0) throw new Problem('The console could not be built. The reason is printed above.')
  compress(join(fresh, 'assets'))
  writeFileSync(join(fresh, 'stamp'), hash)
  rmSync(stamp, { force: true }) // a build without it is not complete
  rmSync(built, { recursive: true, force: true })
  renameSync(fresh, built)
}

/** Compresses the files once, instead of at every request. */
function compress(folder) {
  for (const name of readdirSync(folder).filter((file) => /\.(js|css|svg|json)$/.test(file))) {
    const content = readFileSync(join(folder, name))
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }))
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params }))
  }
}
