import { setTimeout as delay } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import { z } from 'zod'
import type { Db, Tables } from '../database/tables.ts'
import { type Attempt, RetryAt } from '../jobs/queue.ts'
import type { Log } from '../log.ts'
import { MailError, type MailFailureKind } from './mail-error.ts'
import { createMailStore, type MailRow, type MailTable } from './mail-store.ts'
import type { Mail, Mailer } from './mailer.ts'

const FIRST_MS = 30_000
/** Longest delay between two attempts to deliver a mail. */
const LONGEST_MS = 3_600_000
/** Randomizes retries, so that mails that failed together are not retried together. */
const JITTER = 0.25

/**
 * Returns the milliseconds until the next attempt: 30 s, doubling up to an hour. After a refusal the delay is an
 * hour, because a refusal lasts until the configuration or the mailbox changes.
 * @param attempts the number of failed attempts, at least 1.
 */
export function retryDelayMs(attempts: number, kind: MailFailureKind, random: () => number): number {
  const backoffMs = FIRST_MS * 2 ** Math.min(attempts - 1, 20)
  const delay = kind === 'refused' ? LONGEST_MS : Math.min(backoffMs, LONGEST_MS)
  return Math.min(Math.round(delay * (1 + random() * JITTER)), LONGEST_MS)
}

/** The data of a job that sends a stored mail. */
export const MailJob = z.strictObject({ id: z.uuid() })
export type MailJob = z.infer<typeof MailJob>

/** The common settings of the queues of mails. */
export const mailQueue = {
  data: MailJob,
  order: 'any',
  concurrency: 5,
  pollMs: 1_000,
  // The handler sets the time of a retry itself. This delay is for an attempt whose process ended: a process that is
  // alive but cannot reach the database has the time to record its result.
  retry: { limit: 'unlimited', delaySeconds: 10, maxDelaySeconds: 3_600 },
  // Longer than a mail server may take to answer.
  expireSeconds: 900,
  heartbeatSeconds: 20,
  keepCompletedSeconds: 3_600,
} as const

const RECORD_RETRY_MS = 250

/**
 * Creates the handler of a queue of mails. It sends a mail to the mail server. After the server has responded 250, only
 * the end of this process can prevent the record of the delivery.
 */
export function createMailDelivery<T extends MailTable>(deps: {
  db: Db
  table: T
  mailer: Mailer
  /** Returns the same mail at every attempt; undefined when it must not be sent any more. */
  compose: (row: Selectable<Tables[T]> & MailRow) => Promise<Mail | undefined>
  /** The log field of the id of such a mail. */
  idName: string
  /** Called as soon as the server has accepted a mail, before it is recorded. */
  onDelivered?: (id: string) => void
  now: () => Date
  log: Log
  random?: () => number
}) {
  const { mailer, compose, idName, onDelivered, now, log, random = Math.random } = deps
  const store = createMailStore(deps)
  let serverUnavailable = false

  /** Records a delivery. Retries while the database is unreachable: without the record, the mail would be sent twice. */
  async function recordDelivery(id: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        return void (await store.delivered(id))
      } catch (cause) {
        const logFields = { err: cause, [idName]: id }
        if (signal.aborted)
          return log.error(
            logFields,
            'a mail was delivered, but the delivery was not recorded: the mail will be sent again',
          )
        log.warn(logFields, 'a delivery could not be recorded, retrying')
        await delay(RECORD_RETRY_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  /** Logs the outcome of an attempt. Logs an outage once, not once per mail. */
  function logOutcome(id: string, error: MailError | undefined): void {
    const logFields = { [idName]: id, kind: error?.kind, reason: error?.message }
    if (!error && serverUnavailable) log.info('the mail server accepts mail again')
    if (error && !(serverUnavailable && error.kind === 'away')) log.warn(logFields, 'mail not delivered')
    serverUnavailable = error?.kind === 'away'
  }

  /** Records a failed attempt. Returns what makes the job run again. */
  async function recordFailure(row: MailRow, error: MailError, signal: AbortSignal): Promise<RetryAt> {
    if (signal.aborted && !error.handedOver)
      return new RetryAt(now(), 'The process ended before the mail was sent.')
    const at = new Date(now().getTime() + retryDelayMs(row.attempts, error.kind, random))
    const reason = error.handedOver ? `${error.message} (the mail may have been delivered)` : error.message
    await store.failed(row.id, at, reason)
    return new RetryAt(at, reason)
  }

  return async ({ data: { id }, previous, signal }: Attempt<MailJob>): Promise<void> => {
    const row = (await store.begin(id, previous === 'abandoned')) as
      | (Selectable<Tables[T]> & MailRow)
      | undefined
    if (!row) return
    const mail = await compose(row)
    if (!mail) return void (await store.drop(id))
    try {
      await mailer.send(mail, signal)
    } catch (cause) {
      if (!(cause instanceof MailError)) throw cause
      logOutcome(id, cause)
      throw await recordFailure(row, cause, signal)
    }
    onDelivered?.(id)
    logOutcome(id, undefined)
    await recordDelivery(id, signal)
  }
}
