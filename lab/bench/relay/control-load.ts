import type { LatencyRecorder } from './latency-recorder.ts'
import type { Pair } from './pair.ts'
import { PAUSE_MS, type PauseWatch } from './pauses.ts'
import type { Form } from './payload.ts'

/** A flooded pair without answers for this long gets its next frames nevertheless. */
const GIVE_UP_MS = 1_000
const RESTING_TICK_MS = 1

export interface Steady {
  readonly pairs: number
  /** Control frames a second of every pair. */
  readonly hz: number
  readonly form: Form
  /**
   * `spinning`: the generator never waits, for latencies to the microsecond. `resting`: it waits for events, and
   * leaves the processor to other processes.
   */
  readonly mode: 'spinning' | 'resting'
}

export interface ControlFlood {
  readonly pairs: number
  /** Control frames in one write of one pair; the next ones follow when all of them are answered. */
  readonly framesPerWrite: number
  readonly form: Form
}

/** Sends control: frame k of every pair is due at a fixed time, or as soon as the previous ones are answered. */
export function createDriving(parts: {
  pairs: readonly Pair[]
  clock: PauseWatch
  recorder: LatencyRecorder
}) {
  const { pairs, clock, recorder } = parts
  let nextSpin: NodeJS.Immediate | undefined
  let whenTurned = (_nowMs: number) => {}
  let flood: ControlFlood | undefined
  let timer: NodeJS.Timeout | undefined

  /** Never waits for events, so that it reads frames immediately and can distinguish pauses from waiting. */
  function spin(): void {
    nextSpin = setImmediate(spin)
    const nowMs = performance.now()
    clock.turn(nowMs)
    whenTurned(nowMs)
  }

  function startSpinning(): void {
    if (nextSpin) return
    clock.restart(performance.now())
    nextSpin = setImmediate(spin)
  }

  const driven = (count: number) => {
    if (pairs.length < count) throw new Error(`${count} pairs must drive, ${pairs.length} are connected`)
    return pairs.slice(0, count)
  }

  return {
    startSteady({ pairs: count, hz, form, mode }: Steady): void {
      const chosen = driven(count)
      recorder.begin()
      if (mode === 'spinning') startSpinning()
      else timer = setInterval(() => whenTurned(performance.now()), RESTING_TICK_MS)
      const stepMs = 1_000 / (count * hz)
      const startedMs = performance.now()
      let frames = 0
      const dueMs = () => startedMs + frames * stepMs
      whenTurned = (nowMs) => {
        for (; dueMs() <= nowMs; frames++) {
          if (nowMs - dueMs() > PAUSE_MS) recorder.sentLate++
          chosen[frames % count]?.control(form)
        }
      }
    },

    startFlood(wanted: ControlFlood): void {
      const chosen = driven(wanted.pairs)
      recorder.begin()
      flood = wanted
      const write = (pair: Pair) => {
        pair.outstanding = 0
        pair.control(wanted.form, wanted.framesPerWrite)
      }
      timer = setInterval(() => {
        // A lost frame would otherwise end the flood of its pair.
        const stuckBeforeMs = performance.now() - GIVE_UP_MS
        for (const pair of chosen) if (pair.writtenAtMs < stuckBeforeMs) write(pair)
      }, GIVE_UP_MS)
      for (const pair of chosen) write(pair)
    },

    /** Continues the flood of a pair. */
    answered(pair: Pair): void {
      if (flood && pair.outstanding === 0) pair.control(flood.form, flood.framesPerWrite)
    },

    /** Sends no more control frames; frames in flight may still arrive. */
    stopSending(): void {
      whenTurned = () => {}
      flood = undefined
      clearInterval(timer)
    },

    stopSpinning(): void {
      clearImmediate(nextSpin)
      nextSpin = undefined
    },
  }
}
