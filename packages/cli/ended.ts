import type { Outcome } from './exit-codes.ts'

/** The reason with which the signal of a command is aborted. */
export class Ended extends Error {
  readonly outcome: Outcome
  constructor(outcome: Outcome, message: string) {
    super(message)
    this.outcome = outcome
  }
}
