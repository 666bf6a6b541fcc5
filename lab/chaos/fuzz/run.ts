import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createActors } from './actors.ts'
import { describeInput, type Input, targets } from './input.ts'
import { createInputs } from './inputs.ts'
import type { FuzzOptions } from './options.ts'
import { type FuzzedPlatform, startPlatform } from './platform.ts'
import { createSenders } from './senders.ts'

/** Rounds of one input for each target between two checks of the platform. */
const ROUNDS_PER_CHECK = 5
const ROUND_PAUSE_MS = 5
const PROGRESS_MS = 30_000
/** Time in which a process that crashes because of an input has ended. */
const DEATH_MS = 200
/** Longest acceptable time without a command at the robot: longer than the deadman's limit, for a busy machine. */
const LONGEST_SILENCE_MS = 30_000
const MOST_GROWTH_BYTES = 512 * 1024 * 1024
const SHOWN_FINDINGS = 20

export interface Finding {
  readonly what: string
  /** Inputs since the last check, or the one input that causes the finding. */
  readonly inputs: readonly Input[]
}

export interface Outcome {
  readonly sent: ReadonlyMap<string, number>
  readonly findings: readonly Finding[]
  readonly acknowledged: number
  readonly longestGapMs: number
}

interface RuntimeContext {
  readonly dataDir: string
  readonly print: (text: string) => void
  readonly over: AbortSignal
}

/** Fuzzes one platform until time is up or its process has ended. */
export async function runFuzz(
  options: FuzzOptions,
  { dataDir, print, over }: RuntimeContext,
): Promise<Outcome> {
  const { platform, actors, senders, close } = await open(options.checkout, join(dataDir, 'platform'))
  const findings: Finding[] = []
  const sent = new Map<string, number>(targets.map((target) => [target, 0]))
  const next = createInputs(options.seed, () => actors.sessionId)
  const endsAtMs = performance.now() + options.minutes * 60_000
  const firstBytes = await platform.memoryBytes()
  let loggedMs = performance.now()
  let recent: Input[] = []
  try {
    while (platform.alive && performance.now() < endsAtMs && !over.aborted) {
      recent = []
      for (let round = 0; round < ROUNDS_PER_CHECK && platform.alive; round++) {
        for (const target of targets) {
          const input = next(target)
          recent.push(input)
          if (await senders.send(input)) sent.set(target, (sent.get(target) ?? 0) + 1)
        }
        await delay(ROUND_PAUSE_MS)
      }
      if (!platform.alive) break
      await actors.refresh().catch(() => {})
      for (const what of await troubles(platform, actors.control.silentMs(), firstBytes)) {
        findings.push({ what, inputs: recent })
      }
      if (performance.now() - loggedMs > PROGRESS_MS) {
        loggedMs = performance.now()
        print(`${totalOf(sent)} inputs, ${actors.control.acknowledged} commands, ${findings.length} findings`)
      }
      if (findings.length >= SHOWN_FINDINGS) break
    }
    await delay(DEATH_MS)
    if (!platform.alive) {
      print(`The process has ended after ${totalOf(sent)} inputs:\n${platform.lastOutput()}`)
      const offendingInput = await isolate(options.checkout, dataDir, recent.toReversed(), print)
      findings.push({ what: 'the process ended', inputs: offendingInput ? [offendingInput] : recent })
    }
    const { acknowledged, longestGapMs } = actors.control
    return { sent, findings, acknowledged, longestGapMs }
  } finally {
    await close()
  }
}

/** Describes the problems of a running process. */
async function troubles(platform: FuzzedPlatform, silentMs: number, firstBytes: number | undefined) {
  const found = await platform.findings()
  const bytes = await platform.memoryBytes()
  if (silentMs > LONGEST_SILENCE_MS) found.push(`no command was acknowledged for ${Math.round(silentMs)} ms`)
  if (bytes !== undefined && firstBytes !== undefined && bytes - firstBytes > MOST_GROWTH_BYTES) {
    found.push(`memory grew by ${Math.round((bytes - firstBytes) / 1e6)} MB`)
  }
  return found
}

/** Sends inputs one at a time to a fresh process; returns the input that ends it. */
async function isolate(
  checkout: string,
  dataDir: string,
  inputs: readonly Input[],
  print: (text: string) => void,
): Promise<Input | undefined> {
  print(`Looking for the input among the last ${inputs.length}, one at a time …`)
  const { platform, senders, close } = await open(checkout, join(dataDir, 'again'))
  try {
    for (const input of inputs) {
      await senders.send(input)
      await delay(DEATH_MS)
      if (!platform.alive) return input
    }
    return undefined
  } finally {
    await close()
  }
}

async function open(checkout: string, dataDir: string) {
  await mkdir(dataDir, { recursive: true })
  const platform = await startPlatform(checkout, dataDir)
  try {
    const actors = await createActors(platform)
    await platform.findings() // discards findings from before the inputs
    const senders = createSenders(platform, actors)
    const close = async () => {
      senders.close()
      await actors.close()
      await platform.stop()
    }
    return { platform, actors, senders, close }
  } catch (cause) {
    await platform.stop()
    throw cause
  }
}

const totalOf = (sent: ReadonlyMap<string, number>) =>
  [...sent.values()].reduce((sum, count) => sum + count, 0)

/** Describes findings, and stores the inputs of each in a file. */
export async function describeFindings(findings: readonly Finding[], dataDir: string): Promise<string[]> {
  const lines: string[] = []
  for (const [index, { what, inputs }] of findings.entries()) {
    const file = join(dataDir, `finding-${index + 1}.json`)
    const whole = inputs.map(({ target, steps }) => ({
      target,
      steps: steps.map(({ kind, data }) => ({ kind, base64: data.toString('base64') })),
    }))
    await writeFile(file, JSON.stringify(whole, null, 2))
    lines.push(`${index + 1}. ${what}`)
    if (inputs.length === 1) lines.push(`   caused by ${describeInput(inputs[0] as Input)}`)
    lines.push(`   ${inputs.length} ${inputs.length === 1 ? 'input' : 'inputs'} in ${file}`)
  }
  return lines
}
