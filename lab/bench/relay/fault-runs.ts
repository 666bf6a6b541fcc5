import { setTimeout as delay } from 'node:timers/promises'
import { waitUntil } from '../../../src/core/concurrency/concurrency.ts'
import { type Distribution, Histogram } from './histogram.ts'
import type { Pair, StopReceived } from './pair.ts'
import type { Form } from './payload.ts'

const CONTROL_EVERY_MS = 20
/** Every period of control has a different length, so that silence begins at any phase of the server's timers. */
const DRIVE_MS = { least: 300, most: 600 }
const STOP_LIMIT_MS = 2_000
/** Time to wait for a second stop; a server that repeats itself would do so within its deadman time. */
const AFTERWARDS_MS = 500
const STOP_REASON = 'bench'

export interface Stall {
  /** From the write of the operator's last control frame to the stop that the robot read; undefined without a stop. */
  readonly afterMs: number | undefined
  readonly stops: number
  readonly reasons: readonly string[]
}

/** Repeats: an operator drives and falls silent with an open socket, and the robot waits for its stop. */
export async function stallPair(pair: Pair, rounds: number, form: Form): Promise<Stall[]> {
  const stalls: Stall[] = []
  for (let round = 0; round < rounds; round++) {
    const untilMs = performance.now() + DRIVE_MS.least + Math.random() * (DRIVE_MS.most - DRIVE_MS.least)
    while (performance.now() < untilMs) {
      pair.control(form)
      await delay(CONTROL_EVERY_MS)
    }
    // A stop that arrived while it drove does not belong to this silence.
    const received: StopReceived[] = []
    pair.onStop = (stop) => void received.push(stop)
    await waitUntil(() => received.length > 0, STOP_LIMIT_MS)
    await delay(AFTERWARDS_MS)
    pair.onStop = () => {}
    stalls.push({
      afterMs: received[0] && received[0].atMs - pair.writtenAtMs,
      stops: received.length,
      reasons: received.map((stop) => stop.reason),
    })
  }
  return stalls
}

export interface StopReport {
  readonly requested: number
  readonly latency: Distribution
  /** Requests without a stop. */
  readonly missed: number
}

/** Requests one stop for each of these pairs, one after another, while all of them drive. */
export async function requestStops(
  pairs: readonly Pair[],
  { side, everyMs }: { side: 'operator' | 'observer'; everyMs: number },
): Promise<StopReport> {
  const latency = new Histogram()
  let missing = pairs.length
  for (const pair of pairs) {
    await delay(everyMs)
    const requestedMs = performance.now()
    pair.onStop = ({ latched, atMs }) => {
      if (!latched) return
      pair.onStop = () => {}
      missing--
      latency.record((atMs - requestedMs) * 1_000)
    }
    if (!pair.sendTo(side, { type: 'stop', reason: STOP_REASON })) pair.onStop = () => {}
  }
  await waitUntil(() => missing === 0, STOP_LIMIT_MS)
  return { requested: pairs.length, latency: latency.summary(), missed: missing }
}
