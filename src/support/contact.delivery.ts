import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../log.ts'
import { retryDelayMs } from '../mail/backoff.ts'
import { MailError } from '../mail/mail.error.ts'
import type { Mailer } from '../mail/mailer.ts'
import type { ClaimedContact, ContactClaims } from './contact.claims.ts'
import { contactMail } from './contact.mail.ts'

const MESSAGES_PER_RUN = 50
const RECORD_AGAIN_MS = 250

/** What became of one attempt; `away` means that other messages would fare alike now. */
export type Outcome = 'delivered' | 'failed' | 'away'

/**
 * Brings contact messages to the mail server. A message is sent only under a claim, which is renewed while the
 * server takes its time, so that it is never on its way twice; once the server has said 250, nothing but the
 * end of this process keeps that from being recorded.
 */
export function createContactDelivery(parts: {
  claims: ContactClaims
  mailer: Mailer
  contactTo: string
  now: () => Date
  log: Log
  random?: () => number
}) {
  const { claims, mailer, contactTo, now, log, random = Math.random } = parts
  const stopping = new AbortController()
  const inHand = new Set<Promise<unknown>>()
  let serverAway = false

  /** Retried while the database is away: forgetting it would mean to send twice. */
  async function recordDelivery(message: ClaimedContact): Promise<void> {
    for (;;) {
      try {
        await claims.delivered(message)
        return
      } catch (cause) {
        const about = { err: cause, contactMessageId: message.id }
        if (stopping.signal.aborted) {
          return log.error(about, 'a contact message was delivered, but not recorded: it will arrive again')
        }
        log.warn(about, 'a delivery cannot be recorded yet')
        await delay(RECORD_AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => {})
      }
    }
  }

  /** When this fails too, the claim ends by itself. */
  async function recordFailure(message: ClaimedContact, error: MailError): Promise<void> {
    const stopped = stopping.signal.aborted && !error.handedOver
    if (stopped) return void (await claims.release(message))
    const waitMs = retryDelayMs(message.attempts, error.kind, random)
    const reason = error.handedOver ? `${error.message} (it may have arrived nevertheless)` : error.message
    await claims.failed(message, new Date(now().getTime() + waitMs), reason)
  }

  /** An outage is told once, not once a message. */
  function tell(message: ClaimedContact, error: MailError | undefined): void {
    const about = { contactMessageId: message.id, kind: error?.kind, reason: error?.message }
    if (!error && serverAway) log.info('the mail server takes mail again')
    if (error && !(serverAway && error.kind === 'away')) log.warn(about, 'mail not delivered')
    serverAway = error?.kind === 'away'
  }

  async function send(message: ClaimedContact, onDelivered: () => void): Promise<Outcome> {
    const renewing = setInterval(() => {
      claims.renew(message).catch((cause) => log.warn({ err: cause }, 'a claim cannot be renewed'))
    }, claims.renewEveryMs)
    try {
      await mailer.send(contactMail(message, contactTo, mailer.domain), stopping.signal)
      onDelivered()
      tell(message, undefined)
      await recordDelivery(message)
      return 'delivered'
    } catch (cause) {
      if (!(cause instanceof MailError)) throw cause
      tell(message, cause)
      await recordFailure(message, cause).catch((err) => {
        log.warn({ err, contactMessageId: message.id }, 'a failed delivery cannot be recorded')
      })
      return cause.kind === 'away' ? 'away' : 'failed'
    } finally {
      clearInterval(renewing)
    }
  }

  /** Sends one claimed message and records what came of it; `onDelivered` hears of the server's 250 at once. */
  function attempt(message: ClaimedContact, onDelivered: () => void = () => {}): Promise<Outcome> {
    const work = send(message, onDelivered).finally(() => inHand.delete(work))
    inHand.add(work)
    return work
  }

  return {
    attempt,

    /** False from the moment the process begins to end. */
    isOpen: () => !stopping.signal.aborted,

    /** Sends what is due, one after the other; stops early when the server is away. */
    async runDue(): Promise<void> {
      await claims.freeAbandoned()
      for (let sent = 0; sent < MESSAGES_PER_RUN && !stopping.signal.aborted; sent++) {
        const message = await claims.takeDue()
        if (!message || (await attempt(message)) === 'away') return
      }
    },

    /** Ends what is being sent, in a few seconds, and takes nothing more. Safe to call twice. */
    async close(): Promise<void> {
      stopping.abort()
      while (inHand.size > 0) await Promise.allSettled(inHand)
    },
  }
}
export type ContactDelivery = ReturnType<typeof createContactDelivery>
