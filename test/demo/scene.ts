import { setTimeout as delay } from 'node:timers/promises'
import type { Person } from '../../tools/demo/play-person.ts'
import type { OwnStage } from '../../tools/demo/play-stage.ts'
import { type Transcript, Unmet } from '../../tools/demo/play-transcript.ts'
import { deliver } from '../support/stripe/events.ts'
import type { StripeStandIn } from '../support/stripe/server.ts'

/** Who plays, and what is on either side of the money. */
export interface Scene {
  readonly transcript: Transcript
  readonly stage: OwnStage
  readonly stripe: StripeStandIn
  readonly owner: Person
  readonly operator: Person
  /** The platform's clock, in milliseconds. */
  readonly nowMs: () => number
  /** Lets it go on. */
  readonly passTime: (ms: number) => void
}

/** One part of the story; `playMoney` plays one after the other on the same scene. */
export type Chapter = (scene: Scene) => Promise<void>

export const euros = (cents: number): string => `${(cents / 100).toFixed(2)} EUR`

/** Stripe tells of a change, signed. @throws Unmet when the platform does not take it */
export async function stripeTells(
  { transcript, stage, nowMs }: Scene,
  event: { readonly type: string },
): Promise<void> {
  transcript.sends('STRIPE', `POST /api/payments/webhook ${event.type}, signed`)
  const status = await deliver(stage.baseUrl, event, { atMs: nowMs() })
  if (status !== 200) throw new Unmet(`The event ${event.type} was answered ${status} instead of 200`)
  transcript.sees('STRIPE', `${status}: it need not come again`)
}

/** Asks again and again until the answer is as it should be. @throws Unmet when the patience ends */
export async function until<T>(
  { patienceMs, signal }: Transcript,
  what: string,
  ask: () => Promise<T | undefined>,
): Promise<T> {
  const lastAtMs = performance.now() + patienceMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    signal.throwIfAborted()
    if (performance.now() > lastAtMs) throw new Unmet(`${what} did not come within ${patienceMs} ms`)
    await delay(100, undefined, { signal })
  }
}

/** What must be so for the story to go on. @throws Unmet */
export function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Unmet(otherwise)
}
