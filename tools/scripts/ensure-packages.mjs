// Packs the files that the platform serves at /downloads (dist/packages) when their sources have changed; --again packs
// in any case and fails if it cannot. Runs before every start, under whatever Node the machine has: plain JavaScript.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Problem, withLock } from './lock.mjs'
import { sourceHash } from './source-hash.mjs'

const SOURCES = [
  'packages/protocol',
  'packages/sdk',
  'packages/cli',
  'packages/python',
  'docs/openapi.json',
  'tools/scripts/pack.mjs',
  'tools/scripts/wheel.mjs',
  'tools/scripts/wheel-stub.mjs',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
  'LICENSE',
]

const root = fileURLToPath(new URL('../..', import.meta.url))
const packed = join(root, 'dist/packages')
const fresh = join(root, 'dist/packages-new')
const stamp = join(packed, 'stamp')
const lock = join(root, '.data/packages.lock')
const compiler = join(root, 'node_modules/typescript/bin/tsc')
const windows = process.platform === 'win32'
const ownNode = join(root, 'node_modules/.bin', windows ? 'node.cmd' : 'node')
const again = process.argv.includes('--again')
/** Whether a failure to pack sets the exit code. */
const strict = again || process.argv.includes('--strict')

try {
  if (again || !isPacked()) {
    await withLock(lock, 'packing of the downloads', async (run) => {
      if (again || !isPacked()) await pack(run)
    })
  }
} catch (error) {
  if (!(error instanceof Problem)) throw error
  console.error(`\n${error.message}\n`)
  // The platform works without its downloads; /downloads then explains how to pack them.
  if (strict) process.exitCode = 1
}

function isPacked() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === sourceHash(root, SOURCES)
}

async function pack(run) {
  if (!existsSync(compiler)) {
    // An installation without development packages contains the downloads already, or does not serve any.
    console.log('The downloads are not packed: the compiler is not installed (npm ci installs it).')
    if (strict) process.exitCode = 1
    return
  }
  console.log(
    'Packing sdk, protocol, command line and the package for Python for /downloads (first start, or they have changed) …',
  )
  const hash = sourceHash(root, SOURCES)
  rmSync(fresh, { recursive: true, force: true })
  const args = [join(root, 'tools/scripts/pack.mjs'), '--to', fresh]
  const done = await run(ownNode, args, { cwd: root, stdio: 'inherit', shell: windows })
  if (done.status !== 0) throw new Problem('The downloads could not be packed. The reason is printed above.')
  writeFileSync(join(fresh, 'stamp'), hash)
  rmSync(stamp, { force: true }) // a folder without it is not complete
  rmSync(packed, { recursive: true, force: true })
  renameSync(fresh, packed)
}
