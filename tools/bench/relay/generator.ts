import { waitUntil } from '../../../src/core/concurrency/async.ts'
import { offer, sayReady } from '../rpc.ts'
import { pressStops, type Stall, stallPair } from './drills.ts'
import { type ControlFlood, createDriving, type Steady } from './driving.ts'
import type { Door } from './end-socket.ts'
import { Pair } from './pair.ts'
import { PauseWatch } from './pauses.ts'
import type { Form } from './payload.ts'
import { Tally } from './tally.ts'
import type { End } from './wires/wire.ts'

// The load generator of the control relay: one process with both ends of every pair, so that one clock measures.

const HANDSHAKES_AT_A_TIME = 32
const BEAT_EVERY_MS = 1_000
const BEAT_TICK_MS = 20
/** Frames that have not arrived so long after the last one was sent are lost. */
const SETTLE_LIMIT_MS = 2_000

const clock = new PauseWatch(performance.now())
const tally = new Tally(clock)
const pairs: Pair[] = []
const driving = createDriving({ pairs, clock, tally })
const parts = { clock, tally, onAnswered: (pair: Pair) => driving.answered(pair) }

/** Connects these ends, robots before operators. */
async function open(ends: readonly End[], door: Door): Promise<void> {
  for (const side of ['robot', 'operator', 'watcher'] as const) {
    const queue = ends.filter((end) => end.side === side).values()
    const lane = async () => {
      for (const end of queue) {
        pairs[end.pair] ??= new Pair(end.pair, parts)
        await pairs[end.pair]?.connect(end, door)
      }
    }
    await Promise.all(Array.from({ length: HANDSHAKES_AT_A_TIME }, lane))
  }
}

/** Robots owe their gateway a heartbeat a second; evenly spread, whatever the event loop does meanwhile. */
function beat(): void {
  let next = 0
  let owed = 0
  setInterval(() => {
    owed += (pairs.length * BEAT_TICK_MS) / BEAT_EVERY_MS
    for (; owed >= 1; owed--) pairs[next++ % pairs.length]?.say('robot', { type: 'heartbeat' })
  }, BEAT_TICK_MS)
}

const handlers = {
  open,
  beat,
  startSteady: (steady: Steady) => driving.startSteady(steady),
  startFlood: (flood: ControlFlood) => driving.startFlood(flood),
  /** What has happened since the last mark, or since the driving began. */
  report: () => tally.report(),
  mark: () => tally.mark(),
  /** Ends the driving and waits for what is under way: how many frames were lost without a word. */
  async stopDriving() {
    driving.stopSending()
    await waitUntil(() => tally.missing <= 0, SETTLE_LIMIT_MS)
    driving.stopSpinning()
    return { lost: tally.missing }
  },
  /** Pairs whose session is ACTIVE, with a robot, and under no latched stop. */
  drivable: () =>
    pairs.filter(
      ({ state }) => state.status === 'ACTIVE' && state.robot_connected === true && !state.stop?.latched,
    ).length,
  async stalls(count: number, rounds: number, form: Form): Promise<Stall[]> {
    const stalls = await Promise.all(pairs.slice(0, count).map((pair) => stallPair(pair, rounds, form)))
    return stalls.flat()
  },
  /** Presses at one side of the pairs from `from` to before `to`, which must be driving. */
  presses: (side: 'operator' | 'watcher', from: number, to: number, everyMs: number) =>
    pressStops(pairs.slice(from, to), { side, everyMs }),
  /** Control frames that robots have read while they stood under a latched stop. */
  movedUnderStop: () => pairs.reduce((total, pair) => total + pair.movedUnderStop, 0),
}
export type RelayGenerator = typeof handlers

offer(handlers)
process.on('SIGINT', () => {}) // Ctrl-C reaches the whole terminal; the benchmark ends us in its own order
sayReady(0)
