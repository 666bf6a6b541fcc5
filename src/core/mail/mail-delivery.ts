import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { retryDelayMs } from './backoff.ts'
import { MailError } from './mail-error.ts'
import type { ClaimedMail, MailQueue, QueueRow } from './mail-queue.ts'
import type { Mail, Mailer } from './mailer.ts'

const MAILS_PER_RUN = 50
const RECORD_RETRY_MS = 250

/**
 * The outcome of one attempt. `away` means that the mail server is unreachable for every mail, `dropped` that the
 * mail is no longer wanted.
 */
export type MailOutcome = 'delivered' | 'failed' | 'away' | 'dropped'

/**
 * Sends the mails of a queue to the mail server. A mail is sent only under a claim. The claim is renewed while the
 * server is slow, so that the mail is never sent twice at the same time. After the server has responded 250, only the
 * end of this process can prevent the record of the delivery.
 */
export function createMailDelivery<Row extends QueueRow>(deps: {
  queue: MailQueue<Row>
  mailer: Mailer
  /** Returns the same mail at every attempt; undefined when it must not be sent any more. */
  compose: (message: ClaimedMail<Row>) => Promise<Mail | undefined>
  /** The log field of the id of such a mail. */
  idName: string
  /** The number of concurrent deliveries in one run. */
  lanes?: number
  now: () => Date
  log: Log
  random?: () => number
}) {
  const { queue, mailer, compose, idName, lanes = 1, now, log, random = Math.random } = deps
  const stopping = new AbortController()
  const inFlight = new Set<Promise<unknown>>()
  let serverUnavailable = false

  /**
   * Records a delivery. Retries while the database is unreachable: without the record, the mail would be sent twice.
   */
  async function recordDelivery(message: ClaimedMail<Row>): Promise<void> {
    for (;;) {
      try {
        await queue.delivered(message)
        return
      } catch (cause) {
        const logFields = { err: cause, [idName]: message.id }
        if (stopping.signal.aborted) {
          return log.error(
            logFields,
            'a mail was delivered, but the delivery was not recorded: the mail will be sent again',
          )
        }
        log.warn(logFields, 'a delivery could not be recorded, retrying')
        await delay(RECORD_RETRY_MS, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
  }

  /** Records a failed attempt. When this fails as well, the claim expires. */
  async function recordFailure(message: ClaimedMail<Row>, error: MailError): Promise<void> {
    const stopped = stopping.signal.aborted && !error.handedOver
    if (stopped) return void (await queue.release(message))
    const waitMs = retryDelayMs(message.attempts, error.kind, random)
    const reason = error.handedOver ? `${error.message} (the mail may have been delivered)` : error.message
    await queue.failed(message, new Date(now().getTime() + waitMs), reason)
  }

  /** Logs the outcome of an attempt. Logs an outage once, not once per mail. */
  function logOutcome(message: ClaimedMail<Row>, error: MailError | undefined): void {
    const logFields = { [idName]: message.id, kind: error?.kind, reason: error?.message }
    if (!error && serverUnavailable) log.info('the mail server accepts mail again')
    if (error && !(serverUnavailable && error.kind === 'away')) log.warn(logFields, 'mail not delivered')
    serverUnavailable = error?.kind === 'away'
  }

  async function send(message: ClaimedMail<Row>, onDelivered: () => void): Promise<MailOutcome> {
    const renewTimer = setInterval(() => {
      queue.renew(message).catch((cause) => log.warn({ err: cause }, 'a mail claim could not be renewed'))
    }, queue.renewEveryMs)
    try {
      const mail = await compose(message)
      if (!mail) {
        await queue.drop(message)
        return 'dropped'
      }
      await mailer.send(mail, stopping.signal)
      onDelivered()
      logOutcome(message, undefined)
      await recordDelivery(message)
      return 'delivered'
    } catch (cause) {
      if (!(cause instanceof MailError)) throw cause
      logOutcome(message, cause)
      await recordFailure(message, cause).catch((err) => {
        log.warn({ err, [idName]: message.id }, 'a failed delivery could not be recorded')
      })
      return cause.kind === 'away' ? 'away' : 'failed'
    } finally {
      clearInterval(renewTimer)
    }
  }

  /** Sends one claimed mail and records the outcome. Calls `onDelivered` as soon as the server responds 250. */
  function attempt(message: ClaimedMail<Row>, onDelivered: () => void = () => {}): Promise<MailOutcome> {
    const work = send(message, onDelivered).finally(() => inFlight.delete(work))
    inFlight.add(work)
    return work
  }

  return {
    attempt,

    /** Returns false once the process is stopping. */
    isOpen: () => !stopping.signal.aborted,

    /** Sends the due mails with limited concurrency. Stops early when the server is unreachable. */
    async runDue(): Promise<void> {
      await queue.freeAbandoned()
      let [remaining, away] = [MAILS_PER_RUN, false]
      const lane = async () => {
        while (remaining-- > 0 && !away && !stopping.signal.aborted) {
          const message = await queue.takeDue()
          if (!message) return
          if ((await attempt(message)) === 'away') away = true
        }
      }
      const results = await Promise.allSettled(Array.from({ length: lanes }, lane))
      for (const result of results) if (result.status === 'rejected') throw result.reason
    },

    /** Finishes the running deliveries within a few seconds and starts no others. Safe to call twice. */
    async close(): Promise<void> {
      stopping.abort()
      while (inFlight.size > 0) await Promise.allSettled(inFlight)
    },
  }
}
