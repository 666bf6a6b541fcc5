import { Card, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { language, t } from '../texts/texts.ts'
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
    <Page title={t('operator.earnings.title')} description={t('operator.earnings.description')}>
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
    [t('operator.earnings.thisMonth'), money(stats.earnings_this_month_cents), thisMonth(stats)],
    [
      t('operator.earnings.total'),
      money(stats.earnings_total_cents),
      t('operator.earnings.billedHours', { count: stats.hours }),
    ],
    [
      t('operator.earnings.available'),
      money(stats.available_for_payout_cents),
      t('operator.earnings.availableNote'),
    ],
    [t('operator.earnings.pending'), money(stats.pending_earnings_cents), t('operator.earnings.pendingNote')],
    [
      t('operator.earnings.rating'),
      ratingOf(stats),
      t('operator.earnings.ratingNote', { count: stats.rating_count }),
    ],
  ] as const
  return (
    <SimpleGrid
      cols={{ base: 1, xs: 2, md: 5 }}
      component="section"
      aria-label={t('operator.earnings.figures')}
    >
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
  if (seconds === 0) return t('operator.earnings.month')
  return t('operator.earnings.monthWithOutage', { time: clockText(seconds) })
}

const ratings = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 })

const ratingOf = ({ rating_average: average }: Schemas['OperatorStats']) =>
  average === null ? t('operator.earnings.noRating') : ratings.format(average)
