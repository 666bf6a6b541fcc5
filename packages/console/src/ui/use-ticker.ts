import { useEffect, useState } from 'react'

/** Renders the component again at an interval, never if undefined. */
export function useTicker(everyMs: number | undefined): void {
  const [, tick] = useState(0)
  useEffect(() => {
    if (everyMs === undefined) return
    const timer = setInterval(() => tick((count) => count + 1), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}
