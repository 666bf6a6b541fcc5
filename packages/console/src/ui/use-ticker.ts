import { useEffect, useState } from 'react'

/** Renders the component again every `everyMs`, for what grows old by itself. */
export function useTicker(everyMs: number): void {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
}
