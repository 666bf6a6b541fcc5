/** Returns a timestamp in its wire format: ISO 8601, UTC, milliseconds. */
export function iso(at: Date): string
export function iso(at: Date | null): string | null
export function iso(at: Date | null): string | null {
  return at === null ? null : at.toISOString()
}
