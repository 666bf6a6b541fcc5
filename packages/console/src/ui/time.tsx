import { dateTime, relative } from './format.ts'
import { useTicker } from './use-ticker.ts'

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
