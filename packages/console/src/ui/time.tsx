import { useEffect, useState } from 'react'
import { dateTime, relative } from './format.ts'

const REFRESH_MS = 20_000

/** A moment: relative by default and the full date on hover, or the other way round with `exact`. */
export function Time({ at, exact = false }: { at: string | number | Date; exact?: boolean }) {
  const [, tick] = useState(0)
  useEffect(() => {
    if (exact) return
    const timer = setInterval(() => tick((count) => count + 1), REFRESH_MS)
    return () => clearInterval(timer)
  }, [exact])
  const [shown, hidden] = exact ? [dateTime(at), relative(at)] : [relative(at), dateTime(at)]
  return (
    <time dateTime={new Date(at).toISOString()} title={hidden}>
      {shown}
    </time>
  )
}
