import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../log.ts'

export interface PeriodicTask {
  readonly name: string
  readonly everyMs: number
  readonly run: () => Promise<void>
}

export interface PeriodicTasks {
  /** Settles when the current runs have finished. */
  close(): Promise<void>
}

/**
 * Runs tasks repeatedly, each at its own interval of seconds or less, which is too often for a cron expression. Tasks take
 * what is due with conditional updates, so several workers may run them at the same time and any of them may crash.
 */
export function startPeriodicTasks(
  tasks: readonly PeriodicTask[],
  log: Log,
  observe: (task: string, run: { ok: boolean; ms: number }) => void = () => {},
): PeriodicTasks {
  const abortController = new AbortController()
  const loops = tasks.map(async ({ name, everyMs, run }) => {
    let failing = false
    while (!abortController.signal.aborted) {
      const startedAt = performance.now()
      try {
        await run()
        observe(name, { ok: true, ms: performance.now() - startedAt })
        if (failing) log.info({ task: name }, 'periodic task recovered')
        failing = false
      } catch (cause) {
        observe(name, { ok: false, ms: performance.now() - startedAt })
        if (!failing) log.warn({ err: cause, task: name }, 'periodic task failed, retrying')
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
