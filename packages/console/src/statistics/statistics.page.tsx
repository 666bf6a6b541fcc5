import { SimpleGrid } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { Chart } from '../ui/chart.tsx'
import { DescriptionItem, DescriptionList } from '../ui/description-list.tsx'
import { dataSize, duration, money } from '../ui/format.ts'
import { Page } from '../ui/page.tsx'
import { QueryView } from '../ui/states.tsx'
import { monthLabel, robotStatuses, sessionStatuses } from './labels.ts'

type Stats = Schemas['ClientStats']

/** Shows statistics on robots, sessions and spending. */
export function StatisticsPage() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.stats, 'client'],
    queryFn: () => answerOf(rest.GET('/api/client/stats')),
  })
  return (
    <Page title="Statistics" description="Your robots, sessions and spending. Months are in UTC.">
      <QueryView query={query}>
        {(stats) => (
          <>
            <Headline stats={stats} />
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Months stats={stats} />
              <DriveTime stats={stats} />
              <Counts
                title="Robots now"
                counts={stats.robots_by_status}
                labels={robotStatuses}
                unit="Robots"
              />
              <Counts
                title="Sessions"
                counts={stats.sessions_by_status}
                labels={sessionStatuses}
                unit="Sessions"
              />
            </SimpleGrid>
          </>
        )}
      </QueryView>
    </Page>
  )
}

const Headline = ({ stats }: { stats: Stats }) => (
  <DescriptionList cols={{ base: 2, sm: 3, lg: 6 }}>
    <DescriptionItem size="xl" label="Spent this month">
      {money(stats.spend_this_month_cents)}
    </DescriptionItem>
    <DescriptionItem size="xl" label="Total spent">
      {money(stats.spend_total_cents)}
    </DescriptionItem>
    <DescriptionItem size="xl" label="Drive time">
      {duration(stats.minutes)}
    </DescriptionItem>
    <DescriptionItem size="xl" label="Episodes">
      {stats.episodes_collected.toLocaleString()}
    </DescriptionItem>
    <DescriptionItem size="xl" label="Data">
      {dataSize(stats.data_collected_mb)}
    </DescriptionItem>
    <DescriptionItem size="xl" label="Average rating">
      {stats.average_rating === null ? 'none yet' : `${stats.average_rating} of 5`}
    </DescriptionItem>
  </DescriptionList>
)

const Months = ({ stats: { months } }: { stats: Stats }) => (
  <Chart
    title="Spending by month"
    rows={months.map((entry) => ({ label: monthLabel(entry.month), value: entry.spend_cents / 100 }))}
    unit="Spent"
    format={(value) => money(value * 100)}
  />
)

const DriveTime = ({ stats: { months } }: { stats: Stats }) => (
  <Chart
    title="Drive time by month"
    rows={months.map((entry) => ({ label: monthLabel(entry.month), value: entry.minutes }))}
    unit="Time"
    format={duration}
  />
)

/** Charts counts by status. */
function Counts<S extends string>(props: {
  title: string
  counts: Record<S, number>
  labels: readonly (readonly [S, string])[]
  unit: string
}) {
  const { title, counts, labels, unit } = props
  return (
    <Chart
      title={title}
      rows={labels.map(([status, label]) => ({ label, value: counts[status] }))}
      unit={unit}
      format={(value) => value.toLocaleString()}
    />
  )
}
