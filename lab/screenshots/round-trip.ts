import { z } from 'zod'

const Sample = z.object({ pose: z.object({ x_m: z.number(), y_m: z.number(), heading_rad: z.number() }) })

/** Waypoints up and down the wide aisle of the demo's warehouse, before its first pallet. */
const ROUND: readonly (readonly [xM: number, yM: number])[] = [
  [5, 4.3],
  [7, 4.2],
  [7.2, 5],
  [5.5, 5.3],
  [3.5, 5.2],
  [3.2, 4.5],
]
const REACHED_M = 0.35
const TURN_FIRST_RAD = 0.9
const STRAIGHT_RAD = 0.2
/** The segments of the route on which the camera sees the pallet and the person. */
const PHOTOGRAPHED_LEGS: readonly number[] = [0, 1]

/** Steering input: speed and turn rate, both from -1 to 1. */
export interface Steering {
  readonly forward: number
  readonly left: number
}

/** Steers a robot around its room in circles, according to its telemetry. */
export function createRoundTrip() {
  let next = 0
  let errorRad = Math.PI
  return {
    /** The number of waypoints it has passed. */
    get passed(): number {
      return next
    },
    /** Whether it drives straight ahead and the camera sees an obstacle. */
    get scenic(): boolean {
      return PHOTOGRAPHED_LEGS.includes(next % ROUND.length) && Math.abs(errorRad) < STRAIGHT_RAD
    },
    /** @param sample telemetry of a simulated robot; undefined when it contains no pose */
    steer(sample: unknown): Steering | undefined {
      const { data } = Sample.safeParse(sample)
      if (!data) return undefined
      const { x_m: xM, y_m: yM, heading_rad: headingRad } = data.pose
      const awayM = ([toXM, toYM]: (typeof ROUND)[number]) => Math.hypot(toXM - xM, toYM - yM)
      const target = () => ROUND[next % ROUND.length] as (typeof ROUND)[number]
      if (awayM(target()) < REACHED_M) next++
      const [toXM, toYM] = target()
      const turnRad = Math.atan2(toYM - yM, toXM - xM) - headingRad
      errorRad = Math.atan2(Math.sin(turnRad), Math.cos(turnRad))
      return {
        forward: Math.abs(errorRad) > TURN_FIRST_RAD ? 0 : 1,
        left: Math.max(-1, Math.min(1, errorRad * 1.5)),
      }
    },
  }
}
export type RoundTrip = ReturnType<typeof createRoundTrip>
