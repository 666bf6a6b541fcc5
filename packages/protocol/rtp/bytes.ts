// Numbers in network byte order. Packets are arrays of bytes, so that they work in every environment.

/** Returns a byte; 0 beyond the end. */
const u8 = (bytes: Uint8Array, at: number): number => bytes[at] ?? 0

export const u16 = (bytes: Uint8Array, at: number): number => (u8(bytes, at) << 8) | u8(bytes, at + 1)

export const u32 = (bytes: Uint8Array, at: number): number =>
  ((u16(bytes, at) << 16) | u16(bytes, at + 2)) >>> 0

export const u64 = (bytes: Uint8Array, at: number): bigint =>
  (BigInt(u32(bytes, at)) << 32n) | BigInt(u32(bytes, at + 4))

export function setU16(bytes: Uint8Array, value: number, at: number): void {
  bytes[at] = value >>> 8
  bytes[at + 1] = value
}

export function setU32(bytes: Uint8Array, value: number, at: number): void {
  setU16(bytes, value >>> 16, at)
  setU16(bytes, value, at + 2)
}

export function setU64(bytes: Uint8Array, value: bigint, at: number): void {
  setU32(bytes, Number((value >> 32n) & 0xffffffffn), at)
  setU32(bytes, Number(value & 0xffffffffn), at + 4)
}

/** Returns parts as one packet. */
export function concatPackets(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
