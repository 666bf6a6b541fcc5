const SLICE_TYPES: ReadonlySet<number> = new Set([1, 2, 3, 4])
const IDR_SLICE = 5
const SEQUENCE_PARAMETERS = 7

/**
 * Returns whether a frame of `foxglove.CompressedVideo` can be decoded without the ones before it.
 * @param format `vp8`, or `h264` in the byte-stream format (Annex B)
 */
export function isVideoKeyframe(format: string, data: Uint8Array): boolean {
  if (format === 'vp8') return data.length > 0 && ((data[0] as number) & 0x01) === 0 // RFC 6386, section 9.1
  return format === 'h264' && beginsWithIdr(data)
}

/** Looks for sequence parameters or an IDR slice before the first other slice. */
function beginsWithIdr(data: Uint8Array): boolean {
  for (let at = 0; at + 3 < data.length; at++) {
    if (data[at] !== 0 || data[at + 1] !== 0 || data[at + 2] !== 1) continue
    const unitType = (data[at + 3] as number) & 0x1f
    if (unitType === IDR_SLICE || unitType === SEQUENCE_PARAMETERS) return true
    if (SLICE_TYPES.has(unitType)) return false
    at += 2
  }
  return false
}
