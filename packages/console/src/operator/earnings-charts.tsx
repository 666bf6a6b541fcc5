import { SimpleGrid } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { Chart } from '../ui/chart.tsx'
import { money } from '../ui/format.ts'
import { Empty, QueryView } from '../ui/states.tsx'
import { DAYS, earningsByDay } from './earnings-by-day.ts'

type Counts = Schemas['OperatorStats']['sessions_by_status']

const statuses = [
  ['COMPLETED', 'Completed'],
  ['CANCELLED', 'Cancelled'],
  ['PENDING', 'Scheduled'],
  ['ACTIVE', 'Active'],
  ['PAUSED', 'Paused'],
] as const

/** Charts the earnings of the last days and the sessions by status. */
export function EarningsCharts({ sessionsByStatus }: { sessionsByStatus: Counts }) {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.sessions, 'earnings-by-day'],
    queryFn: () => earningsByDay(rest),
  })
  const rows = statuses.map(([status, label]) => ({ label, value: sessionsByStatus[status] }))
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <QueryView
        query={query}
        isEmpty={(days) => days.every(({ sessions }) => sessions === 0)}
        empty={<Empty title={`No completed sessions in the last ${DAYS} days`} />}
      >
        {(days) => (
          <Chart
            title={`Earnings, last ${DAYS} days`}
            unit="Earnings"
            rows={days.map(({ day, cents }) => ({ label: dayName(day), value: cents }))}
            format={money}
            folded
          />
        )}
      </QueryView>
      {rows.some(({ value }) => value > 0) && (
        <Chart title="Your sessions" unit="Sessions" rows={rows} format={String} />
      )}
    </SimpleGrid>
  )
}

const dayName = (day: Date) =>
  new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }).format(day)
