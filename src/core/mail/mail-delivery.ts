import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { retryDelayMs } from './backoff.ts'
import { MailError } from './mail-error.ts'
import type { Claimed, MailQueue, QueueRow } from './mail-queue.ts'
import type { Mail, Mailer } from './mailer.ts'

const MAILS_PER_RUN = 50
const RECORD_AGAIN_MS = 250

/**
 * What became of one attempt; `away` means that other mails would fare alike now, `dropped` that the mail is not
 * wanted any more.
 */
export type Outcome = 'delivered' | 'failed' | 'away' | 'dropped'

/**
 * Brings the mails of a queue to the mail server. A mail is sent only under a claim, which is renewed while the
 * server takes its time, so that it is never on its way twice; once the server has said 250, nothing but the
 * end of this process keeps that from being recorded.
 */
export function createMailDelivery<Row extends QueueRow>(parts: {
  queue: MailQueue<Row>
  mailer: Mailer
  /** The same at every attempt; undefined when it is not to be sent any more. */
  compose: (message: Claimed<Row>) => Promise<Mail | undefined>
  /** What the log calls the id of such a mail. */
  idName: string
  /** How many are under way at a time in one run. */
  lanes?: number
  now: () => Date
  log: Log
  random?: () => number
}) {
  const { queue, mailer, compose, idName, lanes = 1, now, log, random = Math.random } = parts
  const stopping = new AbortController()
  const inHand = new Set<Promise<unknown>>()
  let serverAway = false

  /** Retried while the database is away: forgetting it would mean to send twice. */
  async function recordDelivery(message: Claimed<Row>): Promise<void> {
    for (;;) {
      try {
        await queue.delivered(message)
        return
      } catch (cause) {
        const about = { err: cause, [idName]: message.id }
        if (stopping.signal.aborted) {
          return log.error(about, 'a mail was delivered, but not recorded: it will arrive again')
        }
        log.warn(about, 'a delivery cannot be recorded yet')
        await delay(RECORD_AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
  }

  /** When this fails too, the claim ends by itself. */
  async function recordFailure(message: Claimed<Row>, error: MailError): Promise<void> {
    const stopped = stopping.signal.aborted && !error.handedOver
    if (stopped) return void (await queue.release(message))
    const waitMs = retryDelayMs(message.attempts, error.kind, random)
    const reason = error.handedOver ? `${error.message} (it may have arrived nevertheless)` : error.message
    await queue.failed(message, new Date(now().getTime() + waitMs), reason)
  }

  /** An outage is told once, not once a message. */
  function tell(message: Claimed<Row>, error: MailError | undefined): void {
    const about = { [idName]: message.id, kind: error?.kind, reason: error?.message }
    if (!error && serverAway) log.info('the mail server takes mail again')
    if (error && !(serverAway && error.kind === 'away')) log.warn(about, 'mail not delivered')
    serverAway = error?.kind === 'away'
  }

  async function send(message: Claimed<Row>, onDelivered: () => void): Promise<Outcome> {
    const renewing = setInterval(() => {
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
      tell(message, undefined)
      await recordDelivery(message)
      return 'delivered'
    } catch (cause) {
      if (!(cause instanceof MailError)) throw cause
      tell(message, cause)
      await recordFailure(message, cause).catch((err) => {
        log.warn({ err, [idName]: message.id }, 'a failed delivery cannot be recorded')
      })
      return cause.kind === 'away' ? 'away' : 'failed'
    } finally {
      clearInterval(renewing)
    }
  }

  /** Sends one claimed message and records what came of it; `onDelivered` hears of the server's 250 at once. */
  function attempt(message: Claimed<Row>, onDelivered: () => void = () => {}): Promise<Outcome> {
    const work = send(message, onDelivered).finally(() => inHand.delete(work))
    inHand.add(work)
    return work
  }

  return {
    attempt,

    /** False from the moment the process begins to end. */
    isOpen: () => !stopping.signal.aborted,

    /** Sends what is due, in as many lanes as there are; stops early when the server is away. */
    async runDue(): Promise<void> {
      await queue.freeAbandoned()
      let [left, away] = [MAILS_PER_RUN, false]
      const lane = async () => {
        while (left-- > 0 && !away && !stopping.signal.aborted) {
          const message = await queue.takeDue()
          if (!message) return
          if ((await attempt(message)) === 'away') away = true
        }
      }
      const ends = await Promise.allSettled(Array.from({ length: lanes }, lane))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
    },

    /** Ends what is being sent, in a few seconds, and takes nothing more. Safe to call twice. */
    async close(): Promise<void> {
      stopping.abort()
      while (inHand.size > 0) await Promise.allSettled(inHand)
    },
  }
}
export type MailDelivery<Row extends QueueRow> = ReturnType<typeof createMailDelivery<Row>>
