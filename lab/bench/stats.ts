/** Returns the value that the given share of the sample does not exceed; NaN for an empty sample. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Formats a number with three significant digits, thousands grouped. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const decimals = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return value.toLocaleString('en-GB', { maximumFractionDigits: Math.min(decimals, 3) })
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)
