/** Most levels of objects and arrays, one within the other, that a JSON body may have; the body itself is the first. */
export const MAX_JSON_DEPTH = 64

export const TOO_DEEP = `The JSON is nested deeper than ${MAX_JSON_DEPTH} levels`

/**
 * Tells whether a parsed value is nested deeper than the limit: whoever walks it recursively, as JSON.stringify and
 * validators do, would run out of stack. The recursion here ends at the limit.
 */
export function isTooDeep(value: unknown, limit: number = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit === 0) return true
  for (const entry of Object.values(value)) if (isTooDeep(entry, limit - 1)) return true
  return false
}
