import { Button, Code, Group, Progress, SegmentedControl, Stack, Text } from '@mantine/core'
import { type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { type ReactNode, useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { MoreButton, RowTable, type TableColumn } from '../base/data-table.tsx'
import { messageOf } from '../base/message-of.ts'
import { Section } from '../base/section.tsx'
import { Empty, Note, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { byId, useAction, useWrite } from '../platform/rest.ts'
import { StateLabel } from '../status/state-label.tsx'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { AdminPage, Freshness, LATE_JOB_S, shortTime, useQueues } from './admin-page.tsx'

export const JobsPage = () => (
  <AdminPage title={t('admin.jobs.title')} description={t('admin.jobs.description')}>
    <Jobs />
    <Section title={t('admin.jobs.queues')}>
      <Queues />
    </Section>
  </AdminPage>
)

const states = [
  { value: 'failed', label: t('admin.jobs.failed') },
  { value: 'retrying', label: t('admin.jobs.retrying') },
  { value: 'running', label: t('admin.jobs.running') },
  { value: 'waiting', label: t('admin.jobs.waiting') },
] as const
type State = (typeof states)[number]['value']

function Jobs() {
  const [state, setState] = useState<State>('failed')
  return (
    <Section title={t('admin.jobs.jobs')}>
      <SegmentedControl
        aria-label={t('admin.jobs.state')}
        value={state}
        onChange={setState}
        data={[...states]}
        maw={480}
      />
      <JobList key={state} state={state} />
    </Section>
  )
}

type Job = Schemas['Job']

const emptyTitles: Record<Schemas['JobState'], string> = {
  failed: t('admin.jobs.noFailed'),
  retrying: t('admin.jobs.noRetrying'),
  running: t('admin.jobs.noRunning'),
  waiting: t('admin.jobs.noWaiting'),
}

const JOBS_INTERVAL_MS = 3_000
const JOBS_PER_PAGE = 50

/** Lists the jobs in a state, newest first. Polls while only the first page is loaded. */
function JobList({ state }: { state: Schemas['JobState'] }) {
  const { rest } = usePlatform()
  const query = useInfiniteQuery({
    queryKey: [...keys.jobs, state],
    queryFn: ({ pageParam, signal }) => {
      const params = { query: { state, limit: JOBS_PER_PAGE, before: pageParam } }
      return answerOf(rest.GET('/api/admin/jobs', { params, signal }))
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: (current) => ((current.state.data?.pages.length ?? 0) > 1 ? false : JOBS_INTERVAL_MS),
  })
  return (
    <>
      <Freshness query={query} />
      <QueryView
        query={query satisfies UseInfiniteQueryResult}
        isEmpty={({ pages }) => pages[0]?.jobs.length === 0}
        empty={<Empty title={emptyTitles[state]} />}
      >
        {({ pages }) => (
          <>
            <JobTable state={state} jobs={pages.flatMap(({ jobs }) => jobs)} />
            <MoreButton query={query}>{t('admin.list.older')}</MoreButton>
          </>
        )}
      </QueryView>
    </>
  )
}

const JobTable = ({ state, jobs }: { state: Schemas['JobState']; jobs: readonly Job[] }) => (
  <RowTable
    label={t('admin.jobs.jobs')}
    minWidth={760}
    rows={jobs}
    columns={[
      [
        t('admin.jobs.job'),
        ({ queue, data }) => (
          <>
            <Text fw={600}>{queue}</Text>
            <Code style={{ overflowWrap: 'anywhere' }}>{JSON.stringify(data)}</Code>
          </>
        ),
      ],
      [t('admin.jobs.attempts'), ({ attempts }) => attempts.toLocaleString(language)],
      [
        t(state === 'failed' || state === 'retrying' ? 'admin.jobs.lastError' : 'admin.jobs.progress'),
        ({ error, progress, queue }) => (
          <>
            {error && <Text size="sm">{error}</Text>}
            {progress && <JobProgress progress={progress} queue={queue} />}
          </>
        ),
        { style: { overflowWrap: 'anywhere' } },
      ],
      [t('admin.jobs.when'), whenOf],
      [
        t('admin.jobs.actions'),
        (job) => (
          <Group gap="xs" wrap="nowrap">
            {job.state !== 'running' && <RetryJob job={job} />}
            <DiscardJob job={job} />
          </Group>
        ),
      ],
    ]}
  />
)

const JobProgress = (props: { progress: NonNullable<Job['progress']>; queue: string }) => {
  const { done, total } = props.progress
  return (
    <Stack gap={4}>
      <Progress
        value={total === 0 ? 0 : Math.min(100, (100 * done) / total)}
        aria-label={t('admin.jobs.progressLabel', { queue: props.queue })}
      />
      <Text size="sm">{t('admin.jobs.done', { done, total })}</Text>
    </Stack>
  )
}

function whenOf({ failed_at, next_attempt_at, started_at, created_at }: Job): ReactNode {
  if (failed_at) return textParts('admin.jobs.failedAt', { time: <Time at={failed_at} /> })
  if (next_attempt_at) return textParts('admin.jobs.runsAt', { time: <Time at={next_attempt_at} /> })
  return textParts('admin.jobs.startedAt', { time: <Time at={started_at ?? created_at} /> })
}

function RetryJob({ job: { id, queue } }: { job: Job }) {
  const retry = useWrite((rest) => rest.POST('/api/admin/jobs/{id}/retry', byId(id)), {
    refresh: [keys.jobs],
    refreshesOnError: true,
  })
  return (
    <div>
      <Button
        size="xs"
        variant="default"
        loading={retry.isPending}
        onClick={() => retry.mutate()}
        aria-label={t('admin.job.retryLabel', { queue })}
      >
        {t('common.retry')}
      </Button>
      {retry.error && (
        <Text size="xs" role="alert" c="var(--mantine-color-error)">
          {messageOf(retry.error)}
        </Text>
      )}
    </div>
  )
}

function DiscardJob({ job: { id, queue, state } }: { job: Job }) {
  const discard = useAction((rest) => rest.POST('/api/admin/jobs/{id}/discard', byId(id)), keys.jobs)
  return (
    <ConfirmButton
      size="xs"
      question={t('admin.job.discardQuestion', { queue })}
      consequence={t(state === 'running' ? 'admin.job.discardRunning' : 'admin.job.discardConsequence')}
      confirmLabel={t('admin.job.discard')}
      onConfirm={() => discard()}
      aria-label={t('admin.job.discardLabel', { queue })}
    />
  )
}

type JobQueue = Schemas['JobQueue']

const countColumn = (label: string, countOf: (queue: JobQueue) => number, isAlarming = false) =>
  [
    { label, align: 'right' },
    (queue: JobQueue) => (
      <Text
        span
        inherit
        {...(isAlarming && countOf(queue) > 0 && { c: 'var(--mantine-color-error)', fw: 600 })}
      >
        {countOf(queue).toLocaleString(language)}
      </Text>
    ),
  ] as const

const queueColumns: readonly TableColumn<JobQueue>[] = [
  [
    t('admin.queues.queue'),
    ({ name, description, cron }) => (
      <>
        <Text fw={600}>{name}</Text>
        <Note>
          {cron ? t('admin.queues.scheduled', { description, schedule: scheduleText(cron) }) : description}
        </Note>
      </>
    ),
  ],
  countColumn(t('admin.queues.failed'), ({ failed }) => failed, true),
  countColumn(t('admin.queues.retrying'), ({ retrying }) => retrying, true),
  countColumn(t('admin.queues.running'), ({ running }) => running),
  countColumn(t('admin.queues.due'), ({ due }) => due),
  countColumn(t('admin.queues.later'), ({ later }) => later),
  [
    { label: t('admin.queues.oldestDue'), align: 'right' },
    ({ due, oldest_due_seconds }) => due > 0 && <OldestDue seconds={oldest_due_seconds} />,
  ],
]

function Queues() {
  const query = useQueues()
  return (
    <>
      <Freshness query={query} />
      <QueryView
        query={query}
        isEmpty={(queues) => queues.length === 0}
        empty={<Empty title={t('admin.queues.emptyTitle')} />}
      >
        {(queues) => (
          <RowTable
            label={t('admin.jobs.queues')}
            minWidth={760}
            columns={queueColumns}
            rows={queues}
            keyOf={({ name }) => name}
          />
        )}
      </QueryView>
    </>
  )
}

const OldestDue = ({ seconds }: { seconds: number }) =>
  seconds > LATE_JOB_S ? (
    <StateLabel shape="delayed" detail={shortTime(seconds * 1_000)}>
      {t('admin.queues.stuck')}
    </StateLabel>
  ) : (
    shortTime(seconds * 1_000)
  )

/** Returns a cron expression in UTC in words; one of another form as it is. */
function scheduleText(cron: string): string {
  const [minute = '', hour = ''] = cron.split(' ')
  if (!/^[\d*/]+ [\d*]+ \* \* \*$/.test(cron)) return cron
  if (minute === '*') return t('admin.queues.everyMinute')
  if (minute.startsWith('*/')) return t('admin.queues.everyMinutes', { minutes: minute.slice(2) })
  const twoDigits = (part: string) => part.padStart(2, '0')
  return hour === '*'
    ? t('admin.queues.everyHour', { minute: twoDigits(minute) })
    : t('admin.queues.everyDay', { time: `${twoDigits(hour)}:${twoDigits(minute)}` })
}
