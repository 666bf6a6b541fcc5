import { SimpleGrid } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { Chart } from '../base/chart.tsx'
import { DescriptionItem, DescriptionList } from '../base/data-table.tsx'
import { dataSize, duration, money, monthOf } from '../base/format.ts'
import { Page } from '../base/page.tsx'
import { QueryView } from '../base/states.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { robotStatusTexts, sessionStatusTexts } from '../texts/code-texts.ts'
import { language, t } from '../texts/texts.ts'

type Stats = Schemas['ClientStats']

export function StatisticsPage() {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.stats, 'client'],
    queryFn: () => answerOf(rest.GET('/api/client/stats')),
  })
  return (
    <Page title={t('statistics.page.title')} description={t('statistics.page.description')}>
      <QueryView query={query}>
        {(stats) => (
          <>
            <Headline stats={stats} />
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Months stats={stats} />
              <DriveTime stats={stats} />
              <Counts
                title={t('statistics.page.robotsNow')}
                counts={stats.robots_by_status}
                labels={robotStatuses}
                unit={t('statistics.page.robots')}
              />
              <Counts
                title={t('statistics.page.sessions')}
                counts={stats.sessions_by_status}
                labels={sessionStatuses}
                unit={t('statistics.page.sessions')}
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
    <DescriptionItem size="xl" label={t('statistics.headline.spentThisMonth')}>
      {money(stats.spend_this_month_cents)}
    </DescriptionItem>
    <DescriptionItem size="xl" label={t('statistics.headline.totalSpent')}>
      {money(stats.spend_total_cents)}
    </DescriptionItem>
    <DescriptionItem size="xl" label={t('statistics.headline.driveTime')}>
      {duration(stats.minutes)}
    </DescriptionItem>
    <DescriptionItem size="xl" label={t('statistics.headline.episodes')}>
      {stats.episodes_collected.toLocaleString(language)}
    </DescriptionItem>
    <DescriptionItem size="xl" label={t('statistics.headline.data')}>
      {dataSize(stats.data_collected_mb)}
    </DescriptionItem>
    <DescriptionItem size="xl" label={t('statistics.headline.averageRating')}>
      {stats.average_rating === null
        ? t('statistics.headline.noRating')
        : t('statistics.headline.rating', { rating: stats.average_rating })}
    </DescriptionItem>
  </DescriptionList>
)

const Months = ({ stats: { months } }: { stats: Stats }) => (
  <Chart
    title={t('statistics.months.spending')}
    rows={months.map((entry) => ({ label: monthLabel(entry.month), value: entry.spend_cents / 100 }))}
    unit={t('statistics.months.spent')}
    format={(value) => money(value * 100)}
  />
)

const DriveTime = ({ stats: { months } }: { stats: Stats }) => (
  <Chart
    title={t('statistics.months.driveTime')}
    rows={months.map((entry) => ({ label: monthLabel(entry.month), value: entry.minutes }))}
    unit={t('statistics.months.time')}
    format={duration}
  />
)

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
      format={(value) => value.toLocaleString(language)}
    />
  )
}

const robotStatuses: readonly (readonly [keyof Stats['robots_by_status'], string])[] = [
  ['AVAILABLE', robotStatusTexts.AVAILABLE],
  ['IN_SESSION', robotStatusTexts.IN_SESSION],
  ['OFFLINE', robotStatusTexts.OFFLINE],
]

const sessionStatuses: readonly (readonly [keyof Stats['sessions_by_status'], string])[] = [
  ['PENDING', sessionStatusTexts.PENDING],
  ['ACTIVE', sessionStatusTexts.ACTIVE],
  ['PAUSED', sessionStatusTexts.PAUSED],
  ['COMPLETED', sessionStatusTexts.COMPLETED],
  ['CANCELLED', sessionStatusTexts.CANCELLED],
]

/** Returns `2026-10` as "Oct 2026". */
const monthLabel = (month: string): string => monthOf(`${month}-01T00:00:00Z`, 'short')
