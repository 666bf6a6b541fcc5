import { ObserverLink, OperatorLink, ticketsOf } from '@wheelhouse/sdk'
import type { Page } from 'playwright-core'
import type { Actor } from './fixtures.ts'
import { createRoundTrip, type RoundTrip } from './round-trip.ts'

const CONTROL_MS = 50
const LINEAR_MPS = 0.5
const ANGULAR_RADPS = 1.2
const WAIT_MS = 120_000
const REST_MS = 6_000

/**
 * Settles when the robot has passed this many more waypoints, and its camera shows an obstacle.
 * @throws Error when it takes too long
 */
export async function passes(trip: RoundTrip, points: number): Promise<void> {
  const goal = trip.passed + points
  const lastMs = performance.now() + WAIT_MS
  while (trip.passed < goal || !trip.scenic) {
    if (performance.now() > lastMs)
      throw new Error(`The robot has passed only ${trip.passed} of ${goal} waypoints.`)
    await tick()
  }
}

const tick = () => new Promise((done) => setTimeout(done, CONTROL_MS))

/** Creates a program that drives a session's robot around its room, through the SDK. */
export async function driveByProgram(baseUrl: string, { token }: Actor, sessionId: string) {
  const trip = createRoundTrip()
  let steering = trip.steer(undefined)
  const link = new OperatorLink({
    getTicket: ticketsOf({ baseUrl, token, sessionId, part: 'control' }),
    onTelemetry: (sample) => {
      steering = trip.steer(sample) ?? steering
    },
  })
  await link.connect()
  const timer = setInterval(() => {
    const { forward, left } = steering ?? { forward: 0, left: 0 }
    link.control({ linear_mps: forward * LINEAR_MPS, angular_radps: left * ANGULAR_RADPS })
  }, CONTROL_MS)
  return {
    trip,
    async close() {
      clearInterval(timer)
      await link.close()
    },
  }
}

/** Presses keys in a page, whose cockpit drives the robot around its room; the owner's connection reports its pose. */
export async function driveByKeys(baseUrl: string, { token }: Actor, sessionId: string, page: Page) {
  const trip = createRoundTrip()
  let sample: unknown
  const link = new ObserverLink({
    getTicket: ticketsOf({ baseUrl, token, sessionId, part: 'watch' }),
    onTelemetry: (data) => {
      sample = data
    },
  })
  await link.connect()
  const held = new Set<string>()
  const block = async (key: string, down: boolean) => {
    if (held.has(key) === down) return
    if (down) held.add(key)
    else held.delete(key)
    await (down ? page.keyboard.down(key) : page.keyboard.up(key))
  }
  let driving = true
  let restsUntilMs = 0
  const drive = async () => {
    while (driving) {
      const isResting = performance.now() < restsUntilMs
      const { forward, left } = (!isResting && trip.steer(sample)) || { forward: 0, left: 0 }
      await block('ArrowUp', forward > 0)
      await block('ArrowLeft', left > 0.3)
      await block('ArrowRight', left < -0.3)
      await tick()
    }
  }
  const driven = drive()
  return {
    trip,
    /** Halts until the encoder, which shares the processor with everything else, has caught up with the picture. */
    async rest() {
      restsUntilMs = performance.now() + REST_MS
      await new Promise((done) => setTimeout(done, REST_MS))
    },
    async close() {
      driving = false
      await driven
      for (const key of [...held]) await block(key, false)
      await link.close()
    },
  }
}
