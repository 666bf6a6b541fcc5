// Frames of the measurement: they begin like VP8, and end with the time at which they were made.

const STAMP_BYTES = 8
/** The first byte of a VP8 frame: its lowest bit is 0 for a keyframe (RFC 6386, section 9.1). */
const [KEYFRAME, DELTA_FRAME] = [0x10, 0x11]

/** Returns a frame of some bytes, made now. */
export function stampedFrame(bytes: number, isKeyframe: boolean): Buffer {
  const frame = Buffer.alloc(bytes, 0xaa)
  frame[0] = isKeyframe ? KEYFRAME : DELTA_FRAME
  frame.writeBigUInt64BE(process.hrtime.bigint(), bytes - STAMP_BYTES)
  return frame
}

/** Returns the age of a frame in microseconds. All processes of a machine share this clock. */
export function ageUs(lastPayload: Buffer): number {
  const madeAt = lastPayload.readBigUInt64BE(lastPayload.length - STAMP_BYTES)
  return Number(process.hrtime.bigint() - madeAt) / 1_000
}
