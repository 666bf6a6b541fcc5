import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../log.ts'

export interface Job {
  readonly name: string
  readonly everyMs: number
  readonly run: () => Promise<void>
}

export interface Worker {
  /** Settles when the current runs have finished. */
  close(): Promise<void>
}

/**
 * Runs jobs repeatedly, each at its own interval. Jobs find their work in the database and claim it with conditional
 * updates, so several workers may run at the same time and any of them may crash.
 */
export function startWorker(
  jobs: readonly Job[],
  log: Log,
  observe: (job: string, run: { ok: boolean; ms: number }) => void = () => {},
): Worker {
  const abortController = new AbortController()
  const loops = jobs.map(async ({ name, everyMs, run }) => {
    let failing = false
    while (!abortController.signal.aborted) {
      const startedAt = performance.now()
      try {
        await run()
        observe(name, { ok: true, ms: performance.now() - startedAt })
        if (failing) log.info({ job: name }, 'job recovered')
        failing = false
      } catch (cause) {
        observe(name, { ok: false, ms: performance.now() - startedAt })
        if (!failing) log.warn({ err: cause, job: name }, 'job failed, retrying')
        failing = true
      }
      await delay(everyMs, undefined, { signal: abortController.signal }).catch(() => {})
    }
  })
  return {
    close: async () => {
      abortController.abort()
      await Promise.all(loops)
    },
  }
}
