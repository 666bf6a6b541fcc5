import { waitUntil } from '../../../src/core/concurrency/concurrency.ts'
import { offer, sendReady } from '../../../test/support/processes/rpc.ts'
import { type ControlFlood, createDriving, type Steady } from './control-load.ts'
import type { RelayAddress } from './endpoint-socket.ts'
import { requestStops, type Stall, stallPair } from './fault-runs.ts'
import { LatencyRecorder } from './latency-recorder.ts'
import { Pair } from './pair.ts'
import { PauseWatch } from './pauses.ts'
import type { Form } from './payload.ts'
import type { End } from './wires/wire.ts'

// The load generator of the control relay: one process with both ends of every pair, so that one clock measures.

const HANDSHAKES_AT_A_TIME = 32
const BEAT_EVERY_MS = 1_000
const BEAT_TICK_MS = 20
const TELEMETRY_TICK_MS = 5
/** Frames that have not arrived this long after the last one was sent are lost. */
const SETTLE_LIMIT_MS = 2_000

const clock = new PauseWatch(performance.now())
const recorder = new LatencyRecorder(clock)
const pairs: Pair[] = []
const driving = createDriving({ pairs, clock, recorder })
const parts = { clock, recorder, onAnswered: (pair: Pair) => driving.answered(pair) }

/** Connects these ends, robots before operators. */
async function open(ends: readonly End[], address: RelayAddress): Promise<void> {
  for (const side of ['robot', 'operator', 'observer'] as const) {
    const queue = ends.filter((end) => end.side === side).values()
    const channel = async () => {
      for (const end of queue) {
        pairs[end.pair] ??= new Pair(end.pair, parts)
        await pairs[end.pair]?.connect(end, address)
      }
    }
    await Promise.all(Array.from({ length: HANDSHAKES_AT_A_TIME }, channel))
  }
}

/** Sends each robot's heartbeat once a second, evenly spread, by the clock. */
function beat(): void {
  let next = 0
  let due = 0
  setInterval(() => {
    due += (pairs.length * BEAT_TICK_MS) / BEAT_EVERY_MS
    for (; due >= 1; due--) pairs[next++ % pairs.length]?.sendTo('robot', { type: 'heartbeat' })
  }, BEAT_TICK_MS)
}

let telemetryTimer: NodeJS.Timeout | undefined
let telemetrySent = 0

/** Sends telemetry of each robot at this rate, evenly spread, by the clock. */
function startTelemetry(hz: number): void {
  let next = 0
  let due = 0
  let lastMs = performance.now()
  telemetrySent = 0
  telemetryTimer = setInterval(() => {
    const nowMs = performance.now()
    due += (pairs.length * hz * (nowMs - lastMs)) / 1_000
    lastMs = nowMs
    for (; due >= 1; due--)
      if (pairs[next++ % pairs.length]?.sendTo('robot', telemetryFrame(nowMs))) telemetrySent++
  }, TELEMETRY_TICK_MS)
}

const telemetryFrame = (nowMs: number) => ({
  type: 'telemetry',
  data: {
    pose: { x_m: nowMs / 1e6, y_m: 1.2345, heading_rad: 0.5678 },
    velocity: { linear_mps: 0.4, angular_radps: -0.25 },
    battery: 0.87,
  },
})

const handlers = {
  open,
  beat,
  startTelemetry,
  /** Returns the number of telemetry frames that were sent. */
  stopTelemetry(): number {
    clearInterval(telemetryTimer)
    return telemetrySent
  },
  startSteady: (steady: Steady) => driving.startSteady(steady),
  startFlood: (flood: ControlFlood) => driving.startFlood(flood),
  /** Returns counts since the last mark, or since control began. */
  report: () => recorder.report(),
  mark: () => recorder.mark(),
  /** Ends control and waits for frames in flight; returns the number of lost frames. */
  async stopDriving() {
    driving.stopSending()
    await waitUntil(() => recorder.missing <= 0, SETTLE_LIMIT_MS)
    driving.stopSpinning()
    return { lost: recorder.missing }
  },
  /** Returns pairs with an ACTIVE session, with a robot, and without a latched stop. */
  drivable: () =>
    pairs.filter(
      ({ state }) => state.status === 'ACTIVE' && state.robot_connected === true && !state.stop?.latched,
    ).length,
  async stalls(count: number, rounds: number, form: Form): Promise<Stall[]> {
    const stalls = await Promise.all(pairs.slice(0, count).map((pair) => stallPair(pair, rounds, form)))
    return stalls.flat()
  },
  /** Requests stops at one side of the pairs from `from` to before `to`, which must be driving. */
  stopRequests: (side: 'operator' | 'observer', from: number, to: number, everyMs: number) =>
    requestStops(pairs.slice(from, to), { side, everyMs }),
  /** Returns the number of control frames that robots read under a latched stop. */
  framesUnderStop: () => pairs.reduce((total, pair) => total + pair.framesUnderStop, 0),
}
export type RelayGenerator = typeof handlers

offer(handlers)
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole terminal; the benchmark ends this process
sendReady(0)
