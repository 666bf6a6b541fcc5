import { SimpleGrid } from '@mantine/core'
import { SessionStatus } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import { Chart } from '../base/chart.tsx'
import { DescriptionList } from '../base/data-table.tsx'
import { dataSize, duration, money, monthOf } from '../base/format.ts'
import { Page } from '../base/page.tsx'
import { QueryView } from '../base/states.tsx'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { robotStatusTexts, sessionStatusTexts } from '../texts/code-texts.ts'
import { language, t } from '../texts/texts.ts'

export function StatisticsPage() {
  const query = useRead([...keys.stats, 'client'], (rest) => rest.GET('/api/client/stats'))
  return (
    <Page title={t('statistics.page.title')} description={t('statistics.page.description')}>
      <QueryView query={query}>
        {(stats) => (
          <>
            <DescriptionList cols={{ base: 2, sm: 3, lg: 6 }} size="xl" items={headlineOf(stats)} />
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              {stats.spend_total_cents !== null && (
                <Chart
                  title={t('statistics.months.spending')}
                  rows={stats.months.map(({ month, spend_cents }) => ({
                    label: monthLabel(month),
                    value: (spend_cents ?? 0) / 100,
                  }))}
                  unit={t('statistics.months.spent')}
                  format={(value) => money(value * 100)}
                />
              )}
              <Chart
                title={t('statistics.months.driveTime')}
                rows={stats.months.map(({ month, minutes }) => ({
                  label: monthLabel(month),
                  value: minutes,
                }))}
                unit={t('statistics.months.time')}
                format={duration}
              />
              <Chart
                title={t('statistics.page.robotsNow')}
                rows={robotStatuses.map((status) => ({
                  label: robotStatusTexts[status],
                  value: stats.robots_by_status[status],
                }))}
                unit={t('statistics.page.robots')}
                format={whole}
              />
              <Chart
                title={t('statistics.page.sessions')}
                rows={SessionStatus.options.map((status) => ({
                  label: sessionStatusTexts[status],
                  value: stats.sessions_by_status[status],
                }))}
                unit={t('statistics.page.sessions')}
                format={whole}
              />
            </SimpleGrid>
          </>
        )}
      </QueryView>
    </Page>
  )
}

const whole = (value: number) => value.toLocaleString(language)

const headlineOf = (stats: Schemas['ClientStats']) => ({
  ...(stats.spend_this_month_cents !== null && {
    [t('statistics.headline.spentThisMonth')]: money(stats.spend_this_month_cents),
  }),
  ...(stats.spend_total_cents !== null && {
    [t('statistics.headline.totalSpent')]: money(stats.spend_total_cents),
  }),
  [t('statistics.headline.driveTime')]: duration(stats.minutes),
  [t('statistics.headline.episodes')]: whole(stats.episodes_collected),
  [t('statistics.headline.data')]: dataSize(stats.data_collected_mb),
  [t('statistics.headline.averageRating')]:
    stats.average_rating === null
      ? t('statistics.headline.noRating')
      : t('statistics.headline.rating', { rating: stats.average_rating }),
})

const robotStatuses = ['AVAILABLE', 'IN_SESSION', 'OFFLINE'] as const

/** Returns `2026-10` as "Oct 2026". */
const monthLabel = (month: string): string => monthOf(`${month}-01T00:00:00Z`, 'short')
