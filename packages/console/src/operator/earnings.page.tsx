import {
  Alert,
  Button,
  Card,
  Group,
  List,
  NumberInput,
  Radio,
  SimpleGrid,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { upperFirst, useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { ApiError, answerOf, type RestClient, type Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { Chart } from '../base/chart.tsx'
import { ConfirmDialog } from '../base/confirm-button.tsx'
import { RowTable, type TableColumn } from '../base/data-table.tsx'
import { Form } from '../base/form.tsx'
import { clockText, duration, money, shortList } from '../base/format.ts'
import { LinkAnchor } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Section } from '../base/section.tsx'
import { Empty, Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead, useWrite } from '../platform/rest.ts'
import { StateLabel } from '../status/state-label.tsx'
import { payoutStatusTexts, sessionStatusTexts } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { useIdempotentMutation } from './idempotent-mutation.ts'

export function EarningsPage() {
  const query = useRead([...keys.stats, 'operator'], (rest) => rest.GET('/api/operator/stats'))
  return (
    <Page title={t('operator.earnings.title')} description={t('operator.earnings.description')}>
      <QueryView query={query}>
        {(stats) => (
          <Stack>
            <Figures stats={stats} />
            <Payments />
            <EarningsCharts counts={stats.sessions_by_status} />
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
        <Card key={label}>
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

const dayFormat = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' })
const numbers = new Intl.NumberFormat(language)

const statuses = ['COMPLETED', 'CANCELLED', 'PENDING', 'ACTIVE', 'PAUSED'] as const

function EarningsCharts({ counts }: { counts: Schemas['OperatorStats']['sessions_by_status'] }) {
  const { rest } = usePlatform()
  const query = useQuery({
    queryKey: [...keys.sessions, 'earnings-by-day'],
    queryFn: () => earningsByDay(rest),
  })
  const rows = statuses.map((status) => ({ label: sessionStatusTexts[status], value: counts[status] }))
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
          format={numbers.format}
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

/** Returns the earnings of each of the last days in the viewer's zone, oldest first. */
async function earningsByDay(rest: RestClient) {
  const now = new Date()
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

const REFETCH_INTERVAL_MS = 15_000
const MAX_RETRIES = 3

/** Returns whether payments are not configured, as opposed to a temporary outage of the provider. */
const isNotSetUp = (error: unknown) => error instanceof ApiError && error.code === 'payments_not_configured'

function Payments() {
  const query = useRead(keys.payouts, (rest) => rest.GET('/api/payments/payout'), {
    retry: (count, error) => count < MAX_RETRIES && !isNotSetUp(error),
    refetchInterval: ({ state }) => (state.data && state.data.pendingCents > 0 ? REFETCH_INTERVAL_MS : false),
  })
  if (isNotSetUp(query.error))
    return (
      <Alert color="gray" title={t('operator.payments.notSetUp')}>
        <Text size="sm">{t('operator.payments.notSetUpNote')}</Text>
      </Alert>
    )
  return (
    <QueryView query={query}>
      {(overview) => (
        <>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <PayoutAccount />
            <PayoutForm overview={overview} />
          </SimpleGrid>
          <Section title={t('operator.payouts.title')}>
            {overview.payouts.length === 0 ? (
              <Empty title={t('operator.payouts.emptyTitle')} />
            ) : (
              <RowTable
                label={t('operator.payouts.title')}
                minWidth={520}
                columns={payoutColumns}
                rows={overview.payouts}
              />
            )}
          </Section>
        </>
      )}
    </QueryView>
  )
}

type Overview = Schemas['PayoutOverview']

function PayoutForm({ overview }: { overview: Overview }) {
  const { availableCents, minimumCents } = overview
  const [partial, setPartial] = useState(false)
  const [euros, setEuros] = useState<number | string>('')
  const [submitted, setSubmitted] = useState(false)
  const [opened, { open, close }] = useDisclosure(false)
  const request = useIdempotentMutation({
    send: (rest, body: { amountCents: number }, params) =>
      answerOf(rest.POST('/api/payments/payout', { body, params })),
    refresh: [keys.payouts, keys.stats],
  })
  const amountCents = partial ? Math.round(Number(euros) * 100) : availableCents
  const problem = problemOf(amountCents, overview)
  const belowMinimum = availableCents < minimumCents
  const submit = () => {
    setSubmitted(true)
    request.reset()
    if (!problem) open()
  }
  return (
    <Section title={t('operator.payoutForm.title')}>
      <Form onSubmit={submit} noValidate>
        <Text>{balanceText(overview)}</Text>
        {overview.nextAvailableAt && (
          <Note>
            {textParts('operator.payoutForm.pendingNote', {
              time: <Time at={overview.nextAvailableAt} exact />,
            })}
          </Note>
        )}
        {belowMinimum ? (
          <Text c="dimmed">{t('operator.payoutForm.minimum', { amount: money(minimumCents) })}</Text>
        ) : (
          <>
            <Radio.Group
              label={t('operator.payoutForm.amount')}
              value={partial ? 'part' : 'all'}
              onChange={(value) => setPartial(value === 'part')}
            >
              <Stack gap="xs" mt="xs">
                <Radio value="all" label={t('operator.payoutForm.all', { amount: money(availableCents) })} />
                <Radio value="part" label={t('operator.payoutForm.other')} />
              </Stack>
            </Radio.Group>
            {partial && (
              <NumberInput
                label={t('operator.payoutForm.euros')}
                description={t('operator.payoutForm.eurosNote', { amount: money(minimumCents) })}
                hideControls
                decimalScale={2}
                allowNegative={false}
                value={euros}
                error={submitted && problem}
                onChange={setEuros}
              />
            )}
            <Group>
              <Button type="submit">{t('operator.payoutForm.request')}</Button>
            </Group>
          </>
        )}
        <Text size="sm" role="status">
          {request.data ? outcomeOf(request.data) : ''}
        </Text>
      </Form>
      <ConfirmDialog
        opened={opened}
        onClose={close}
        question={t('operator.payoutForm.question', { amount: money(amountCents) })}
        consequence={t('operator.payoutForm.destination')}
        confirmLabel={t('operator.payoutForm.confirm', { amount: money(amountCents) })}
        confirmColor="blue"
        onConfirm={() => request.mutateAsync({ amountCents })}
      />
    </Section>
  )
}

/** Returns the parts of the balance, such as "€20.00 available, €3.50 pending". */
const balanceText = ({ availableCents, pendingEarningsCents, pendingCents }: Overview): string =>
  shortList.format([
    t('operator.payoutForm.available', { amount: money(availableCents) }),
    ...(pendingEarningsCents > 0
      ? [t('operator.payoutForm.pending', { amount: money(pendingEarningsCents) })]
      : []),
    ...(pendingCents > 0 ? [t('operator.payoutForm.onTheWay', { amount: money(pendingCents) })] : []),
  ])

function problemOf(cents: number, { availableCents, minimumCents }: Overview): string | undefined {
  if (!Number.isFinite(cents) || cents < minimumCents)
    return t('operator.payoutForm.belowMinimum', { amount: money(minimumCents) })
  if (cents > availableCents) return t('operator.payoutForm.aboveBalance', { amount: money(availableCents) })
  return undefined
}

function outcomeOf({ status, amountCents }: Schemas['Payout']): string {
  const amount = money(amountCents)
  if (status === 'PAID') return t('operator.payoutForm.transferred', { amount })
  return status === 'FAILED'
    ? t('operator.payoutForm.failed', { amount })
    : t('operator.payoutForm.underWay', { amount })
}

/** Labels of the payment provider's requirements, by the end of their names. */
const labels: Readonly<Record<string, string>> = {
  date_of_birth: t('operator.requirements.dateOfBirth'),
  default_outbound_destination: t('operator.requirements.bankAccount'),
  external_account: t('operator.requirements.bankAccount'),
  given_name: t('operator.requirements.firstName'),
  surname: t('operator.requirements.lastName'),
  email: t('operator.requirements.email'),
  phone: t('operator.requirements.phone'),
  address: t('operator.requirements.address'),
  id_numbers: t('operator.requirements.idNumber'),
  'verification.document': t('operator.requirements.document'),
  document: t('operator.requirements.document'),
  'documents.primary_verification': t('operator.requirements.document'),
  tos_acceptance: t('operator.requirements.terms'),
  'terms_of_service.account': t('operator.requirements.terms'),
}

/** Returns the label of a requirement such as `identity.individual.date_of_birth`. An unknown name becomes words. */
function requirementLabel(name: string): string {
  const parts = name.split('.')
  for (let from = 0; from < parts.length; from++) {
    const known = labels[parts.slice(from).join('.')]
    if (known) return known
  }
  const address = parts.includes('address') ? labels.address : undefined
  return address ?? upperFirst((parts.at(-1) ?? name).replaceAll('_', ' '))
}

type Account = Schemas['PayoutAccount']

function PayoutAccount() {
  const query = useRead([...keys.payouts, 'account'], (rest) => rest.GET('/api/payments/connect'))
  return (
    <Section title={t('operator.payoutAccount.title')}>
      <QueryView query={query}>{(account) => <AccountStatus account={account} />}</QueryView>
    </Section>
  )
}

function AccountStatus({ account }: { account: Account }) {
  const missing = [...new Set(account.requirements.map(requirementLabel))]
  return (
    <>
      <Text>{sentenceOf(account)}</Text>
      {missing.length > 0 && (
        <div>
          <Text>{t('operator.payoutAccount.missing')}</Text>
          <List>
            {missing.map((requirement) => (
              <List.Item key={requirement}>{requirement}</List.Item>
            ))}
          </List>
        </div>
      )}
      <ProviderButton label={labelOf(account)} />
    </>
  )
}

function sentenceOf({ connected, payoutsEnabled, requirements }: Account): string {
  if (!connected) return t('operator.payoutAccount.none')
  if (payoutsEnabled) return t('operator.payoutAccount.ready')
  return requirements.length > 0
    ? t('operator.payoutAccount.incomplete')
    : t('operator.payoutAccount.inReview')
}

const labelOf = ({ connected, payoutsEnabled }: Account) =>
  connected
    ? payoutsEnabled
      ? t('operator.payoutAccount.change')
      : t('operator.payoutAccount.continue')
    : t('operator.payoutAccount.setUp')

function ProviderButton({ label }: { label: string }) {
  const open = useWrite((rest) => rest.POST('/api/payments/connect'), {
    onSuccess: ({ url }) => window.location.assign(url),
  })
  const needsCountry = open.error instanceof ApiError && open.error.code === 'country_missing'
  return (
    <>
      <Problem error={open.error} />
      <Group>
        {/* Stays loading until the browser has left this page. */}
        <Button loading={open.isPending || open.isSuccess} onClick={() => open.mutate()}>
          {label}
        </Button>
        {needsCountry && <LinkAnchor to="/settings">{t('operator.payoutAccount.editProfile')}</LinkAnchor>}
      </Group>
    </>
  )
}

const shapes = { PENDING: 'delayed', PAID: 'live', FAILED: 'blind' } as const

const payoutColumns: readonly TableColumn<Schemas['Payout']>[] = [
  [t('operator.payouts.requested'), ({ createdAt }) => <Time at={createdAt} exact />],
  [{ label: t('operator.payouts.amount'), align: 'right' }, ({ amountCents }) => money(amountCents)],
  [
    t('operator.payouts.status'),
    (payout) => (
      <>
        <StateLabel shape={shapes[payout.status]}>{payoutStatusTexts[payout.status]}</StateLabel>
        <Note>{explanationOf(payout)}</Note>
      </>
    ),
  ],
  [
    t('operator.payouts.settled'),
    ({ settledAt: at }) => (at ? <Time at={at} exact /> : t('operator.payouts.notSettled')),
  ],
]

function explanationOf({ status, failure }: Schemas['Payout']): string {
  if (status === 'PENDING') return t('operator.payouts.pending')
  if (status === 'PAID') return ''
  return failure ? t('operator.payouts.failedFor', { reason: failure }) : t('operator.payouts.failed')
}
