import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { retryDelayMs } from './backoff.ts'
import { MailError } from './mail-error.ts'
import type { ClaimedMail, MailQueue, QueueRow } from './mail-queue.ts'
import type { Mail, Mailer } from './mailer.ts'

const MAILS_PER_RUN = 50
const RECORD_RETRY_MS = 250

/**
 * What became of one attempt; `away` means that other mails would fare alike now, `dropped` that the mail is not
 * wanted any more.
 */
export type MailOutcome = 'delivered' | 'failed' | 'away' | 'dropped'

/**
 * Brings the mails of a queue to the mail server. A mail is sent only under a claim, which is renewed while the
 * server takes its time, so that it is never on its way twice; once the server has said 250, nothing but the
 * end of this process keeps that from being recorded.
 */
export function createMailDelivery<Row extends QueueRow>(deps: {
  queue: MailQueue<Row>
  mailer: Mailer
  /** The same at every attempt; undefined when it is not to be sent any more. */
  compose: (message: ClaimedMail<Row>) => Promise<Mail | undefined>
  /** What the log calls the id of such a mail. */
  idName: string
  /** How many are under way at a time in one run. */
  lanes?: number
  now: () => Date
  log: Log
  random?: () => number
}) {
  const { queue, mailer, compose, idName, lanes = 1, now, log, random = Math.random } = deps
  const stopping = new AbortController()
  const inFlight = new Set<Promise<unknown>>()
  let serverUnavailable = false

  /** Retried while the database is away: forgetting it would mean to send twice. */
  async function recordDelivery(message: ClaimedMail<Row>): Promise<void> {
    for (;;) {
      try {
        await queue.delivered(message)
        return
      } catch (cause) {
        const logFields = { err: cause, [idName]: message.id }
        if (stopping.signal.aborted) {
          return log.error(logFields, 'a mail was delivered, but not recorded: it will arrive again')
        }
        log.warn(logFields, 'a delivery cannot be recorded yet')
        await delay(RECORD_RETRY_MS, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
  }

  /** When this fails too, the claim ends by itself. */
  async function recordFailure(message: ClaimedMail<Row>, error: MailError): Promise<void> {
    const stopped = stopping.signal.aborted && !error.handedOver
    if (stopped) return void (await queue.release(message))
    const waitMs = retryDelayMs(message.attempts, error.kind, random)
    const reason = error.handedOver ? `${error.message} (it may have arrived nevertheless)` : error.message
    await queue.failed(message, new Date(now().getTime() + waitMs), reason)
  }

  /** An outage is told once, not once a message. */
  function logOutcome(message: ClaimedMail<Row>, error: MailError | undefined): void {
    const logFields = { [idName]: message.id, kind: error?.kind, reason: error?.message }
    if (!error && serverUnavailable) log.info('the mail server takes mail again')
    if (error && !(serverUnavailable && error.kind === 'away')) log.warn(logFields, 'mail not delivered')
    serverUnavailable = error?.kind === 'away'
  }

  async function send(message: ClaimedMail<Row>, onDelivered: () => void): Promise<MailOutcome> {
    const renewTimer = setInterval(() => {
      queue.renew(message).catch((cause) => log.warn({ err: cause }, 'a claim cannot be renewed'))
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
        log.warn({ err, [idName]: message.id }, 'a failed delivery cannot be recorded')
      })
      return cause.kind === 'away' ? 'away' : 'failed'
    } finally {
      clearInterval(renewTimer)
    }
  }

  /** Sends one claimed message and records what came of it; `onDelivered` hears of the server's 250 at once. */
  function attempt(message: ClaimedMail<Row>, onDelivered: () => void = () => {}): Promise<MailOutcome> {
    const work = send(message, onDelivered).finally(() => inFlight.delete(work))
    inFlight.add(work)
    return work
  }

  return {
    attempt,

    /** False from the moment the process begins to end. */
    isOpen: () => !stopping.signal.aborted,

    /** Sends what is due, in as many lanes as there are; stops early when the server is away. */
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

    /** Ends what is being sent, in a few seconds, and takes nothing more. Safe to call twice. */
    async close(): Promise<void> {
      stopping.abort()
      while (inFlight.size > 0) await Promise.allSettled(inFlight)
    },
  }
}
