import { createStore, type Store } from '../ui/store.ts'

const DEAD_ZONE_KEY = 'wheelhouse-dead-zone'
const limitKey = (robotId: string) => `wheelhouse-speed-limit:${robotId}`

export const MIN_SPEED_LIMIT = 0.05
export const MAX_DEAD_ZONE = 0.5

/** The operator's drive settings, stored in this browser. */
export interface DrivePreferences {
  /** The allowed share of full speed for this robot: `MIN_SPEED_LIMIT` to 1. */
  readonly limit: Store<number>
  /** The dead zone of gamepads: 0 to `MAX_DEAD_ZONE`. */
  readonly deadZone: Store<number>
}

export const loadPreferences = (robotId: string): DrivePreferences => ({
  limit: createPersistedNumber(limitKey(robotId), { min: MIN_SPEED_LIMIT, max: 1, fallback: 0.5 }),
  deadZone: createPersistedNumber(DEAD_ZONE_KEY, { min: 0, max: MAX_DEAD_ZONE, fallback: 0.15 }),
})

/** Creates a number that is stored in this browser, if the browser allows it. */
function createPersistedNumber(
  key: string,
  range: { min: number; max: number; fallback: number },
): Store<number> {
  const store = createStore(range.fallback)
  try {
    const stored = Number(localStorage.getItem(key) ?? Number.NaN)
    if (stored >= range.min && stored <= range.max) store.set(stored)
  } catch {
    // Without storage the default applies.
  }
  store.subscribe(() => {
    try {
      localStorage.setItem(key, String(store.get()))
    } catch {
      // Without storage the value lasts until the page closes.
    }
  })
  return store
}
