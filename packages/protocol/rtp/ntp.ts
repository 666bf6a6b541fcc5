import { u64 } from './bytes.ts'

// NTP timestamps: 32 bits of seconds since 1900 and 32 bits of their fraction (RFC 5905, section 6).

const SECONDS_FROM_1900_TO_1970 = 2_208_988_800
const FRACTION = 2 ** 32

/** Returns the NTP time of a Unix time in milliseconds. */
export function ntpOf(unixMs: number): bigint {
  const seconds = Math.floor(unixMs / 1_000)
  const fraction = Math.floor(((unixMs - seconds * 1_000) / 1_000) * FRACTION)
  return (BigInt(seconds + SECONDS_FROM_1900_TO_1970) << 32n) | BigInt(fraction)
}

/** Returns the Unix time in milliseconds of an NTP time. */
export function unixMsOf(ntp: bigint): number {
  const seconds = Number(ntp >> 32n) - SECONDS_FROM_1900_TO_1970
  return seconds * 1_000 + (Number(ntp & 0xffffffffn) / FRACTION) * 1_000
}

/** Returns the middle 32 bits of an NTP time: seconds modulo 65,536 in units of 1/65,536 s. */
export const compactNtp = (ntp: bigint): number => Number((ntp >> 16n) & 0xffffffffn)

/** Returns a duration in milliseconds in units of 1/65,536 s. */
export const compactDuration = (ms: number): number => Math.max(0, Math.round((ms * 65_536) / 1_000))

/** Reads an NTP time from the first eight bytes of a field. */
export const readNtp = (bytes: Uint8Array): bigint => u64(bytes, 0)
