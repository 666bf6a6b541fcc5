// Runs an npm script after everything it needs is in place:
//
//   node tools/scripts/run.mjs [--console] [--packages] [program [arguments]]
//
// Each option runs `ensure-<option>.mjs`, after ensure-installed.mjs. The program is `node` (the Node of node_modules) or
// a package with a program of the same name, such as `vitest`. Without a program, a command can follow with `&&`.
// Starts under whatever Node the machine has (18 or newer), and before anything is installed: plain JavaScript, no
// dependencies.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PARENT_CHECK_MS = 500
const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))
const windows = process.platform === 'win32'
const ownNode = join(modules, 'node', 'bin', windows ? 'node.exe' : 'node')

const words = process.argv.slice(2)
const programAt = words.findIndex((word) => !word.startsWith('--'))
const options = programAt === -1 ? words : words.slice(0, programAt)
const [program, ...args] = programAt === -1 ? [] : words.slice(programAt)

// Compiled scripts and stripped types, for every process that a script starts: each start needs a fifth less processor time.
process.env.NODE_COMPILE_CACHE ??= join(modules, '.cache', 'node')

// npm ends without ending this process when it is killed. The program would then serve unnoticed, and keep its port.
const parent = process.ppid
for (const name of ['installed', ...options.map((option) => option.slice(2))]) {
  ensure(name)
  if (process.ppid !== parent) process.exit(1)
}
if (program !== undefined) run(program === 'node' ? args : [binOf(program), ...args])

function ensure(name) {
  const script = fileURLToPath(new URL(`ensure-${name}.mjs`, import.meta.url))
  const { status, signal } = spawnSync(process.execPath, [script], { stdio: 'inherit' })
  if (signal) process.kill(process.pid, signal)
  if (status !== 0) process.exit(status ?? 1)
}

/** Returns the file of the program that a package of this name installs. */
function binOf(name) {
  const { bin } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'))
  return join(modules, name, typeof bin === 'string' ? bin : bin[name])
}

/** Replaces this process by the program where Node supports it: signals and the exit code need no forwarding. */
function run(nodeArgs) {
  if (process.execve && !windows) process.execve(ownNode, ['node', ...nodeArgs], process.env)
  runAsChild(nodeArgs)
}

/** Forwards signals, and ends as the program ends. For the first start under an older Node, and for Windows. */
function runAsChild(nodeArgs) {
  const child = spawn(ownNode, nodeArgs, { stdio: 'inherit' })
  for (const signal of FORWARDED_SIGNALS) process.on(signal, () => child.kill(signal))
  // A shell between npm and this process may die without forwarding npm's signal.
  const parentCheck = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(parentCheck)
    child.kill('SIGTERM')
  }, PARENT_CHECK_MS)
  child.on('exit', (code, signal) => {
    clearInterval(parentCheck)
    for (const name of FORWARDED_SIGNALS) process.removeAllListeners(name)
    if (signal) process.kill(process.pid, signal)
    else process.exit(code)
  })
}
