import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readOptions, usage } from './options.ts'
import { describeActs, describeFaults, describeMemory, describeVerdicts } from './report.ts'
import { makeDataDir, type Outcome, removeDataDir, runChaos } from './run.ts'

// `npm run chaos`: the fault bench of the whole platform. See docs/chaos.md.

const say = (text: string) => void process.stdout.write(`${text}\n`)

function report({ faults, evidence, memory, errors, settledMs, verdicts }: Outcome): void {
  say(`\nFaults: ${faults.length}`)
  for (const line of describeFaults(faults, evidence.gaps)) say(line)
  say('\nActs:')
  for (const line of describeActs(evidence)) say(line)
  say('\nMemory:')
  for (const line of describeMemory(memory)) say(line)
  if (errors.size > 0) say('\nErrors in the logs:')
  for (const [text, times] of errors) say(`  ${times} × ${text}`)
  say(`\nSettled after ${(settledMs / 1_000).toFixed(1)} s. Invariants:`)
  for (const line of describeVerdicts(verdicts)) say(line)
}

async function main(): Promise<number> {
  let options: ReturnType<typeof readOptions>
  try {
    options = readOptions(process.argv.slice(2))
  } catch (cause) {
    process.stderr.write(`${cause instanceof Error ? cause.message : cause}\n\n${usage}`)
    return 2
  }
  if (options === 'help') {
    say(usage)
    return 0
  }
  const { seed } = options
  const again = `npm run chaos -- --seed ${seed} --minutes ${options.minutes} --robots ${options.robots}`
  say(`seed ${seed}; again: ${again}`)
  const dataDir = await makeDataDir()
  let close = async () => {}
  const over = new AbortController()
  const interrupt = async () => {
    if (over.signal.aborted) process.exit(130) // asked twice: somebody is in a hurry
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
    const outcome = await runChaos(options, { dataDir, say, over: over.signal, onClosable })
    report(outcome)
    const { evidence, faults, verdicts } = outcome
    await writeFile(join(dataDir, 'evidence.json'), JSON.stringify({ seed, faults, verdicts, ...evidence }))
    wrong = verdicts.some((verdict) => verdict.wrong.length > 0)
    say(wrong ? `\nNOT ALL IS WELL, seed ${seed}.` : `\nAll is well, seed ${seed}.`)
  } finally {
    if (wrong || options.keep) say(`Data and logs: ${dataDir}`)
    else await removeDataDir(dataDir)
  }
  return wrong ? 1 : 0
}

main().then(
  (code) => process.exit(code),
  (cause: unknown) => {
    process.stderr.write(`\n${cause instanceof Error ? cause.stack : String(cause)}\n`)
    process.exit(2)
  },
)
