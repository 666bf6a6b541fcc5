import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { print, runProgram } from '../program.ts'
import { LOADS } from './loads.ts'
import { type FuzzOptions, readOptions, usage } from './options.ts'
import { describeFindings, runFuzz } from './run.ts'
import { measureStops } from './stops.ts'

// `npm run fuzz`: sends malformed and extreme inputs to gateway and hub. See docs/chaos.md.

async function run(options: FuzzOptions): Promise<boolean> {
  const { seed, minutes, checkout, stops } = options
  print(`${stops ? 'stops' : `seed ${seed}`}, ${minutes} minutes, the platform of ${checkout}`)
  const dataDir = await mkdtemp(join(tmpdir(), 'wheelhouse-fuzz-'))
  await chmod(dataDir, 0o755) // the embedded PostgreSQL may run as another user
  const over = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => over.abort())
  let found = true
  try {
    if (stops) {
      const secondsPerLoad = (minutes * 60) / LOADS.length
      const { findings } = await measureStops(
        { checkout, secondsPerLoad },
        { dataDir, print, over: over.signal },
      )
      found = findings.length > 0
      print(found ? `\nFAILED:\n${findings.join('\n')}` : '\nPassed.')
      return !found
    }
    const outcome = await runFuzz(options, { dataDir, print, over: over.signal })
    for (const [target, count] of outcome.sent) print(`${String(count).padStart(8)} inputs to ${target}`)
    const gap = Math.round(outcome.longestGapMs)
    print(
      `${String(outcome.acknowledged).padStart(8)} commands of the driven pair, the longest gap ${gap} ms`,
    )
    found = outcome.findings.length > 0
    for (const line of await describeFindings(outcome.findings, dataDir)) print(line)
    print(found ? `\nFAILED, seed ${seed}.` : `\nPassed, seed ${seed}.`)
  } finally {
    if (found) print(`Data and logs: ${dataDir}`)
    else await rm(dataDir, { recursive: true, force: true })
  }
  return !found
}

runProgram(usage, readOptions, run)
