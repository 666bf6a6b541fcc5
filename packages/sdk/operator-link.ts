import {
  BINARY_CONTROL,
  encodeBinaryFrame,
  limitSpeed,
  MAX_BINARY_SEQ,
  MAX_TTL_MS,
  type ToDriverFrame,
} from '@wheelhouse/protocol'
import { checkBinarySize, frameText } from './frames.ts'
import { linkClockMs } from './link-clock.ts'
import { RoundTrips } from './round-trips.ts'
import { SessionLink } from './session-link.ts'
import type { OperatorLinkOptions } from './session-link-options.ts'

export interface ControlOptions {
  /** The receiver drops the frame if it is older on arrival: 1 to 65,535 ms. Default: the gateway's deadman. */
  readonly ttlMs?: number
}

/**
 * Drives the robot of a session. Send control frames continuously while the robot should move: silence stops it. The
 * link never queues control frames: it drops a frame that it cannot send at once.
 */
export class OperatorLink extends SessionLink {
  readonly #options: OperatorLinkOptions
  readonly #roundTrips = new RoundTrips()
  #seq = 0

  constructor(options: OperatorLinkOptions) {
    super(options)
    this.#options = options
  }

  /**
   * Sends control data of any JSON value. Slows its speeds (`linear_mps`, `angular_radps`, `linear`, `angular`) down to
   * the allowed speed; see `limits`.
   * @returns the frame's number, for `onAck` and `onDropped`; null if the link did not send it: it is offline, has too
   * many unsent bytes or a pending stop, or the frame is too large (reported to `onError`)
   * @throws RangeError for a `ttlMs` out of range
   */
  control(data: unknown, { ttlMs }: ControlOptions = {}): number | null {
    checkTtl(ttlMs)
    const ttl = ttlMs === undefined ? {} : { ttl_ms: ttlMs }
    const command = limitSpeed({ data }, this.limits.speed_scale)
    return this.#drive((seq) => frameText({ type: 'control', seq, t: linkClockMs(), ...ttl, ...command }))
  }

  /**
   * Sends opaque bytes as control data. The robot receives them in `onBinaryControl`, and clamps them to the allowed
   * speed; slow them down yourself by `limits.speed_scale` to see what the robot does.
   */
  controlBinary(payload: Uint8Array, { ttlMs }: ControlOptions = {}): number | null {
    checkTtl(ttlMs)
    return this.#drive((seq) => {
      if (seq > MAX_BINARY_SEQ) throw new RangeError('the sequence numbers are used up: create a new link')
      const header = { kind: BINARY_CONTROL, flags: 0, ttlMs: ttlMs ?? 0, seq, t: linkClockMs() }
      return checkBinarySize(encodeBinaryFrame(header, payload))
    })
  }

  /** @internal */
  protected override handle(frame: ToDriverFrame): void {
    if (frame.type === 'ack') {
      const roundTripMs = this.#roundTrips.complete(frame.seq, performance.now())
      this.lifecycle.runCallback(() => this.#options.onAck?.(frame.seq, roundTripMs))
    } else if (frame.type === 'dropped') {
      this.#roundTrips.complete(frame.seq, performance.now())
      this.lifecycle.runCallback(() => this.#options.onDropped?.(frame.seq, frame.why))
    } else super.handle(frame)
  }

  #drive(encode: (seq: number) => string | Uint8Array<ArrayBuffer>): number | null {
    // After this operator has requested a stop, the link sends no control, even before the stop has arrived.
    if (this.stopPending) return null
    const seq = this.#seq + 1
    if (!this.lifecycle.transmit('droppable', () => encode(seq))) return null
    this.#seq = seq
    this.#roundTrips.sent(seq, performance.now())
    return seq
  }
}

function checkTtl(ttlMs: number | undefined): void {
  if (ttlMs === undefined || (Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= MAX_TTL_MS)) return
  throw new RangeError(`ttlMs must be a whole number from 1 to ${MAX_TTL_MS}`)
}
