import { language } from '../../texts/texts.ts'
import { clockText, decimals } from '../../ui/format.ts'

/** Returns a time since the start as `4:05.3`, in the viewer's format. */
export function preciseClock(ms: number, digits = 1): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000 / 10 ** -digits + 1e-6) * 10 ** -digits)
  const fraction = decimals(seconds - Math.floor(seconds), digits)
  return digits === 0 ? clockText(seconds) : clockText(seconds) + fraction.slice(1)
}

const wall = new Intl.DateTimeFormat(language, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 1,
})

/** Returns the time of day with tenths of a second, in the viewer's zone. */
export const wallClock = (atMs: number): string => wall.format(atMs)
