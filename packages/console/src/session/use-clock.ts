import { useTicker } from '../ui/use-ticker.ts'

/** The time now, in Unix milliseconds; the component renders again every second. */
export function useClock(): number {
  useTicker(1_000)
  return Date.now()
}

/** Seconds as `4:05` or `1:04:05`. */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60]
  const two = (value: number) => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}
