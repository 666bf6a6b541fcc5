import { Text } from '@mantine/core'
import { useNow } from '../base/time.tsx'
import type { ListRows } from '../list/list-pages.ts'
import { t } from '../texts/texts.ts'

/** Returns a duration as "3 s" or "12 min", in the language of the texts. */
export function shortTime(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  return seconds < 120
    ? t('admin.freshness.seconds', { seconds })
    : t('admin.freshness.minutes', { minutes: Math.floor(seconds / 60) })
}

interface Props {
  readonly query: { readonly dataUpdatedAt: number; readonly isError: boolean; readonly isPaused: boolean }
}

/** Shows the age of the data and whether refreshing works. */
export function Freshness({ query: { dataUpdatedAt, isError, isPaused } }: Props) {
  const nowMs = useNow()
  if (dataUpdatedAt === 0) return null
  // Without a network the query is paused and reports no error.
  const stale = isError || isPaused
  return (
    <Text size="sm" c={stale ? 'var(--mantine-color-error)' : 'dimmed'} component="p" m={0}>
      {t(stale ? 'admin.freshness.notRefreshing' : 'admin.freshness.updated', {
        time: shortTime(nowMs - dataUpdatedAt),
      })}
    </Text>
  )
}

/** Shows the age of the visible rows of a list. */
export const ListFreshness = ({ list }: { list: Pick<ListRows<unknown>, 'updatedAtMs' | 'error'> }) => (
  <Freshness query={{ dataUpdatedAt: list.updatedAtMs, isError: list.error !== null, isPaused: false }} />
)
