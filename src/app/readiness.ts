import { singleFlight } from '../core/concurrency/concurrency.ts'
import { isDatabaseReachable } from '../web/site/health.ts'
import type { Platform } from './container.ts'
import type { ShutdownSteps } from './shutdown.ts'

const READINESS_CHECK_MS = 1_000

/**
 * Sets the readiness from the state of the database, so that a load balancer sends no requests to a process that can
 * only respond 503.
 */
export function watchReadiness(
  { core: { db, diskWatch, guards } }: Platform,
  shutdown: ShutdownSteps,
  report: (notReadyReason: string | undefined) => void,
): void {
  let stopping = false
  const check = singleFlight(async () => {
    await diskWatch.check(db)
    const reachable = await isDatabaseReachable(db)
    if (stopping) return
    if (diskWatch.full) report('the disk of the database is full')
    else report(reachable ? undefined : 'the database does not respond')
  })
  const timer = guards.process.every('timer:readiness', READINESS_CHECK_MS, check)
  shutdown.drain.unshift(async () => {
    stopping = true
    clearInterval(timer)
  })
}
