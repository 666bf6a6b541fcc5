/**
 * Why a mail was not sent. `deferred`: the server responded 4xx. `refused`: the server responded 5xx. `away`: the
 * server did not respond, so other mails would fail as well.
 */
export type MailFailureKind = 'deferred' | 'refused' | 'away'

/** Longest reason of a mail server that is stored, in characters. */
const MAX_REASON_LENGTH = 500

export class MailError extends Error {
  readonly kind: MailFailureKind
  /** True when the complete message was transmitted: the server may have accepted it although no response arrived. */
  readonly handedOver: boolean

  constructor(
    failure: { kind: MailFailureKind; reason: string },
    { cause, handedOver }: { cause: unknown; handedOver: boolean },
  ) {
    super(failure.reason, { cause })
    this.kind = failure.kind
    this.handedOver = handedOver && failure.kind === 'away' // a response of the server, even a refusal, is definite
  }
}

/** Classifies an error of the mail library. The reason is one line that the database can store. */
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
  // 421 closes the connection in response to any command: it concerns the server, not the mail.
  if (responseCode === undefined || responseCode === 421) return { kind: 'away', reason }
  return { kind: permanent ? 'refused' : 'deferred', reason }
}
