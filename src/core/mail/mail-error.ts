/**
 * Why a message was not sent. `deferred`: the server said "later" (4xx); `refused`: it said "no" (5xx); `away`:
 * there was no answer, so other messages would fare alike.
 */
export type MailFailureKind = 'deferred' | 'refused' | 'away'

const MAX_REASON_LENGTH = 500

export class MailError extends Error {
  readonly kind: MailFailureKind
  /** True when the server had all of the message: it may have taken it without our hearing of it. */
  readonly handedOver: boolean

  constructor(
    failure: { kind: MailFailureKind; reason: string },
    { cause, handedOver }: { cause: unknown; handedOver: boolean },
  ) {
    super(failure.reason, { cause })
    this.kind = failure.kind
    this.handedOver = handedOver && failure.kind === 'away' // an answer, even a refusal, leaves no doubt
  }
}

/** Reads the mail library's error; the reason is one line that the database can keep. */
export function classifyMailError(cause: unknown): { kind: MailFailureKind; reason: string } {
  const { responseCode, permanent, code } = cause as {
    responseCode?: number
    permanent?: boolean
    code?: string
  }
  const source = code === 'EABORT' ? (cause as Error).cause : cause
  const text = source instanceof Error ? source.message : String(source)
  const reason = text
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_REASON_LENGTH)
    .toWellFormed()
  // 421 closes the connection, whatever was asked: it is about the server, not about the message.
  if (responseCode === undefined || responseCode === 421) return { kind: 'away', reason }
  return { kind: permanent ? 'refused' : 'deferred', reason }
}
