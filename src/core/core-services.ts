import type { EntityManager } from '@mikro-orm/postgresql'
import type { Db } from './database/tables.ts'
import type { Bus } from './events/bus.ts'
import type { RunStatement, Transact } from './events/transactor.ts'
import type { Idempotency } from './http/idempotency.ts'
import type { RateLimits } from './http/rate-limits.ts'
import type { Jobs } from './jobs/jobs.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { ThreadTime } from './process/thread-time.ts'
import type { Secrets } from './secrets.ts'

/** The services that every module uses. The composition root creates them once per process. */
export interface CoreServices {
  readonly log: Log
  readonly now: () => Date
  /** Reports an error of background work. */
  readonly report: (cause: unknown) => void
  /** The public origin, such as `https://hub.example`. */
  readonly baseUrl: string
  readonly databaseUrl: string
  readonly db: Db
  /** Creates an entity manager with a separate identity map, for one request or job. */
  readonly forkEntityManager: () => EntityManager
  readonly transact: Transact
  readonly runStatement: RunStatement
  /** Background work. A transaction creates jobs with `tx.enqueue`. */
  readonly jobs: Jobs
  readonly bus: Bus
  readonly secrets: Secrets
  readonly metrics: Metrics
  readonly rateLimits: RateLimits
  readonly threadTime: ThreadTime
  readonly idempotency: Idempotency
}
