const MAX_DEPTH = 3
/** Longer arrays are scans, not joints. */
const MAX_ITEMS = 16

/** Calls a function with each number of a JSON value and its path, such as `velocity.linear_mps` or `joints.0`. */
export function eachNumber(value: unknown, visit: (path: string, number: number) => void): void {
  visitAt(value, '', 0, visit)
}

function visitAt(
  value: unknown,
  path: string,
  depth: number,
  visit: (path: string, number: number) => void,
): void {
  if (typeof value === 'number') {
    if (Number.isFinite(value)) visit(path || 'value', value)
    return
  }
  if (typeof value !== 'object' || value === null || depth >= MAX_DEPTH) return
  if (Array.isArray(value) && value.length > MAX_ITEMS) return
  for (const [name, inner] of Object.entries(value))
    visitAt(inner, path === '' ? name : `${path}.${name}`, depth + 1, visit)
}
