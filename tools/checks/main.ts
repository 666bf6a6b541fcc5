import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

const CACHE = 'node_modules/.cache/checks'
const KNIP = 'node_modules/knip/bin/knip.js --no-progress --no-config-hints --no-tag-hints --cache'
/** Each checker of the compiler repeats a part of the work of the others: on two cores, one is faster than four. */
const CHECKERS = Math.min(4, Math.ceil(availableParallelism() / 2))
const TSC = `node_modules/typescript/bin/tsc --noEmit --incremental --checkers ${CHECKERS}`

/** The parts of `npm run check`, the slowest first. Each is a program that exits with 1 when it has findings. */
const parts: Readonly<Record<string, string>> = {
  types: `${TSC} --tsBuildInfoFile ${CACHE}/types.tsbuildinfo`,
  'console types': `${TSC} --tsBuildInfoFile ${CACHE}/console-types.tsbuildinfo --project packages/console`,
  imports: 'tools/checks/dependencies/main.ts',
  format: 'node_modules/@biomejs/biome/bin/biome check .',
  source: 'tools/checks/source/main.ts',
  unused: `${KNIP} --cache-location ${CACHE}/unused`,
  // The code that only tests and tools use.
  production: `${KNIP} --cache-location ${CACHE}/production --production`,
}
/** The parts of `npm run check:lab`, which nothing in the product depends on. */
const labParts: Readonly<Record<string, string>> = {
  lab: `${TSC} --tsBuildInfoFile ${CACHE}/lab.tsbuildinfo --project lab`,
}
const PARALLEL = Math.max(2, Math.min(4, availableParallelism()))

interface Outcome {
  readonly name: string
  readonly passed: boolean
  readonly seconds: number
}

function run(name: string, command: string): Promise<Outcome> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, command.split(' '), { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  return new Promise((resolve) => {
    child.on('error', (error) => (output += error.message))
    child.on('close', (code) => {
      const passed = code === 0
      if (!passed) console.log(`── ${name} ──\n${output.trim()}\n`)
      resolve({ name, passed, seconds: (performance.now() - startedAt) / 1000 })
    })
  })
}

// `npm run check [part …]`: runs the named parts, or all of the product's, several at a time.
const names = process.argv.slice(2)
const all = { ...parts, ...labParts }
const unknown = names.filter((name) => !(name in all))
if (unknown.length > 0)
  throw new Error(`Unknown part ${unknown.join(', ')}. Use ${Object.keys(all).join(', ')}.`)

const queue =
  names.length === 0 ? Object.entries(parts) : Object.entries(all).filter(([name]) => names.includes(name))
const outcomes: Outcome[] = []
const runNext = async () => {
  for (let next = queue.shift(); next; next = queue.shift()) outcomes.push(await run(...next))
}
await Promise.all(Array.from({ length: PARALLEL }, runNext))

for (const { name, passed, seconds } of outcomes)
  console.log(`${passed ? 'passed' : 'FAILED'}  ${name} (${seconds.toFixed(1)} s)`)
if (outcomes.some(({ passed }) => !passed)) process.exitCode = 1
