import { Card, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { lazy, type ReactNode, Suspense } from 'react'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { dataSize, duration, money } from '../ui/format.ts'
import { Page } from '../ui/page.tsx'
import { Loading, QueryView } from '../ui/states.tsx'
import { Figures } from './figures.tsx'
import { type ChartRow, monthLabel, robotStatuses, sessionStatuses } from './labels.ts'

const Bars = lazy(() => import('./bars.tsx'))

type Stats = Schemas['ClientStats']

/** Robots, sessions and spending in figures. */
export function StatisticsPage() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.stats, 'client'],
    queryFn: () => answerOf(rest.GET('/api/client/stats')),
  })
  return (
    <Page title="Statistics" description="Of your robots and sessions; months are months of UTC">
      <QueryView query={query}>
        {(stats) => (
          <>
            <Headline stats={stats} />
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Months stats={stats} />
              <Time stats={stats} />
              <Counts
                title="Robots now"
                counts={stats.robots_by_status}
                labels={robotStatuses}
                what="Robots"
              />
              <Counts
                title="Sessions"
                counts={stats.sessions_by_status}
                labels={sessionStatuses}
                what="Sessions"
              />
            </SimpleGrid>
          </>
        )}
      </QueryView>
    </Page>
  )
}

const Headline = ({ stats }: { stats: Stats }) => (
  <SimpleGrid component="dl" cols={{ base: 2, sm: 3, lg: 6 }} m={0}>
    <Figure label="Spent this month">{money(stats.spend_this_month_cents)}</Figure>
    <Figure label="Spent in all">{money(stats.spend_total_cents)}</Figure>
    <Figure label="Time driven">{duration(stats.minutes)}</Figure>
    <Figure label="Episodes">{stats.episodes_collected.toLocaleString()}</Figure>
    <Figure label="Data">{dataSize(stats.data_collected_mb)}</Figure>
    <Figure label="Your ratings">
      {stats.average_rating === null ? 'none yet' : `${stats.average_rating} of 5`}
    </Figure>
  </SimpleGrid>
)

const Figure = ({ label, children }: { label: string; children: ReactNode }) => (
  <div>
    <Text component="dt" size="sm" c="dimmed">
      {label}
    </Text>
    <Text component="dd" m={0} fw={600} size="xl">
      {children}
    </Text>
  </div>
)

const Months = ({ stats: { months } }: { stats: Stats }) => (
  <Chart
    title="Spending by month"
    rows={months.map((one) => ({ label: monthLabel(one.month), value: one.spend_cents / 100 }))}
    unit="Spent"
    format={(value) => money(value * 100)}
  />
)

const Time = ({ stats: { months } }: { stats: Stats }) => (
  <Chart
    title="Time driven by month"
    rows={months.map((one) => ({ label: monthLabel(one.month), value: one.minutes }))}
    unit="Time"
    format={duration}
  />
)

/** How many there are of each kind. */
function Counts<S extends string>(props: {
  title: string
  counts: Record<S, number>
  labels: readonly (readonly [S, string])[]
  what: string
}) {
  const { title, counts, labels, what } = props
  return (
    <Chart
      title={title}
      rows={labels.map(([status, label]) => ({ label, value: counts[status] }))}
      unit={what}
      format={(value) => value.toLocaleString()}
    />
  )
}

/** A picture of some figures, and the figures themselves, which everybody can read. */
const Chart = (props: {
  title: string
  rows: readonly ChartRow[]
  unit: string
  format: (value: number) => string
}) => (
  <Card withBorder component="section" aria-label={props.title}>
    <Stack>
      <Title order={2}>{props.title}</Title>
      <Suspense fallback={<Loading />}>
        <Bars rows={props.rows} unit={props.unit} format={props.format} />
      </Suspense>
      <Figures {...props} />
    </Stack>
  </Card>
)
