/** First characters of a formula in spreadsheets. Some spreadsheets also accept the full-width forms. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** Returns one line of CSV (RFC 4180). Escapes texts that a spreadsheet would run as formulas. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cell).join(',')}\r\n`
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = String(value)
  const harmless = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
