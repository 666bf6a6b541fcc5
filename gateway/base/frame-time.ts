import type { Guard } from '../../src/core/process/guard.ts'
import { createUsage } from '../../src/core/process/thread-time.ts'
import type { GatewayConnection } from './connection.ts'

/** The time that the frames of all accounts may take: at once, and for each second. Below it no account is refused. */
const ALL = { burstMs: 200, msPerSecond: 800 }
/** The share of one account while the thread is busier than that. */
const SHARE = { burstMs: 100, msPerSecond: 150 }
/** The cost of receiving and copying bytes, which no handler measures. */
const BYTES_PER_MS = 250_000
/** Frames up to this size are read in any case if they stop a robot or keep it connected, which their first field says. */
const MAX_VITAL_BYTES = 4 * 1024
const VITAL_START = /^\s{0,8}\{\s{0,8}"type"\s{0,8}:\s{0,8}"(stop|stopped|cancel_goal|heartbeat)"/
const MAX_START_BYTES = 64

/**
 * Divides the thread that relays control between accounts: the owners of robots, and the users who drive and watch. While the thread is
 * busy, frames of an account that takes more than its share are refused, so that they do not delay the stops of others. Its own stops, canceled
 * goals and the heartbeats of its robots still count. A deployment of one owner has the whole thread, until it is too busy.
 * @param limited false to refuse nothing
 */
export function createFrameTime(options: {
  readonly limited: boolean
  readonly guard: Pick<Guard, 'noteDuration'>
  readonly nowMs?: () => number
}) {
  const { limited, guard, nowMs = () => performance.now() } = options
  const all = createUsage(ALL, 1)
  const shares = createUsage(SHARE)
  const counts = { framesRefused: 0 }

  /** Whether the thread was busy after the last frame. The precise answer takes longer, and a thread that is not busy stays so without frames. */
  let isBusy = false

  const isOver = (account: string): boolean =>
    isBusy && limited && all.surplusMs('', nowMs()) > 0 && shares.surplusMs(account, nowMs()) > 0

  return {
    counts: counts as Readonly<typeof counts>,
    nowMs,

    /** Returns whether a frame is to be read. Otherwise warns the peer, once a second. */
    accepts(connection: GatewayConnection, frame: string | ArrayBuffer | Uint8Array, atMs: number): boolean {
      if (!isOver(connection.account) || isVital(frame)) return true
      counts.framesRefused++
      connection.refuseBusy(atMs)
      return false
    },

    /** Charges the account of a connection for a frame that its handler has read since `startedMs`. */
    charge({ account }: GatewayConnection, startedMs: number, bytes: number, handler: string): void {
      const atMs = nowMs()
      guard.noteDuration(handler, atMs - startedMs)
      const ms = atMs - startedMs + bytes / BYTES_PER_MS
      all.add('', ms, atMs)
      shares.add(account, ms, atMs)
      isBusy = all.surplusMs('', atMs) > 0
    },
  }
}
export type FrameTime = ReturnType<typeof createFrameTime>

function isVital(frame: string | ArrayBuffer | Uint8Array): boolean {
  if (typeof frame === 'string') return frame.length <= MAX_VITAL_BYTES && VITAL_START.test(frame)
  if (frame.byteLength > MAX_VITAL_BYTES) return false
  return VITAL_START.test(Buffer.from(frame as ArrayBuffer).toString('latin1', 0, MAX_START_BYTES))
}
