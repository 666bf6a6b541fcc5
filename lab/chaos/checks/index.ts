import { chatOnce, nothingStrange, ratingsPersisted, startsOnce } from './acknowledgements.ts'
import type { Check, Environment } from './check.ts'
import { nothingLeft } from './leftovers.ts'
import { logsGapless, notificationsComplete, viewsEqualLogs } from './logs.ts'
import { ledgerTrue } from './money.ts'
import { recordingsComplete } from './recordings.ts'
import { singleSession, statusesTrue } from './sessions.ts'
import { stopsObeyed } from './stops.ts'

export type { Environment } from './check.ts'

/** All invariants that must hold after the faults. */
const checks: readonly Check[] = [
  chatOnce,
  startsOnce,
  ratingsPersisted,
  logsGapless,
  viewsEqualLogs,
  notificationsComplete,
  singleSession,
  statusesTrue,
  ledgerTrue,
  stopsObeyed,
  recordingsComplete,
  nothingLeft,
  nothingStrange,
]

export interface Verdict {
  readonly name: string
  /** A description of each violation. */
  readonly wrong: readonly string[]
}

/** Runs all checks. A check that throws counts as violated. */
export async function examine(environment: Environment): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const { name, run } of checks) {
    const wrong = await run(environment).catch((cause: unknown) => [`could not be checked: ${cause}`])
    verdicts.push({ name, wrong })
  }
  return verdicts
}
