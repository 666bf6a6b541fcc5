import type { Command, RobotEvents } from '../transports/transport.ts'
import { monotonicMs } from './clock.ts'

/** Commands and halts that one run records at most; the report says how many more there were. */
const MOST_COMMANDS = 2_000_000
const MOST_HALTS = 100_000

/** A robot that moved has halted. */
export interface Halt {
  readonly pair: number
  readonly atMs: number
  readonly reason: string
}

/** Records of the robots of one run. The columns have one value for each executed command. */
export interface RobotReport {
  readonly pairs: Uint16Array
  readonly atMs: Float64Array
  readonly agesMs: Float64Array
  readonly halts: readonly Halt[]
  readonly unrecorded: number
}

/** Records what the robots execute, and when they halt. */
export function createRobotRecorder() {
  let pairs: number[] = []
  let atMs: number[] = []
  let agesMs: number[] = []
  let halts: Halt[] = []
  let unrecorded = 0
  const moving = new Set<number>()

  return {
    /** Returns the robot of one pair. It halts by itself after `silenceHaltMs` without a command, unless that is null. */
    robot(pair: number, silenceHaltMs: number | null): RobotEvents & { close(): void } {
      let silence: NodeJS.Timeout | undefined
      const halt = (reason: string) => {
        if (!moving.delete(pair)) return
        if (halts.length < MOST_HALTS) halts.push({ pair, atMs: monotonicMs(), reason })
        else unrecorded++
      }
      return {
        execute({ sent_ms }: Command): void {
          const nowMs = monotonicMs()
          moving.add(pair)
          if (silenceHaltMs !== null) {
            silence ??= setTimeout(() => halt('silence'), silenceHaltMs)
            silence.refresh()
          }
          if (atMs.length >= MOST_COMMANDS) {
            unrecorded++
            return
          }
          pairs.push(pair)
          atMs.push(nowMs)
          agesMs.push(nowMs - sent_ms)
        },
        halt,
        close(): void {
          clearTimeout(silence)
          moving.delete(pair)
        },
      }
    },
    /** Returns the number of moving robots. */
    moving: () => moving.size,
    reset(): void {
      pairs = []
      atMs = []
      agesMs = []
      halts = []
      unrecorded = 0
    },
    report: (): RobotReport => ({
      pairs: Uint16Array.from(pairs),
      atMs: Float64Array.from(atMs),
      agesMs: Float64Array.from(agesMs),
      halts,
      unrecorded,
    }),
  }
}
