import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

// `npm run test:stress [-- vitest's arguments]`: the whole suite must pass three times while four other programs use the
// processors, because no test may depend on being fast.

const ROUNDS = 3
const BUSY_LOOPS = 4

const root = fileURLToPath(new URL('../..', import.meta.url))
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
const busyLoop = fileURLToPath(new URL('busy-loop.ts', import.meta.url))

interface Round {
  readonly succeeded: boolean
  readonly minutes: number
  readonly passed: number
  readonly failed: number
}

async function runSuite(args: readonly string[]): Promise<Round> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [vitest, 'run', ...args], {
    cwd: root,
    stdio: ['inherit', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  // A terminal sends SIGINT to vitest too.
  const forward = () => child.kill('SIGTERM')
  process.on('SIGTERM', forward).on('SIGINT', ignore)
  let [passed, failed] = [0, 0]
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line)
    const counts = /^(\d+) passed, (\d+) failed$/.exec(line)
    if (counts) [passed, failed] = [Number(counts[1]), Number(counts[2])]
  }
  const [code] = await exited
  process.off('SIGTERM', forward).off('SIGINT', ignore)
  if (code === null || code > 128) process.exit(1) // interrupted
  return { succeeded: code === 0, minutes: (performance.now() - startedMs) / 60_000, passed, failed }
}

const ignore = () => {}
const loops: ChildProcess[] = Array.from({ length: BUSY_LOOPS }, () =>
  spawn(process.execPath, [busyLoop], { stdio: ['pipe', 'inherit', 'inherit'] }),
)
const rounds: Round[] = []
try {
  for (let number = 1; number <= ROUNDS; number++) {
    const round = await runSuite(process.argv.slice(2))
    rounds.push(round)
    console.log(`Round ${number} of ${ROUNDS} ${summary(round)}`)
  }
} finally {
  for (const loop of loops) loop.stdin?.end()
}
for (const [index, round] of rounds.entries()) console.log(`Round ${index + 1} ${summary(round)}`)
const sum = (count: 'passed' | 'failed') => rounds.reduce((total, round) => total + round[count], 0)
console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
if (rounds.some(({ succeeded }) => !succeeded)) process.exitCode = 1

function summary({ succeeded, minutes, passed, failed }: Round): string {
  return `${succeeded ? 'succeeded' : 'FAILED'} in ${minutes.toFixed(1)} minutes: ${passed} passed, ${failed} failed`
}
