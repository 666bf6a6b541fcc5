/**
 * Why a message was not sent. `deferred`: the server said "later" (4xx); `refused`: it said "no" (5xx); `away`:
 * there was no answer, so other messages would fare alike.
 */
export type NotSent = 'deferred' | 'refused' | 'away'

const MAX_REASON_LENGTH = 500

export class MailError extends Error {
  readonly kind: NotSent
  /** True when the server had all of the message: it may have taken it without our hearing of it. */
  readonly handedOver: boolean

  constructor(
    why: { kind: NotSent; reason: string },
    { cause, handedOver }: { cause: unknown; handedOver: boolean },
  ) {
    super(why.reason, { cause })
    this.kind = why.kind
    this.handedOver = handedOver && why.kind === 'away' // an answer, even a refusal, leaves no doubt
  }
}

/** Reads the mail library's error; the reason is one line that the database can keep. */
export function whyNotSent(cause: unknown): { kind: NotSent; reason: string } {
  const { responseCode, permanent, code } = cause as {
    responseCode?: number
    permanent?: boolean
    code?: string
  }
  const told = code === 'EABORT' ? (cause as Error).cause : cause
  const text = told instanceof Error ? told.message : String(told)
  const reason = text
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_REASON_LENGTH)
    .toWellFormed()
  // 421 closes the connection, whatever was asked: it is about the server, not about the message.
  if (responseCode === undefined || responseCode === 421) return { kind: 'away', reason }
  return { kind: permanent ? 'refused' : 'deferred', reason }
}
