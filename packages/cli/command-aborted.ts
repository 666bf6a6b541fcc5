import type { ExitOutcome } from './exit-codes.ts'

/** The reason with which the signal of a command is aborted. */
export class CommandAborted extends Error {
  readonly outcome: ExitOutcome
  constructor(outcome: ExitOutcome, message: string) {
    super(message)
    this.outcome = outcome
  }
}
