import { setTimeout as delay } from 'node:timers/promises'
import type { Ground } from './checks/check.ts'
import { nothingLeft } from './checks/leftovers.ts'
import { bellsComplete, viewsEqualLogs } from './checks/logs.ts'
import { wrongStatuses } from './checks/sessions.ts'

const LOOK_EVERY_MS = 500

/**
 * Waits until what takes a moment has come about: everybody has been given everything, every status is true, nothing
 * waits. Bounded: what has not come about by then is for the checks to tell. Answers how long it took, milliseconds.
 */
export async function settle(ground: Ground, limitMs: number): Promise<number> {
  const sinceMs = performance.now()
  const statuses = { run: wrongStatuses }
  for (;;) {
    const missing: string[] = []
    for (const { run } of [viewsEqualLogs, bellsComplete, nothingLeft, statuses])
      missing.push(...(await run(ground)))
    const tookMs = performance.now() - sinceMs
    if (missing.length === 0 || tookMs > limitMs) return tookMs
    await delay(LOOK_EVERY_MS)
  }
}
