const US_PER_MS = 1_000
const NS_PER_US = 1_000n

/** Returns Unix nanoseconds as Unix milliseconds with fractions. A double keeps microseconds. */
export const msOfNs = (ns: bigint): number => Number(ns / NS_PER_US) / US_PER_MS

/** Returns Unix milliseconds as Unix nanoseconds. */
export const nsOfMs = (ms: number): bigint => BigInt(Math.round(ms * US_PER_MS)) * NS_PER_US

/** Returns the last nanosecond of the microsecond, so that a bound includes everything that `msOfNs` maps to it. */
export const lastNsOfMs = (ms: number): bigint => nsOfMs(ms) + NS_PER_US - 1n
