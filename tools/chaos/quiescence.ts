import { setTimeout as delay } from 'node:timers/promises'
import type { Environment } from './checks/check.ts'
import { nothingLeft } from './checks/leftovers.ts'
import { notificationsComplete, viewsEqualLogs } from './checks/logs.ts'
import { wrongStatuses } from './checks/sessions.ts'

const POLL_INTERVAL_MS = 500

/**
 * Waits until what takes a moment has come about: everybody has been given everything, every status is true, nothing
 * waits. Bounded: what has not come about by then is for the checks to tell. Answers how long it took, milliseconds.
 */
export async function waitForQuiescence(environment: Environment, limitMs: number): Promise<number> {
  const sinceMs = performance.now()
  const statuses = { run: wrongStatuses }
  for (;;) {
    const missing: string[] = []
    for (const { run } of [viewsEqualLogs, notificationsComplete, nothingLeft, statuses])
      missing.push(...(await run(environment)))
    const tookMs = performance.now() - sinceMs
    if (missing.length === 0 || tookMs > limitMs) return tookMs
    await delay(POLL_INTERVAL_MS)
  }
}
