import { setTimeout as delay } from 'node:timers/promises'
import { deliver } from '../../test/support/stripe/events.ts'
import type { FakeStripe } from '../../test/support/stripe/server.ts'
import type { DemoActor } from '../../tools/demo/demo-actor.ts'
import type { LocalEnvironment } from '../../tools/demo/environment.ts'
import { ExpectationError, type Transcript } from '../../tools/demo/transcript.ts'

/** The participants, and both sides of the money flow. */
export interface PaymentScenario {
  readonly transcript: Transcript
  readonly environment: LocalEnvironment
  readonly stripe: FakeStripe
  readonly owner: DemoActor
  readonly operator: DemoActor
  /** The platform's clock, in milliseconds. */
  readonly nowMs: () => number
  /** Advances it. */
  readonly passTime: (ms: number) => void
}

/** One part of the demo; the parts run one after another in the same scenario. */
export type Chapter = (scenario: PaymentScenario) => Promise<void>

export const euros = (cents: number): string => `${(cents / 100).toFixed(2)} EUR`

/** Sends a signed event from Stripe. @throws ExpectationError when the platform rejects it */
export async function sendStripeEvent(
  { transcript, environment, nowMs }: PaymentScenario,
  event: { readonly type: string },
): Promise<void> {
  transcript.logSent('STRIPE', `POST /api/payments/webhook ${event.type}, signed`)
  const status = await deliver(environment.baseUrl, event, { atMs: nowMs() })
  if (status !== 200)
    throw new ExpectationError(`The event ${event.type} was answered ${status} instead of 200`)
  transcript.logReceived('STRIPE', `${status}: Stripe does not send it again`)
}

/** Repeats a check until it succeeds. @throws ExpectationError when the timeout is over */
export async function until<T>(
  { expectationTimeoutMs, signal }: Transcript,
  what: string,
  ask: () => Promise<T | undefined>,
): Promise<T> {
  const lastAtMs = performance.now() + expectationTimeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    signal.throwIfAborted()
    if (performance.now() > lastAtMs)
      throw new ExpectationError(`${what} did not appear within ${expectationTimeoutMs} ms`)
    await delay(100, undefined, { signal })
  }
}

/** Asserts a condition of the demo. @throws ExpectationError */
export function must(predicate: boolean, otherwise: string): void {
  if (!predicate) throw new ExpectationError(otherwise)
}
