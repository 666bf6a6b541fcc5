import type { Probe } from '../../../test/support/processes/probe.ts'
import { type Call, callerOf, readyPort } from '../../../test/support/processes/rpc.ts'
import type { HubGenerator } from '../hub/generator.ts'
import type { Lab } from '../lab.ts'

export interface HubTools {
  readonly generator: Call<HubGenerator>
  /** Readings of the generator's own process. */
  readonly probe: Call<Probe>
}

/** V8 would enlarge the generator's young generation during a run. */
const fixedYoungGeneration = ['--min-semi-space-size=16', '--max-semi-space-size=16']

/** Starts a separate load generator for every contender, so that all of them begin without a warm JIT. */
export async function withHubGenerator<T>(lab: Lab, work: (tools: HubTools) => Promise<T>): Promise<T> {
  const child = lab.children.run('lab/bench/hub/generator.ts', { nodeFlags: fixedYoungGeneration })
  try {
    await readyPort(child.process)
    return await work({
      generator: callerOf<HubGenerator>(child.process),
      probe: callerOf<Probe>(child.process),
    })
  } finally {
    await child.stop()
  }
}
