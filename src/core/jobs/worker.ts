import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../log.ts'

export interface Job {
  readonly name: string
  readonly everyMs: number
  readonly run: () => Promise<void>
}

export interface Worker {
  /** Settles when the runs in hand are over. */
  close(): Promise<void>
}

/**
 * Runs jobs again and again, each in its own rhythm. Jobs find their work in the database and do it with
 * conditional updates, so that several workers may run side by side and any of them may die.
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
        if (failing) log.info({ job: name }, 'job works again')
        failing = false
      } catch (cause) {
        observe(name, { ok: false, ms: performance.now() - startedAt })
        if (!failing) log.warn({ err: cause, job: name }, 'job failed, will be tried again')
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
