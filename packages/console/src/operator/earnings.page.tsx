import { Card, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { clockText, money } from '../ui/format.ts'
import { Page } from '../ui/page.tsx'
import { QueryView } from '../ui/states.tsx'
import { EarningsCharts } from './earnings-charts.tsx'
import { Payments } from './payments.tsx'

/** Shows the operator's earnings and payouts. */
export function EarningsPage() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.stats, 'operator'],
    queryFn: () => answerOf(rest.GET('/api/operator/stats')),
  })
  return (
    <Page title="Earnings" description="Your share of completed sessions.">
      <QueryView query={query}>
        {(stats) => (
          <Stack>
            <Figures stats={stats} />
            <Payments />
            <EarningsCharts sessionsByStatus={stats.sessions_by_status} />
          </Stack>
        )}
      </QueryView>
    </Page>
  )
}

function Figures({ stats }: { stats: Schemas['OperatorStats'] }) {
  const figures = [
    ['This month', money(stats.earnings_this_month_cents), thisMonth(stats)],
    ['Total', money(stats.earnings_total_cents), `${stats.hours} billed hours`],
    ['Available', money(stats.available_for_payout_cents), 'ready for payout'],
    ['Pending', money(stats.pending_earnings_cents), 'until the owners pay their invoices or the hold ends'],
    ['Rating', ratingOf(stats), `of 5 stars, ${stats.rating_count} ratings`],
  ] as const
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} component="section" aria-label="Figures">
      {figures.map(([label, value, detail]) => (
        <Card key={label} withBorder>
          <Title order={2} size="sm">
            {label}
          </Title>
          <Text size="xl" fw={700}>
            {value}
          </Text>
          <Text size="sm" c="dimmed">
            {detail}
          </Text>
        </Card>
      ))}
    </SimpleGrid>
  )
}

/** Returns the period, and the time with offline robots, which is not paid. */
function thisMonth({ outage_seconds_this_month: seconds }: Schemas['OperatorStats']): string {
  const period = 'UTC month'
  return seconds === 0 ? period : `${period}. ${clockText(seconds)} with the robot offline is not paid.`
}

const ratingOf = ({ rating_average: average }: Schemas['OperatorStats']) =>
  average === null ? 'none yet' : average.toFixed(2)
