import type { Outcome } from './exit-codes.ts'

/** Something went wrong that the program understands; the message says what to do next. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly outcome: Outcome

  constructor(outcome: Outcome, message: string, options?: ErrorOptions) {
    super(message, options)
    this.outcome = outcome
  }
}
