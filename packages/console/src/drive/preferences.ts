import { createPersisted } from '../ui/persisted.ts'
import type { Store } from '../ui/store.ts'
import { type ControlProfile, loadControlProfile } from './control-profile.ts'

const HAND_KEY = 'wheelhouse-hand'
const limitKey = (robotId: string) => `wheelhouse-speed-limit:${robotId}`

export const MIN_SPEED_LIMIT = 0.05
export const LIMIT_STEP = 0.05

/** The operator's drive settings, stored in this browser. */
export interface DrivePreferences {
  /** The allowed share of full speed for this robot: `MIN_SPEED_LIMIT` to 1. */
  readonly limit: Store<number>
  /** Changes the limit by this number of steps of 5 %. */
  stepLimit(steps: number): void
  /** How a gamepad drives robots of this type. */
  readonly controls: Store<ControlProfile>
  /** The hand that holds the stick on a phone. */
  readonly hand: Store<Hand>
}

export type Hand = 'right' | 'left'

export function loadPreferences(robotId: string, robotType: string): DrivePreferences {
  const limit = createPersistedNumber(limitKey(robotId), { min: MIN_SPEED_LIMIT, max: 1, fallback: 0.5 })
  const clamp = (share: number) => Math.min(1, Math.max(MIN_SPEED_LIMIT, share))
  return {
    limit,
    stepLimit: (steps) =>
      limit.update((share) => clamp((Math.round(share / LIMIT_STEP) + steps) * LIMIT_STEP)),
    controls: loadControlProfile(robotType),
    hand: loadHand(),
  }
}

/** Returns the hand that holds the stick on a phone, stored in this browser. */
export const loadHand = (): Store<Hand> =>
  createPersisted<Hand>(HAND_KEY, 'right', (text) => (text === 'left' ? 'left' : 'right'))

function createPersistedNumber(
  key: string,
  range: { min: number; max: number; fallback: number },
): Store<number> {
  return createPersisted(key, range.fallback, (text) => {
    const stored = Number(text)
    return stored >= range.min && stored <= range.max ? stored : range.fallback
  })
}
