import { setTimeout as delay } from 'node:timers/promises'
import type { StandardWebSocketConstructor } from '@wheelhouse/sdk'
import type { Person } from '../cast.ts'
import type { Evidence } from '../evidence.ts'
import type { Random } from '../random.ts'
import { createRest, patience, type Rest } from '../rest.ts'
import type { HubView } from './hub-view.ts'

/** What a player has to play with. */
export interface Scene {
  readonly person: Person
  readonly baseUrl: string
  readonly rest: Rest
  readonly view: HubView
  readonly random: Random
  readonly evidence: Evidence
  readonly Socket: StandardWebSocketConstructor
  /** Says that the robot of a session is about to be stopped or paused on purpose. */
  readonly excuse: (sessionId: string) => void
  /** Aborted when the play is over. */
  readonly over: AbortSignal
}

export function createScene(parts: Omit<Scene, 'rest'>): Scene {
  const { baseUrl, person, evidence, random } = parts
  return {
    ...parts,
    rest: createRest({ baseUrl, apiKey: person.apiKey, evidence, limitMs: patience(random) }),
  }
}

/** Waits, at most until the play is over. */
export async function rest(over: AbortSignal, ms: number): Promise<void> {
  await delay(ms, undefined, { signal: over }).catch(() => {})
}
