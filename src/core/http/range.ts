import type { ByteRange } from '../storage/object-store.ts'

const ONE_RANGE = /^bytes=[ \t]*(?:(\d+)-(\d*)|-(\d+))[ \t]*$/i

/**
 * Returns the part that a Range header selects (RFC 9110, section 14.2); undefined for the whole. Ignores, as servers may, headers
 * with several parts and headers that are malformed.
 */
export function parseRange(header: string, sizeBytes: number): ByteRange | undefined | 'unsatisfiable' {
  const match = ONE_RANGE.exec(header)
  if (!match) return undefined
  const [, first, last, suffix] = match
  const start = suffix === undefined ? Number(first) : Math.max(0, sizeBytes - Number(suffix))
  const end = last === undefined || last === '' ? sizeBytes - 1 : Number(last)
  if (suffix === undefined && last !== '' && end < start) return undefined
  if (start >= sizeBytes) return 'unsatisfiable'
  return { start, end: Math.min(end, sizeBytes - 1) }
}
