import { Text } from '@mantine/core'
import { useNow } from './use-now.ts'

/** A short time: "3 s", "12 min". */
export function shortTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  return seconds < 120 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`
}

interface Props {
  readonly query: { readonly dataUpdatedAt: number; readonly isError: boolean; readonly isPaused: boolean }
}

/** How old what is shown is, and whether it is being refreshed. */
export function Freshness({ query: { dataUpdatedAt, isError, isPaused } }: Props) {
  const nowMs = useNow()
  if (dataUpdatedAt === 0) return null
  // Without a network nothing is asked at all, so nothing fails.
  const stale = isError || isPaused
  return (
    <Text size="sm" c={stale ? 'var(--mantine-color-error)' : 'dimmed'} component="p" m={0}>
      {stale ? 'Not refreshed: this is' : 'This is'} {shortTime(nowMs - dataUpdatedAt)} old
    </Text>
  )
}
