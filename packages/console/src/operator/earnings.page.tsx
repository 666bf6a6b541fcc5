import { Card, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { Chart } from '../base/chart.tsx'
import { clockText, duration, money } from '../base/format.ts'
import { Page } from '../base/page.tsx'
import { Empty, Note, QueryView } from '../base/states.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { sessionStatusTexts } from '../texts/code-texts.ts'
import { language, t } from '../texts/texts.ts'
import { Payments } from './payments.tsx'

/** Shows the operator's earnings and payouts. */
export function EarningsPage() {
  const query = useRead([...keys.stats, 'operator'], (rest) => rest.GET('/api/operator/stats'))
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
      t('operator.earnings.billedTime', { time: duration(stats.hours * 60) }),
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
          <Note>{detail}</Note>
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

type Counts = Schemas['OperatorStats']['sessions_by_status']

const dayFormat = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' })
const counts = new Intl.NumberFormat(language)

const statuses = ['COMPLETED', 'CANCELLED', 'PENDING', 'ACTIVE', 'PAUSED'] as const

/** Charts the earnings of the last days and the sessions by status. */
function EarningsCharts({ sessionsByStatus }: { sessionsByStatus: Counts }) {
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

/** The number of days shown, including today. */
const DAYS = 30
const PAGE_SIZE = 100
/** More pages than an operator can fill in that time. */
const MAX_PAGES = 10
/** A session can be created this long before it runs. The list is ordered by creation. */
const SCHEDULED_AHEAD_MS = 91 * 86_400_000

interface DayOfEarnings {
  readonly day: Date
  readonly cents: number
  readonly sessions: number
}

/** Returns the earnings of each of the last days in the viewer's zone, oldest first. */
async function earningsByDay(rest: RestClient, now = new Date()): Promise<readonly DayOfEarnings[]> {
  const days = Array.from({ length: DAYS }, (_, index) => {
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - (DAYS - 1 - index))
    return { day, cents: 0, sessions: 0 }
  })
  const byDay = new Map(days.map((entry) => [entry.day.getTime(), entry]))
  for await (const session of completedSince(rest, (days[0]?.day.getTime() ?? 0) - SCHEDULED_AHEAD_MS)) {
    // A user who is also an owner has sessions of other operators.
    if (!('operator_earnings_cents' in session) || session.ended_at === null) continue
    const ended = new Date(session.ended_at)
    const day = byDay.get(new Date(ended.getFullYear(), ended.getMonth(), ended.getDate()).getTime())
    if (!day) continue
    day.cents += session.operator_earnings_cents ?? 0
    day.sessions += 1
  }
  return days
}

async function* completedSince(rest: RestClient, createdMs: number): AsyncGenerator<Schemas['Session']> {
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { status: 'COMPLETED', limit: PAGE_SIZE, offset: page * PAGE_SIZE } as const
    const { sessions } = await answerOf(rest.GET('/api/sessions', { params: { query } }))
    yield* sessions
    const last = sessions.at(-1)
    if (sessions.length < PAGE_SIZE || !last || Date.parse(last.created_at) < createdMs) return
  }
}
