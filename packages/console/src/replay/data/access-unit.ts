const NAL_TYPE = 0x1f
const [NAL_IDR, NAL_SPS] = [5, 7]

/** Returns whether a frame can be decoded without the ones before. Pictures always can. */
export function isKeyframe(format: string, data: Uint8Array): boolean {
  if (format === 'vp8') return data.length > 0 && ((data[0] ?? 1) & 1) === 0
  if (format === 'h264') return nalUnits(data).some(({ type }) => type === NAL_IDR)
  return true
}

/** Returns the codec of a keyframe as WebCodecs names it; undefined for a picture, and for a keyframe without parameters. */
export function codecOf(format: string, keyframe: Uint8Array): string | undefined {
  if (format === 'vp8') return 'vp8'
  if (format !== 'h264') return undefined
  const sps = nalUnits(keyframe).find(({ type }) => type === NAL_SPS)
  if (!sps) return undefined
  // Profile, constraints and level follow the type of the unit.
  const profile = keyframe.subarray(sps.start + 1, sps.start + 4)
  return profile.length === 3 ? `avc1.${hex(profile)}` : undefined
}

const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Returns the units of an Annex B stream, up to its first slice: the units before it determine the type of the frame. */
function nalUnits(data: Uint8Array): { type: number; start: number }[] {
  const units: { type: number; start: number }[] = []
  for (let at = 0; at + 3 < data.length; at++) {
    if (data[at] !== 0 || data[at + 1] !== 0 || data[at + 2] !== 1) continue
    const type = (data[at + 3] ?? 0) & NAL_TYPE
    units.push({ type, start: at + 3 })
    if (type >= 1 && type <= NAL_IDR) break
    at += 3
  }
  return units
}
