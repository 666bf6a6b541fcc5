import { withTimeout } from '../concurrency/concurrency.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/metrics.ts'

/** Longer than an ordered shutdown takes; whoever supervises the process starts it again. */
const SHUTDOWN_LIMIT_MS = 30_000
const FAILED = 1

/**
 * Decides what becomes of this process when an error is handled nowhere. A rejected promise is a step that failed by
 * itself: it is logged and counted, and the process goes on. An exception may have left anything half done: the
 * process ends in order, robots and clients go to other nodes, and the exit code is 1.
 */
export function watchProcessErrors(log: Log) {
  const counts = { rejections: 0, exceptions: 0 }
  let shutdown: () => Promise<unknown> = async () => {}
  let shuttingDown = false

  process.on('unhandledRejection', (cause) => {
    counts.rejections++
    log.fatal({ err: cause }, 'unhandled rejection, the process goes on')
  })
  process.on('uncaughtException', (cause) => {
    counts.exceptions++
    // A log that cannot be written is an exception as well, and again so when it is logged.
    if (shuttingDown) return
    shuttingDown = true
    log.fatal({ err: cause }, 'uncaught exception, the process ends')
    withTimeout(SHUTDOWN_LIMIT_MS, 'took too long', shutdown())
      .catch((err) => log.error({ err }, 'not ended in order'))
      .finally(() => process.exit(FAILED))
  })

  return {
    /** Shows both counts at /metrics. */
    measure({ counter }: Pick<Metrics, 'counter'>): void {
      counter(
        'wheelhouse_process_unhandled_rejections_total',
        'Rejected promises that nothing handled',
        () => counts.rejections,
      )
      counter(
        'wheelhouse_process_uncaught_exceptions_total',
        'Exceptions that nothing caught; the process ends with the first',
        () => counts.exceptions,
      )
    },
    /** Says how the process ends in order, once it has started something. */
    setShutdown(stop: () => Promise<unknown>): void {
      shutdown = stop
    },
  }
}
