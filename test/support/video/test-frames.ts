/** Returns a VP8 frame of some bytes whose last four are its number; no decoder reads it. */
export function vp8Frame(number: number, { keyframe = false, bytes = 3_000 } = {}): Buffer {
  const frame = Buffer.alloc(bytes, 0xaa)
  frame[0] = keyframe ? 0x10 : 0x11 // the inverse keyframe flag is the lowest bit (RFC 6386, section 9.1)
  frame.writeUInt32BE(number, bytes - 4)
  return frame
}
