import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/**
 * Route handlers respond within milliseconds. A request that waits for an unreachable database fails after ten
 * seconds.
 */
const HTTP_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Jobs take from milliseconds, for a database change, to minutes, for an export. */
const JOB_SECONDS = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300]
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PUT'])

type Read = () => number | undefined | Promise<number | undefined>

/**
 * Creates the metrics of a platform, in a separate registry, so that several platforms can run in one process. A
 * counter costs a few additions. Values that can be queried are read at each scrape.
 */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const requests = new Counter({
    registers,
    name: 'wheelhouse_http_requests_total',
    help: 'HTTP requests answered',
    labelNames: ['method', 'route', 'status'],
  })
  const durations = new Histogram({
    registers,
    name: 'wheelhouse_http_request_duration_seconds',
    help: 'Time to answer HTTP requests',
    labelNames: ['method', 'route'],
    buckets: HTTP_BUCKETS,
  })
  const refusals = new Counter({
    registers,
    name: 'wheelhouse_rate_limit_refusals_total',
    help: 'Requests rejected with 429',
    labelNames: ['policy'],
  })
  const hubAuthFailures = new Counter({
    registers,
    name: 'wheelhouse_hub_auth_failures_total',
    help: 'Credentials rejected by the hub, by reason',
    labelNames: ['reason'],
  })
  const idempotentRequests = new Counter({
    registers,
    name: 'wheelhouse_idempotency_requests_total',
    help: 'Requests with an Idempotency-Key, by outcome',
    labelNames: ['outcome'],
  })
  const stripeEvents = new Counter({
    registers,
    name: 'wheelhouse_payment_events_total',
    help: 'Events of the payment provider, by outcome',
    labelNames: ['outcome'],
  })
  const toolCalls = new Counter({
    registers,
    name: 'wheelhouse_mcp_tool_calls_total',
    help: 'Calls of MCP tools, by outcome',
    labelNames: ['tool', 'outcome'],
  })
  const webhookAttempts = new Counter({
    registers,
    name: 'wheelhouse_webhook_attempts_total',
    help: 'Webhook delivery attempts, by outcome',
    labelNames: ['outcome'],
  })
  const handlerErrors = new Counter({
    registers,
    name: 'wheelhouse_handler_errors_total',
    help: 'Exceptions of socket handlers, timers and subscribers',
    labelNames: ['role', 'handler'],
  })
  const longSteps = new Counter({
    registers,
    name: 'wheelhouse_long_steps_total',
    help: 'Handlers and steps of requests that held their thread for 100 ms or more',
    labelNames: ['role', 'step'],
  })
  const jobAttempts = new Counter({
    registers,
    name: 'wheelhouse_job_attempts_total',
    help: 'Finished attempts of jobs, by outcome',
    labelNames: ['queue', 'outcome'],
  })
  const jobDurations = new Histogram({
    registers,
    name: 'wheelhouse_job_attempt_duration_seconds',
    help: 'Duration of an attempt of a job',
    labelNames: ['queue'],
    buckets: JOB_SECONDS,
  })
  const runs = new Counter({
    registers,
    name: 'wheelhouse_job_runs_total',
    help: 'Runs of the periodic tasks of the worker',
    labelNames: ['job', 'outcome'],
  })
  const runDuration = new Gauge({
    registers,
    name: 'wheelhouse_job_last_duration_seconds',
    help: 'Duration of the last run',
    labelNames: ['job'],
  })
  const lastSuccess = new Gauge({
    registers,
    name: 'wheelhouse_job_last_success_timestamp_seconds',
    help: 'Time of the last successful run',
    labelNames: ['job'],
  })

  return {
    registry,

    /** Counts an answered request. `route` is the declared pattern, never the requested path. */
    request(done: { method: string; route: string; status: number; ms: number }): void {
      const method = KNOWN_METHODS.has(done.method) ? done.method : 'other'
      requests.inc({ method, route: done.route, status: done.status })
      durations.observe({ method, route: done.route }, done.ms / 1000)
    },

    rateLimited: (policy: string): void => refusals.inc({ policy }),
    hubAuthFailed: (reason: string): void => hubAuthFailures.inc({ reason }),
    idempotency: (outcome: string): void => idempotentRequests.inc({ outcome }),

    webhookAttempt: (outcome: string): void => webhookAttempts.inc({ outcome }),
    stripeEvent: (outcome: string): void => stripeEvents.inc({ outcome }),

    handlerFailed: (role: string, handler: string): void => handlerErrors.inc({ role, handler }),

    longStep: (role: string, step: string): void => longSteps.inc({ role, step }),

    /** Counts a call of an MCP tool. */
    toolCalled: (tool: string, outcome: 'done' | 'refused'): void => toolCalls.inc({ tool, outcome }),

    /** Counts a finished attempt of a job. */
    jobAttempt(queue: string, attempt: { outcome: string; ms: number }): void {
      jobAttempts.inc({ queue, outcome: attempt.outcome })
      jobDurations.observe({ queue }, attempt.ms / 1000)
    },

    /** Counts a run of a periodic task. */
    periodicTask(name: string, run: { ok: boolean; ms: number }): void {
      runs.inc({ job: name, outcome: run.ok ? 'success' : 'failure' })
      runDuration.set({ job: name }, run.ms / 1000)
      if (run.ok) lastSuccess.set({ job: name }, Date.now() / 1000)
    },

    /** Declares a gauge that is read at each scrape. A scrape omits it when `read` returns undefined. */
    gauge(name: string, help: string, read: Read): void {
      new Gauge({
        registers,
        name,
        help,
        async collect() {
          const value = await read()
          if (value === undefined) this.remove()
          else this.set(value)
        },
      })
    },

    /** Declares a gauge with labels that is read at each scrape. A scrape omits what `read` does not return. */
    gauges<Label extends string>(
      name: string,
      help: string,
      labelNames: Label[],
      read: () => Promise<readonly (readonly [labels: Record<Label, string>, value: number])[]>,
    ): void {
      new Gauge<string>({
        registers,
        name,
        help,
        labelNames,
        async collect() {
          const values = await read()
          this.reset()
          for (const [labels, value] of values) this.set(labels, value)
        },
      })
    },

    /** Declares a counter that another component maintains, read at each scrape. It must only grow. */
    counter(name: string, help: string, read: () => number): void {
      new Counter({
        registers,
        name,
        help,
        collect() {
          this.reset()
          this.inc(read())
        },
      })
    },
  }
}
export type Metrics = ReturnType<typeof createMetrics>
