import type { Transaction } from 'kysely'
import type { z } from 'zod'
import type { Tables } from '../database/tables.ts'

/** Retries of a job whose handler failed. The delay doubles with each attempt, with jitter. */
interface RetryPolicy {
  /** The number of retries, after which the job goes to the dead letters; `unlimited` for work that must not end. */
  readonly limit: number | 'unlimited'
  readonly delaySeconds: number
  readonly maxDelaySeconds: number
}

/** A named queue of jobs, and how its jobs run. */
export interface Queue<Data extends object = object> {
  readonly name: string
  /** The purpose of its jobs in one line, for admins. */
  readonly description: string
  /** Validates the data of a job before it runs. Data refers to rows by id; it holds no secrets. */
  readonly data: z.ZodType<Data>
  /**
   * With `perKey`, jobs of one key run one at a time and in the order of the transactions that created them, in all processes
   * together. Every job then needs a key.
   */
  readonly order: 'any' | 'perKey'
  /**
   * Whether a key of a queue with `perKey` has one unfinished job at most: a new one replaces one that would start later, and is
   * not created otherwise. Transactions that create jobs of a key hold a lock for it, such as that of a row. So does the
   * transaction that completes a job: under the lock it looks for further work and creates the successor.
   */
  readonly onePerKey?: boolean
  /** The number of jobs that one process runs at a time. */
  readonly concurrency: number
  /** The number of jobs of one group that run at a time, in all processes together. */
  readonly groupConcurrency?: number
  /** How often a process looks for due jobs. New jobs are announced, so this only delays jobs with a later start. */
  readonly pollMs: number
  readonly retry: RetryPolicy
  /** How long an attempt may take. */
  readonly expireSeconds: number
  /** A job whose process sends no heartbeat for this long runs again. At least 10. */
  readonly heartbeatSeconds: number
  /** How long completed jobs stay visible. */
  readonly keepCompletedSeconds: number
  /** Whether api processes run the queue as well as workers. */
  readonly runsInApi?: boolean
  /** Whether admins must not discard its jobs, because a record would wait for ever for its result. */
  readonly undiscardable?: boolean
  /**
   * The cron expression, in UTC, at which a job is created; at most once a minute. Each run does all that is due, so it removes the
   * jobs of the queue that wait when it begins: they do not multiply while runs are slow or fail.
   */
  readonly cron?: string
  /** Whether a process that starts to run the queue creates a job, to catch up what was missed while none was running. */
  readonly runsAtStart?: boolean
}

/** An attempt of a job, as its handler sees it. */
export interface Attempt<Data extends object = object> {
  readonly id: string
  readonly data: Data
  /** 1 for the first attempt. */
  readonly number: number
  /** How the attempt before ended; `abandoned` when its process ended without a result. Undefined in the first one. */
  readonly previous: 'failed' | 'abandoned' | undefined
  /** Aborts when the attempt has to end: the job was cancelled, its claim is lost, or the process stops. */
  readonly signal: AbortSignal
  /**
   * Completes the job in the caller's transaction, so that its result and its completion are one commit.
   * @throws ClaimLostError when another process runs the job by now, or an admin cancelled it
   */
  complete(tx: { readonly db: Transaction<Tables> }): Promise<void>
  /** Stores the progress of a long job. `total` is an estimate. */
  progress(done: number, total: number): Promise<void>
}

/**
 * The work of a queue. A job may run twice: its handler first changes the row that the data names with a condition, so
 * that the second run changes nothing. It makes no request to another service within a transaction.
 */
export type JobHandler<Data extends object> = (attempt: Attempt<Data>) => Promise<void>

/** A job to create with a transaction. */
export interface NewJob<Data extends object = object> {
  readonly queue: Queue<Data>
  readonly data: Data
  /** The key of a queue that is ordered per key. */
  readonly key?: string
  /** The group whose concurrency is limited. */
  readonly group?: string
  /** When the job becomes due. Default: with the commit. */
  readonly startAt?: Date
  /** Jobs of a higher priority run first. Default: 0. */
  readonly priority?: number
}

/** Reports that this process does not hold the job any more. The handler's transaction rolls back. */
export class ClaimLostError extends Error {}

/** Thrown by a handler to retry its job at a time of its choice. The message is stored with the job. */
export class RetryAt extends Error {
  readonly at: Date
  constructor(at: Date, reason: string) {
    super(reason)
    this.at = at
  }
}
