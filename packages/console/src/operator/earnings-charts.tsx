import { SimpleGrid } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { sessionStatusTexts } from '../texts/code-texts.ts'
import { language, t } from '../texts/texts.ts'
import { Chart } from '../ui/chart.tsx'
import { money } from '../ui/format.ts'
import { Empty, QueryView } from '../ui/states.tsx'
import { DAYS, earningsByDay } from './earnings-by-day.ts'

type Counts = Schemas['OperatorStats']['sessions_by_status']

const dayFormat = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' })
const counts = new Intl.NumberFormat(language)

const statuses = ['COMPLETED', 'CANCELLED', 'PENDING', 'ACTIVE', 'PAUSED'] as const

/** Charts the earnings of the last days and the sessions by status. */
export function EarningsCharts({ sessionsByStatus }: { sessionsByStatus: Counts }) {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.sessions, 'earnings-by-day'],
    queryFn: () => earningsByDay(rest),
  })
  const rows = statuses.map((status) => ({
    label: sessionStatusTexts[status],
    value: sessionsByStatus[status],
  }))
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <QueryView
        query={query}
        isEmpty={(days) => days.every(({ sessions }) => sessions === 0)}
        empty={<Empty title={t('operator.earnings.noSessions', { days: DAYS })} />}
      >
        {(days) => (
          <Chart
            title={t('operator.earnings.chartTitle', { days: DAYS })}
            unit={t('operator.earnings.chartUnit')}
            rows={days.map(({ day, cents }) => ({ label: dayFormat.format(day), value: cents }))}
            format={money}
            folded
          />
        )}
      </QueryView>
      {rows.some(({ value }) => value > 0) && (
        <Chart
          title={t('operator.earnings.sessionsTitle')}
          unit={t('operator.earnings.sessions')}
          rows={rows}
          format={counts.format}
        />
      )}
    </SimpleGrid>
  )
}
