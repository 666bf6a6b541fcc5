import type { Pair } from './pair.ts'
import { PAUSE_MS, type PauseWatch } from './pauses.ts'
import type { Form } from './payload.ts'
import type { Tally } from './tally.ts'

/** A flooded pair that hears nothing for so long is given its next frames all the same. */
const GIVE_UP_MS = 1_000

export interface Steady {
  readonly pairs: number
  /** Control frames a second of every pair. */
  readonly hz: number
  readonly form: Form
}

export interface ControlFlood {
  readonly pairs: number
  /** Control frames in one write of one pair; the next ones follow when all of them are answered. */
  readonly framesPerWrite: number
  readonly form: Form
}

/** Lets pairs drive: frame k of every pair is due at a fixed time, or as soon as the ones before are answered. */
export function createDriving(parts: { pairs: readonly Pair[]; clock: PauseWatch; tally: Tally }) {
  const { pairs, clock, tally } = parts
  let spinning = false
  let whenTurned = (_nowMs: number) => {}
  let flood: ControlFlood | undefined
  let floodTimer: NodeJS.Timeout | undefined

  /** Never waits for events, so that frames are read the moment they arrive and pauses can be told from waiting. */
  function spin(): void {
    if (!spinning) return
    const nowMs = performance.now()
    clock.turn(nowMs)
    whenTurned(nowMs)
    setImmediate(spin)
  }

  function startSpinning(): void {
    if (spinning) return
    spinning = true
    clock.restart(performance.now())
    setImmediate(spin)
  }

  const driven = (count: number) => {
    if (pairs.length < count) throw new Error(`${count} pairs are to drive, ${pairs.length} are connected`)
    return pairs.slice(0, count)
  }

  return {
    startSpinning,

    startSteady({ pairs: count, hz, form }: Steady): void {
      const chosen = driven(count)
      tally.begin()
      startSpinning()
      const stepMs = 1_000 / (count * hz)
      const startedMs = performance.now()
      let frames = 0
      whenTurned = (nowMs) => {
        for (let dueMs = startedMs; ; frames++) {
          dueMs = startedMs + frames * stepMs
          if (dueMs > nowMs) return
          if (nowMs - dueMs > PAUSE_MS) tally.sentLate++
          chosen[frames % count]?.control(form)
        }
      }
    },

    startFlood(wanted: ControlFlood): void {
      const chosen = driven(wanted.pairs)
      tally.begin()
      flood = wanted
      const write = (pair: Pair) => {
        pair.outstanding = 0
        pair.control(wanted.form, wanted.framesPerWrite)
      }
      floodTimer = setInterval(() => {
        // Whatever was lost without a word would otherwise end the flood of its pair.
        const stuckBeforeMs = performance.now() - GIVE_UP_MS
        for (const pair of chosen) if (pair.writtenAtMs < stuckBeforeMs) write(pair)
      }, GIVE_UP_MS)
      for (const pair of chosen) write(pair)
    },

    /** Keeps a flooded pair going. */
    answered(pair: Pair): void {
      if (flood && pair.outstanding === 0) pair.control(flood.form, flood.framesPerWrite)
    },

    /** No more control frames; what is under way may still arrive. */
    stopSending(): void {
      whenTurned = () => {}
      flood = undefined
      clearInterval(floodTimer)
    },

    stopSpinning(): void {
      spinning = false
    },
  }
}
export type Driving = ReturnType<typeof createDriving>
