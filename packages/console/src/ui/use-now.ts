import { useTicker } from './use-ticker.ts'

/** Returns the time in Unix milliseconds and renders the component again every second. */
export function useNow(): number {
  useTicker(1_000)
  return Date.now()
}
