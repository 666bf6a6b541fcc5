/** An expected failure. The message says what to do next. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly outcome: ExitOutcome

  constructor(outcome: ExitOutcome, message: string, options?: ErrorOptions) {
    super(message, options)
    this.outcome = outcome
  }
}

/** The reason with which the signal of a command is aborted. */
export class CommandAborted extends Error {
  readonly outcome: ExitOutcome
  constructor(outcome: ExitOutcome, message: string) {
    super(message)
    this.outcome = outcome
  }
}

/**
 * Exit codes of the program. They are stable, because scripts depend on them. With `--json`, the name is also the
 * `code` of a printed error.
 */
export const EXIT = {
  done: 0,
  /** The platform refused the request, or failed in a way that no other code names. */
  refused: 1,
  /** The command line is wrong: an unknown command, a missing argument, an invalid value. */
  usage: 2,
  /** No sign-in, or the credential is expired, revoked or unknown. */
  not_signed_in: 3,
  /** The resource does not exist (any more), or the account may not see it. */
  not_found: 4,
  /** The current state forbids the action: a robot in use, a session that is over. */
  conflict: 5,
  /** No response, no connection, or a platform that is not ready. A repetition may succeed later. */
  unreachable: 6,
  /** The account may not do this. */
  not_allowed: 7,
  /** Too many requests. The message says when to try again. */
  too_many: 8,
  /** An internal error of the program. */
  internal: 70,
  /** Ended by Ctrl-C, or by "no" as the answer to a prompt. */
  interrupted: 130,
  /** Ended by SIGTERM. */
  terminated: 143,
} as const

export type ExitOutcome = keyof typeof EXIT

/** Returns the outcome of a response status. 0 means no response. */
export function outcomeOf(status: number): ExitOutcome {
  if (status === 401) return 'not_signed_in'
  if (status === 403) return 'not_allowed'
  if (status === 404 || status === 410) return 'not_found'
  if (status === 409 || status === 412) return 'conflict'
  if (status === 429) return 'too_many'
  return status === 0 || status === 502 || status === 503 || status === 504 ? 'unreachable' : 'refused'
}
