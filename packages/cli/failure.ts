import type { ExitOutcome } from './exit-codes.ts'

/** An expected failure. The message says what to do next. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly outcome: ExitOutcome

  constructor(outcome: ExitOutcome, message: string, options?: ErrorOptions) {
    super(message, options)
    this.outcome = outcome
  }
}
