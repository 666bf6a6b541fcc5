import { useEffect, useState } from 'react'

const TICK_MS = 1_000

/** This device's clock in milliseconds; the component renders again every second. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return nowMs
}
