import pTimeout from 'p-timeout'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/metrics.ts'

/** Longer than an ordered shutdown takes. A supervisor starts the process again. */
const SHUTDOWN_LIMIT_MS = 30_000
const FAILED = 1

/**
 * Handles errors that no other code handles. An unhandled rejection is one failed step: it is logged and counted, and
 * the process continues. An uncaught exception may leave state inconsistent: the process shuts down in order, robots and
 * clients connect to other nodes, and the exit code is 1.
 */
export function watchProcessErrors(log: Log) {
  const counts = { rejections: 0, exceptions: 0 }
  let shutdown: () => Promise<unknown> = async () => {}
  let shuttingDown = false

  process.on('unhandledRejection', (cause) => {
    counts.rejections++
    log.fatal({ err: cause }, 'unhandled rejection, the process continues')
  })
  process.on('uncaughtException', (cause) => {
    counts.exceptions++
    // A log that cannot be written throws as well, and throws again when that is logged.
    if (shuttingDown) return
    shuttingDown = true
    log.fatal({ err: cause }, 'uncaught exception, the process shuts down')
    pTimeout(shutdown(), { milliseconds: SHUTDOWN_LIMIT_MS, message: 'took too long' })
      .catch((err) => log.error({ err }, 'not ended in order'))
      .finally(() => process.exit(FAILED))
  })

  return {
    /** Registers both counts at /metrics. */
    measure({ counter }: Pick<Metrics, 'counter'>): void {
      counter(
        'wheelhouse_process_unhandled_rejections_total',
        'Unhandled promise rejections',
        () => counts.rejections,
      )
      counter(
        'wheelhouse_process_uncaught_exceptions_total',
        'Uncaught exceptions; the process shuts down at the first',
        () => counts.exceptions,
      )
    },
    /** Sets the function that shuts the process down in order. */
    setShutdown(stop: () => Promise<unknown>): void {
      shutdown = stop
    },
  }
}
