import { Text } from '@mantine/core'
import { useNow } from './use-now.ts'

const seconds = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'second' })
const minutes = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'minute' })

/** A short time in words: "3 sec", "12 min". */
export function shortTime(ms: number): string {
  const whole = Math.max(0, Math.floor(ms / 1_000))
  return whole < 120 ? seconds.format(whole) : minutes.format(Math.floor(whole / 60))
}

/** How old what is shown is. */
export function Freshness({
  query,
}: {
  query: { readonly dataUpdatedAt: number; readonly isError: boolean }
}) {
  const nowMs = useNow()
  const { dataUpdatedAt, isError } = query
  if (dataUpdatedAt === 0) return null
  return (
    <Text size="sm" c={isError ? 'error' : 'dimmed'} component="p" m={0}>
      {isError ? 'Not refreshed: this is' : 'This is'} {shortTime(nowMs - dataUpdatedAt)} old
    </Text>
  )
}
