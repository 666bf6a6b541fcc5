import { createStore, type Store } from '../ui/store.ts'

const DEAD_ZONE_KEY = 'wheelhouse-dead-zone'
const limitKey = (robotId: string) => `wheelhouse-speed-limit:${robotId}`

export const LEAST_LIMIT = 0.05
export const MOST_DEAD_ZONE = 0.5

/** How somebody likes to drive, remembered by this browser. */
export interface DrivePreferences {
  /** The share of full speed that is allowed for this robot: `LEAST_LIMIT` to 1. */
  readonly limit: Store<number>
  /** Of gamepads: 0 to `MOST_DEAD_ZONE`. */
  readonly deadZone: Store<number>
}

export const loadPreferences = (robotId: string): DrivePreferences => ({
  limit: remembered(limitKey(robotId), { least: LEAST_LIMIT, most: 1, otherwise: 0.5 }),
  deadZone: remembered(DEAD_ZONE_KEY, { least: 0, most: MOST_DEAD_ZONE, otherwise: 0.15 }),
})

/** A number that outlives the page, where the browser allows it. */
function remembered(key: string, range: { least: number; most: number; otherwise: number }): Store<number> {
  const store = createStore(range.otherwise)
  try {
    const known = Number(localStorage.getItem(key) ?? Number.NaN)
    if (known >= range.least && known <= range.most) store.set(known)
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
