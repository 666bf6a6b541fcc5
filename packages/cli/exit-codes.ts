/**
 * What the exit code of the program says. Stable: scripts depend on it. A name of this table is also the `code` of an
 * error printed with `--json`.
 */
export const EXIT = {
  done: 0,
  /** The platform understood, and refused, or failed in a way that none of the others names. */
  refused: 1,
  /** The command line is wrong: an unknown command, a missing argument, a value that cannot be meant. */
  usage: 2,
  /** Nobody is signed in, or the credential is expired, revoked or unknown. */
  not_signed_in: 3,
  /** There is no such thing (any more), or none that the account may see. */
  not_found: 4,
  /** The state of things forbids it: a robot in use, a session that is over. */
  conflict: 5,
  /** No answer, no connection, or a platform that says it is not ready. The same may work later. */
  unreachable: 6,
  /** The account may not do this. */
  not_allowed: 7,
  /** Asked too often; the message says when to ask again. */
  too_many: 8,
  /** A fault of the program itself. */
  internal: 70,
  /** Ended by Ctrl-C, or by "no" at a question. */
  interrupted: 130,
  /** Ended by SIGTERM. */
  terminated: 143,
} as const

export type ExitOutcome = keyof typeof EXIT

/** Which of them an answer of the platform means. 0 stands for no answer. */
export function outcomeOf(status: number): ExitOutcome {
  if (status === 401) return 'not_signed_in'
  if (status === 403) return 'not_allowed'
  if (status === 404 || status === 410) return 'not_found'
  if (status === 409 || status === 412) return 'conflict'
  if (status === 429) return 'too_many'
  return status === 0 || status === 502 || status === 503 || status === 504 ? 'unreachable' : 'refused'
}
