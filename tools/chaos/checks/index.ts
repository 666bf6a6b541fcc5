import type { Check, Ground } from './check.ts'
import { nothingLeft } from './leftovers.ts'
import { bellsComplete, logsGapless, viewsEqualLogs } from './logs.ts'
import { ledgerTrue } from './money.ts'
import { chatOnce, nothingStrange, ratingsKept, startsOnce } from './promises.ts'
import { oneAtATime, statusesTrue } from './sessions.ts'
import { stopsObeyed } from './stops.ts'

export type { Check, Ground } from './check.ts'

/** Everything that must hold once the faults are over. */
export const checks: readonly Check[] = [
  chatOnce,
  startsOnce,
  ratingsKept,
  logsGapless,
  viewsEqualLogs,
  bellsComplete,
  oneAtATime,
  statusesTrue,
  ledgerTrue,
  stopsObeyed,
  nothingLeft,
  nothingStrange,
]

export interface Verdict {
  readonly name: string
  /** What does not hold, in words. */
  readonly wrong: readonly string[]
}

/** Runs all of them. One that cannot be carried out does not hold. */
export async function examine(ground: Ground): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const { name, run } of checks) {
    const wrong = await run(ground).catch((cause: unknown) => [`could not be checked: ${cause}`])
    verdicts.push({ name, wrong })
  }
  return verdicts
}
