import { useEffect, useState } from 'react'
import { dateTime, relative } from './format.ts'

const REFRESH_MS = 20_000

/** Shows a relative time with the full date on hover, or the reverse with `exact`. */
export function Time({ at, exact = false }: { at: string | number | Date; exact?: boolean }) {
  useTicker(exact ? undefined : REFRESH_MS)
  const [shown, hidden] = exact ? [dateTime(at), relative(at)] : [relative(at), dateTime(at)]
  return (
    <time dateTime={new Date(at).toISOString()} title={hidden}>
      {shown}
    </time>
  )
}

/** Returns the time in Unix milliseconds and renders the component again every second. */
export function useNow(): number {
  useTicker(1_000)
  return Date.now()
}

/** Renders the component again at an interval, never if undefined. */
export function useTicker(everyMs: number | undefined): void {
  const [, tick] = useState(0)
  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(() => tick((count) => count + 1), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}
