import { language } from '../texts/texts.ts'

const formats = new Map<number, Intl.NumberFormat>()

/** Returns a number with this many decimals in the viewer's format, without separators of thousands. */
export function decimals(value: number, digits: number): string {
  let format = formats.get(digits)
  if (!format) {
    format = new Intl.NumberFormat(language, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
      useGrouping: false,
    })
    formats.set(digits, format)
  }
  // `toFixed` rounds the exact value, `Intl` its shortest decimal: 2.55 is a little less than 2.55.
  return format.format(Number(value.toFixed(digits)))
}
