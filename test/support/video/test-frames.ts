/** Returns a VP8 frame of some bytes whose last four are its number; no decoder reads it. */
export function vp8Frame(number: number, { keyframe = false, bytes = 3_000 } = {}): Buffer {
  const frame = Buffer.alloc(bytes, 0xaa)
  frame[0] = keyframe ? 0x10 : 0x11 // the inverse keyframe flag is the lowest bit (RFC 6386, section 9.1)
  frame.writeUInt32BE(number, bytes - 4)
  return frame
}

const START_CODE = Buffer.from([0, 0, 0, 1])
const SEQUENCE_PARAMETERS = Buffer.from([0x67, 0x42, 0xe0, 0x1f, 0xda, 0x01])
const PICTURE_PARAMETERS = Buffer.from([0x68, 0xce, 0x38, 0x80])

/**
 * Returns an H.264 access unit of about some bytes whose last four are its number, seven bits in each so that they contain no start
 * code; no decoder reads it.
 */
export function h264Frame(
  number: number,
  {
    keyframe = false,
    bytes = 3_000,
    parameters = keyframe,
  }: { keyframe?: boolean; bytes?: number; parameters?: boolean } = {},
): Buffer {
  const slice = Buffer.alloc(bytes, 0xaa)
  slice[0] = keyframe ? 0x65 : 0x61
  for (let digit = 0; digit < 4; digit++) slice[bytes - 1 - digit] = 0x80 | ((number >> (7 * digit)) & 0x7f)
  const units = parameters ? [SEQUENCE_PARAMETERS, PICTURE_PARAMETERS, slice] : [slice]
  return Buffer.concat(units.flatMap((unit) => [START_CODE, unit]))
}

/** Returns the number of a frame. */
export function frameNumber(frame: Uint8Array): number {
  const last = Buffer.from(frame.subarray(-4))
  const isH264 = frame[0] === 0 && frame[1] === 0
  return isH264 ? last.reduce((number, byte) => (number << 7) | (byte & 0x7f), 0) : last.readUInt32BE()
}
