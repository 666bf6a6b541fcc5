import { setTimeout as delay } from 'node:timers/promises'
import type { Probe } from '../../../test/support/processes/probe.ts'
import { type Call, callerOf, readyPort } from '../../../test/support/processes/rpc.ts'
import type { Lab } from '../lab.ts'
import type { RelayPlan } from '../options.ts'
import type { RelayGenerator } from '../relay/generator.ts'
import type { RecorderReport } from '../relay/latency-recorder.ts'
import type { Form } from '../relay/payload.ts'
import type { Relay, RelayUsage } from '../relay/relays.ts'

export type Generator = Call<RelayGenerator>

/** Control frames in one write of a flooding operator. */
export const FRAMES_PER_WRITE = 8
/** V8 would enlarge the generator's young generation during a run. */
const fixedYoungGeneration = ['--min-semi-space-size=16', '--max-semi-space-size=16']

export interface Run {
  readonly form: Form
  readonly report: RecorderReport
  /** Control frames that neither arrived nor were refused explicitly, in the whole run with its warm-up. */
  readonly lost: number
  readonly cpuUsPerFrame: number | undefined
  /** Share of one core, 0 to 1 and more. */
  readonly relayCpu: number | undefined
  readonly generatorCpu: number
}

export interface SteadyRun extends Run {
  readonly pairs: number
  readonly hz: number
}

/** Results of one relay. */
export interface Carried {
  readonly name: string
  readonly steady: readonly SteadyRun[]
  readonly floods: readonly Run[]
  /** With the pairs of the first steady run connected. */
  readonly rssBytes: number | undefined
}

export interface Tools {
  readonly generator: Generator
  readonly probe: Call<Probe>
}

/** Starts a separate load generator for every relay, so that all of them begin without a warm JIT. */
export async function withGenerator<T>(lab: Lab, work: (tools: Tools) => Promise<T>): Promise<T> {
  const child = lab.children.run('lab/bench/relay/generator.ts', { nodeFlags: fixedYoungGeneration })
  try {
    await readyPort(child.process)
    const generator = callerOf<RelayGenerator>(child.process)
    return await work({ generator, probe: callerOf<Probe>(child.process) })
  } finally {
    await child.stop()
  }
}

/** Measures every rate and every form through one relay, and its maximum. */
export async function carry(plan: RelayPlan, relay: Relay, { generator, probe }: Tools): Promise<Carried> {
  const run = running(relay, { generator, probe })
  const driving = Math.max(...plan.rates.map(({ pairs }) => pairs))
  await relay.connect(generator, 0, driving)
  const steady: SteadyRun[] = []
  for (const { pairs, hz } of plan.rates) {
    for (const form of relay.forms) {
      const measured = await steadily(plan, relay, { generator, probe }, { pairs, hz, form })
      steady.push({ ...measured, pairs, hz })
    }
  }
  const rssBytes = (await relay.usage())?.rssBytes
  await relay.connect(generator, driving, plan.floodPairs)
  const floods: Run[] = []
  for (const form of relay.forms) {
    const flood = { pairs: plan.floodPairs, framesPerWrite: FRAMES_PER_WRITE, form }
    floods.push(await run(form, plan.warmUpMs, plan.floodSeconds, () => generator('startFlood', flood)))
  }
  return { name: relay.name, steady, floods, rssBytes }
}

/** Measures one rate and form through a relay to which its pairs are connected. */
export const steadily = (
  { warmUpMs, steadySeconds }: RelayPlan,
  relay: Relay,
  tools: Tools,
  { pairs, hz, form }: { pairs: number; hz: number; form: Form },
): Promise<Run> =>
  running(relay, tools)(form, warmUpMs, steadySeconds, () =>
    tools.generator('startSteady', { pairs, hz, form, mode: 'spinning' }),
  )

const running =
  (relay: Relay, { generator, probe }: Tools) =>
  async (form: Form, warmUpMs: number, seconds: number, start: () => Promise<void>): Promise<Run> => {
    await start()
    await delay(warmUpMs)
    await generator('mark')
    const before = { relay: await relay.usage(), generator: await probe('usage') }
    await delay(seconds * 1_000)
    const after = { relay: await relay.usage(), generator: await probe('usage') }
    const report = await generator('report')
    const { lost } = await generator('stopDriving')
    const cpuUs = spentUs(before.relay, after.relay)
    const tookUs = (after.generator.atMs - before.generator.atMs) * 1_000
    return {
      form,
      report,
      lost,
      cpuUsPerFrame: cpuUs === undefined ? undefined : cpuUs / report.delivered,
      relayCpu: cpuUs === undefined ? undefined : cpuUs / tookUs,
      generatorCpu: (after.generator.cpuUs - before.generator.cpuUs) / tookUs,
    }
  }

function spentUs(before: RelayUsage | undefined, after: RelayUsage | undefined): number | undefined {
  return before && after && after.cpuUs - before.cpuUs
}
