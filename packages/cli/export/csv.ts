/** What a spreadsheet takes for the beginning of a formula; some read the full-width signs like the plain ones. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** One line of a table after RFC 4180: commas between, CRLF behind; texts that would be formulas are disarmed. */
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
