import { H264Frame } from './h264-frames.ts'
import type { VideoCodec } from './keyframes.ts'
import { ReorderBuffer, type VideoPacket } from './reorder-buffer.ts'
import { Vp8Frame } from './vp8-frames.ts'

/** Largest frame. A larger one is dropped, as if it were lost. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024
/** Packets and units of one frame. A sender of tiny ones could otherwise use far more memory than their bytes. */
const MAX_FRAME_PARTS = 16_384

/** An encoded frame: of VP8, or of H.264 in the byte-stream format (annex B) with parameter sets before each keyframe. */
export interface AccessUnit {
  readonly data: Buffer
  readonly isKeyframe: boolean
  /** RTP timestamp. */
  readonly timestamp: number
  /** When the frame was captured, in Unix milliseconds; undefined if that is unknown. */
  readonly captureMs: number | undefined
  /** When its last packet arrived. */
  readonly arrivedMs: number
}

interface AccessUnitEvents {
  unit(unit: AccessUnit): void
  /** Reports that a frame was lost. Frames continue with the next keyframe. */
  lost(): void
  /** Returns when the frame with a timestamp was captured. */
  captureMs(timestamp: number): number | undefined
}

/** Joins the packets of a stream to complete frames. The first frame is a keyframe, and so is the first one after a loss. */
export class AccessUnits {
  readonly #events: AccessUnitEvents
  readonly #frame: Vp8Frame | H264Frame
  readonly #packets = new ReorderBuffer((packet, isAfterLoss) => this.#add(packet, isAfterLoss))
  #timestamp: number | undefined
  #arrivedMs = 0
  #waitsForKeyframe = true
  /** Whether the rest of the current frame is of no use, because packets of it may be missing. */
  #isBroken = true

  constructor(codec: VideoCodec, events: AccessUnitEvents) {
    this.#events = events
    this.#frame = codec === 'VP8' ? new Vp8Frame() : new H264Frame()
  }

  receive(packet: VideoPacket): void {
    this.#packets.receive(packet)
  }

  /** Gives up packets that have been missing for too long. */
  expire(nowMs: number): void {
    this.#packets.expire(nowMs)
  }

  #add({ header, payload, arrivedMs }: VideoPacket, isAfterLoss: boolean): void {
    const { timestamp, marker } = header
    if (isAfterLoss) this.#lose()
    const isNext = this.#timestamp !== undefined && timestamp !== this.#timestamp
    // A sender that sets no markers: the frame ends with the next one.
    if (isNext && !isAfterLoss) this.#finish()
    this.#timestamp = timestamp
    if (payload.length > 0) this.#addPayload(payload, arrivedMs) // otherwise padding, with which senders measure the path
    if (marker && payload.length > 0) {
      this.#finish()
      this.#timestamp = undefined
    }
  }

  #addPayload(payload: Uint8Array, arrivedMs: number): void {
    const frame = this.#frame
    if (this.#isBroken && frame.isStart(payload)) {
      frame.clear()
      this.#isBroken = false
    }
    if (this.#isBroken) return
    this.#arrivedMs = frame.parts === 0 ? arrivedMs : Math.max(this.#arrivedMs, arrivedMs)
    if (frame.add(payload) && frame.bytes <= MAX_FRAME_BYTES && frame.parts <= MAX_FRAME_PARTS) return
    this.#lose()
  }

  /** Discards the current frame, and all others up to the next keyframe. */
  #lose(): void {
    this.#frame.clear()
    this.#isBroken = true
    if (this.#waitsForKeyframe) return
    this.#waitsForKeyframe = true
    this.#events.lost()
  }

  #finish(): void {
    const frame = this.#isBroken ? null : this.#frame.finish()
    if (frame === undefined) this.#lose()
    this.#frame.clear()
    this.#isBroken = false
    if (!frame || (this.#waitsForKeyframe && !frame.isKeyframe)) return
    this.#waitsForKeyframe = false
    const timestamp = this.#timestamp ?? 0
    const { data, isKeyframe } = frame
    const captureMs = this.#events.captureMs(timestamp)
    this.#events.unit({ data, isKeyframe, timestamp, captureMs, arrivedMs: this.#arrivedMs })
  }
}
