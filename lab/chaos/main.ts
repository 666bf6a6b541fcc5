import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ChaosOptions, readOptions, usage } from './options.ts'
import { print, runProgram } from './program.ts'
import {
  describeActions,
  describeFaults,
  describeMemory,
  describeRecordings,
  describeVerdicts,
} from './report.ts'
import { makeDataDir, type Outcome, removeDataDir, runChaos } from './run.ts'

// `npm run chaos`: injects faults into a cluster under load. See docs/chaos.md.

function report({ faults, evidence, memory, errors, settledMs, verdicts }: Outcome): void {
  print(`\nFaults: ${faults.length}`)
  for (const line of describeFaults(faults, evidence.gaps)) print(line)
  print('\nActions:')
  for (const line of describeActions(evidence)) print(line)
  print('\nRecordings:')
  for (const line of describeRecordings(evidence)) print(line)
  print('\nMemory:')
  for (const line of describeMemory(memory)) print(line)
  if (errors.size > 0) print('\nErrors in the logs:')
  for (const [text, times] of errors) print(`  ${times} × ${text}`)
  print(`\nSettled after ${(settledMs / 1_000).toFixed(1)} s. Invariants:`)
  for (const line of describeVerdicts(verdicts)) print(line)
}

async function run(options: ChaosOptions): Promise<boolean> {
  const { seed } = options
  const duration =
    options.rounds === undefined
      ? `--minutes ${options.minutes}`
      : `--only recordings --rounds ${options.rounds}`
  const again = `npm run chaos -- --seed ${seed} ${duration} --pace ${options.pace} --robots ${options.robots}`
  print(`seed ${seed}; repeat with: ${again}`)
  const dataDir = await makeDataDir()
  let close = async () => {}
  const over = new AbortController()
  const interrupt = async () => {
    if (over.signal.aborted) process.exit(130) // the second signal ends it at once
    over.abort()
    await close()
    process.exit(130)
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  let wrong = true
  try {
    const onClosable = (end: () => Promise<void>) => {
      close = end
    }
    const outcome = await runChaos(options, { dataDir, print, over: over.signal, onClosable })
    report(outcome)
    const { evidence, faults, verdicts } = outcome
    await writeFile(join(dataDir, 'evidence.json'), JSON.stringify({ seed, faults, verdicts, ...evidence }))
    wrong = verdicts.some((verdict) => verdict.wrong.length > 0)
    print(wrong ? `\nFAILED, seed ${seed}.` : `\nPassed, seed ${seed}.`)
  } finally {
    if (wrong || options.keep) print(`Data and logs: ${dataDir}`)
    else await removeDataDir(dataDir)
  }
  return !wrong
}

runProgram(usage, readOptions, run)
