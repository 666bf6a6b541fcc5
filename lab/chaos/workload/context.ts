import { setTimeout as delay } from 'node:timers/promises'
import type { StandardWebSocketConstructor } from '@wheelhouse/sdk'
import type { Evidence } from '../evidence.ts'
import type { TestUser } from '../fixtures.ts'
import type { Random } from '../random.ts'
import { createRest, type Rest, randomTimeout } from '../rest.ts'
import type { HubView } from './hub-view.ts'

/** Everything that an actor needs. */
export interface ActorContext {
  readonly user: TestUser
  readonly baseUrl: string
  readonly rest: Rest
  readonly view: HubView
  readonly random: Random
  readonly evidence: Evidence
  readonly Socket: StandardWebSocketConstructor
  /** Announces that the robot of a session is about to be stopped or paused on purpose. */
  readonly expectInterruption: (sessionId: string) => void
  /** Aborted when the load ends. */
  readonly over: AbortSignal
}

export function createActorContext(parts: Omit<ActorContext, 'rest'>): ActorContext {
  const { baseUrl, user, evidence, random } = parts
  return {
    ...parts,
    rest: createRest({ baseUrl, apiKey: user.apiKey, evidence, limitMs: randomTimeout(random) }),
  }
}

/** Waits, at most until the load ends. */
export async function rest(over: AbortSignal, ms: number): Promise<void> {
  await delay(ms, undefined, { signal: over }).catch(() => {})
}
