import { singleFlight } from '../src/core/concurrency/concurrency.ts'
import type { Log } from '../src/core/log.ts'
import type { Guard } from '../src/core/process/guard.ts'
import type { PresenceStore } from '../src/modules/presence/index.ts'

const RENEW_MS = 1_000
/** Short, so that a gateway that was suspended renews soon after it continues. */
const CHECK_MS = 250

/**
 * Renews the row of a gateway, without which workers declare its robots lost. A relay that makes no progress for half of the heartbeat
 * timeout cannot stop a robot either, so its row is not renewed until it continues. Resolves after the first attempt to renew.
 */
export async function startLease(deps: {
  store: Pick<PresenceStore, 'renewNode' | 'removeNode'>
  nodeId: string
  /** The address under which operators reach the gateway. */
  url: string
  heartbeatTimeoutMs: number
  /** Returns how long the relay has made no progress, in milliseconds. */
  stalledMs: () => number
  guard: Guard
  log: Log
}) {
  const { store, nodeId, url, stalledMs, guard, log } = deps
  const stallLimitMs = Math.max(RENEW_MS, deps.heartbeatTimeoutMs / 2)
  let stopped = false
  let renewedMs = Number.NEGATIVE_INFINITY
  let problem: 'stalled' | 'unreachable' | undefined

  function note(next: typeof problem, report: () => void): void {
    if (next !== problem) report()
    problem = next
  }

  const renew = singleFlight(async () => {
    if (stopped || performance.now() - renewedMs < RENEW_MS) return
    const ms = stalledMs()
    if (ms > stallLimitMs)
      return note('stalled', () =>
        log.error(
          { ms },
          'the control relay makes no progress; the gateway counts as dead until it continues',
        ),
      )
    const startedMs = performance.now()
    try {
      await store.renewNode(nodeId, url)
      renewedMs = startedMs
      note(undefined, () => {})
    } catch (cause) {
      note('unreachable', () => log.warn({ err: cause }, 'failed to renew the row of the gateway; retrying'))
    }
  })

  await renew()
  const timer = guard.every('timer:lease', CHECK_MS, renew)
  return {
    /** Ends the renewals: the gateway drains. */
    stop(): void {
      stopped = true
      clearInterval(timer)
    },
    /** Removes the row, unless robots are handed over from it. Without the database, the sweep removes it. */
    async remove(): Promise<void> {
      await renew() // waits for a running renewal, which would restore the row
      await store.removeNode(nodeId).catch(() => {})
    },
  }
}
