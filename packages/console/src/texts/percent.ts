import { language } from './texts.ts'

/** Returns a share of 0 to 1 as `83 %`. */
export const percent = (share: number): string =>
  new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 0 }).format(share)
