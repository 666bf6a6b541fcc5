import { createStore, type Store } from '../ui/store.ts'

const DEAD_ZONE_KEY = 'wheelhouse-dead-zone'
const limitKey = (robotId: string) => `wheelhouse-speed-limit:${robotId}`

export const MIN_SPEED_LIMIT = 0.05
export const MAX_DEAD_ZONE = 0.5

/** How somebody likes to drive, remembered by this browser. */
export interface DrivePreferences {
  /** The share of full speed that is allowed for this robot: `LEAST_LIMIT` to 1. */
  readonly limit: Store<number>
  /** Of gamepads: 0 to `MOST_DEAD_ZONE`. */
  readonly deadZone: Store<number>
}

export const loadPreferences = (robotId: string): DrivePreferences => ({
  limit: createPersistedNumber(limitKey(robotId), { min: MIN_SPEED_LIMIT, max: 1, fallback: 0.5 }),
  deadZone: createPersistedNumber(DEAD_ZONE_KEY, { min: 0, max: MAX_DEAD_ZONE, fallback: 0.15 }),
})

/** A number that outlives the page, where the browser allows it. */
function createPersistedNumber(
  key: string,
  range: { min: number; max: number; fallback: number },
): Store<number> {
  const store = createStore(range.fallback)
  try {
    const stored = Number(localStorage.getItem(key) ?? Number.NaN)
    if (stored >= range.min && stored <= range.max) store.set(stored)
  } catch {
    // Without storage, nothing is remembered.
  }
  store.subscribe(() => {
    try {
      localStorage.setItem(key, String(store.get()))
    } catch {
      // As above.
    }
  })
  return store
}
