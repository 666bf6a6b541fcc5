import { isVp8FrameStart, vp8DescriptorBytes } from './keyframes.ts'

/** A complete frame. */
export interface EncodedFrame {
  readonly data: Buffer
  readonly isKeyframe: boolean
}

/** Collects the packets of one VP8 frame (RFC 7741). */
export class Vp8Frame {
  readonly #parts: Uint8Array[] = []
  bytes = 0

  get parts(): number {
    return this.#parts.length
  }

  /** Returns whether a packet is the first one of a frame. */
  isStart(payload: Uint8Array): boolean {
    return isVp8FrameStart(payload)
  }

  /** Adds a packet. Returns false for one that does not belong to a complete frame. */
  add(payload: Uint8Array): boolean {
    const length = vp8DescriptorBytes(payload)
    if (isVp8FrameStart(payload) !== (this.#parts.length === 0) || length >= payload.length) return false
    this.#parts.push(payload.subarray(length))
    this.bytes += payload.length - length
    return true
  }

  /** Returns the frame; null without one. */
  finish(): EncodedFrame | null {
    const first = this.#parts[0]
    if (!first) return null
    // The inverse keyframe flag (RFC 6386, section 9.1)
    const isKeyframe = ((first[0] as number) & 0x01) === 0
    return { data: Buffer.concat(this.#parts, this.bytes), isKeyframe }
  }

  clear(): void {
    this.#parts.length = 0
    this.bytes = 0
  }
}
