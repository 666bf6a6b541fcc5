/** The video codecs that are forwarded. */
export type VideoCodec = 'VP8' | 'H264'

/** Returns whether a packet begins a keyframe: a frame that a viewer can decode without the ones before. */
export function beginsKeyframe(codec: VideoCodec, payload: Uint8Array): boolean {
  return codec === 'VP8' ? beginsVp8Keyframe(payload) : beginsH264Keyframe(payload)
}

/** Returns the pixels of the keyframe that a packet begins; undefined where the packet does not say it in a simple way. */
export function keyframePixels(codec: VideoCodec, payload: Uint8Array): number | undefined {
  if (codec !== 'VP8' || !beginsVp8Keyframe(payload)) return undefined
  const start = vp8FrameStart(payload) ?? 0
  const [, , , first, second, third, ...size] = payload.subarray(start, start + 10)
  if (first !== 0x9d || second !== 0x01 || third !== 0x2a) return undefined
  const [widthLow = 0, widthHigh = 0, heightLow = 0, heightHigh = 0] = size
  return (((widthHigh & 0x3f) << 8) | widthLow) * (((heightHigh & 0x3f) << 8) | heightLow)
}

/** Reads the first bit of the frame (RFC 6386, section 9.1). */
function beginsVp8Keyframe(payload: Uint8Array): boolean {
  const start = vp8FrameStart(payload)
  const frame = start === undefined ? undefined : payload[start]
  return frame !== undefined && (frame & 0x01) === 0
}

/** Returns where the frame begins, after the payload descriptor; undefined for a packet within a frame. */
function vp8FrameStart(payload: Uint8Array): number | undefined {
  return isVp8FrameStart(payload) ? vp8DescriptorBytes(payload) : undefined
}

/** Returns whether a packet begins a frame: the first partition begins with it. */
export function isVp8FrameStart(payload: Uint8Array): boolean {
  const first = payload[0] ?? 0
  return (first & 0x10) !== 0 && (first & 0x07) === 0
}

/** Returns the length of the payload descriptor (RFC 7741, section 4.2). */
export function vp8DescriptorBytes(payload: Uint8Array): number {
  let at = 1
  if ((payload[0] ?? 0) & 0x80) {
    const extension = payload[at++] ?? 0
    if (extension & 0x80) at += (payload[at] ?? 0) & 0x80 ? 2 : 1
    if (extension & 0x40) at++
    if (extension & 0x30) at++
  }
  return at
}

const IDR_SLICE = 5
const SEQUENCE_PARAMETERS = 7
const PICTURE_PARAMETERS = 8
const SINGLE_TIME_AGGREGATION = 24
const FRAGMENT = 28

/** Looks for sequence parameters or the beginning of an IDR slice. */
const beginsH264Keyframe = (payload: Uint8Array): boolean =>
  h264UnitTypes(payload).some((type) => type === IDR_SLICE || type === SEQUENCE_PARAMETERS)

/** Returns the types of the units that a packet of H.264 begins (RFC 6184, sections 5.6 to 5.8). */
function h264UnitTypes(payload: Uint8Array): number[] {
  const type = (payload[0] ?? 0) & 0x1f
  if (type === FRAGMENT) {
    const header = payload[1] ?? 0
    return (header & 0x80) !== 0 ? [header & 0x1f] : []
  }
  if (type !== SINGLE_TIME_AGGREGATION) return [type]
  const types: number[] = []
  for (let at = 1; at + 2 < payload.length; ) {
    types.push((payload[at + 2] as number) & 0x1f)
    at += 2 + (((payload[at] as number) << 8) | (payload[at + 1] as number))
  }
  return types
}

/** Keyframes without parameter sets after which a stream counts as one that has none: the packet with them may be lost. */
const KEYFRAMES_WITHOUT_SETS = 2

/** Finds out whether an H.264 stream has the parameter sets without which nothing can be decoded. */
export class ParameterSetCheck {
  readonly #missing = new Set([SEQUENCE_PARAMETERS, PICTURE_PARAMETERS])
  #keyframes = 0
  #timestamp: number | undefined

  /** Notes a packet. */
  add(payload: Uint8Array, timestamp: number): void {
    if (this.#missing.size === 0) return
    const types = h264UnitTypes(payload)
    for (const type of types) this.#missing.delete(type)
    if (!types.includes(IDR_SLICE) || timestamp === this.#timestamp) return
    this.#timestamp = timestamp
    this.#keyframes++
  }

  /** Why the stream cannot be decoded; undefined if it can, as far as known. */
  get problem(): string | undefined {
    if (this.#missing.size === 0 || this.#keyframes < KEYFRAMES_WITHOUT_SETS) return undefined
    return 'The H.264 of the camera has no parameter sets (SPS and PPS), so that it cannot be decoded. Have the robot send them with each keyframe (GStreamer: h264parse config-interval=-1), or in sprop-parameter-sets of its offer.'
  }
}
