import { setTimeout as delay } from 'node:timers/promises'
import type { Environment } from './checks/check.ts'
import { nothingLeft } from './checks/leftovers.ts'
import { notificationsComplete, viewsEqualLogs } from './checks/logs.ts'
import { unfinishedRecordings } from './checks/recordings.ts'
import { wrongStatuses } from './checks/sessions.ts'

const POLL_INTERVAL_MS = 500

/** Waits until all recordings of ended sessions are finished, for a limited time. */
export async function waitForRecordings(environment: Environment, limitMs: number): Promise<void> {
  const untilMs = performance.now() + limitMs
  while (performance.now() < untilMs && (await unfinishedRecordings(environment)).length > 0)
    await delay(POLL_INTERVAL_MS)
}

/**
 * Waits until all events are delivered, every status is correct and all queues are empty. The time is bounded: the checks
 * report what is missing then. Returns the time it took, in milliseconds.
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
