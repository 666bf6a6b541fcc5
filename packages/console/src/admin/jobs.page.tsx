import { Button, Code, Group, Progress, SegmentedControl, Stack, Table, Text } from '@mantine/core'
import {
  type UseInfiniteQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DataTable, MoreButton } from '../base/data-table.tsx'
import { messageOf } from '../base/message-of.ts'
import { Section } from '../base/section.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { StateLabel } from '../status/state-label.tsx'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { AdminPage } from './admin-page.tsx'
import { Freshness, shortTime } from './freshness.tsx'
import { LATE_JOB_S, queuesQuery } from './queries.ts'

/** Shows the queues of background work, and the jobs that need attention. */
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

const PAGE_SIZE = 50
const JOBS_INTERVAL_MS = 3_000

/** Lists the jobs in a state, newest first. Polls while only the first page is loaded. */
function JobList({ state }: { state: Schemas['JobState'] }) {
  const { rest } = usePlatform()
  const query = useInfiniteQuery({
    queryKey: [...keys.jobs, state],
    queryFn: ({ pageParam, signal }) => {
      const params = { query: { state, limit: PAGE_SIZE, before: pageParam } }
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
  <DataTable
    label={t('admin.jobs.jobs')}
    minWidth={760}
    columns={[
      t('admin.jobs.job'),
      t('admin.jobs.attempts'),
      t(state === 'failed' || state === 'retrying' ? 'admin.jobs.lastError' : 'admin.jobs.progress'),
      t('admin.jobs.when'),
      t('admin.jobs.actions'),
    ]}
  >
    {jobs.map((job) => (
      <Table.Tr key={job.id}>
        <Table.Td>
          <Text fw={600}>{job.queue}</Text>
          <Code style={{ overflowWrap: 'anywhere' }}>{JSON.stringify(job.data)}</Code>
        </Table.Td>
        <Table.Td>{job.attempts.toLocaleString(language)}</Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>
          {job.error && <Text size="sm">{job.error}</Text>}
          {job.progress && <JobProgress progress={job.progress} queue={job.queue} />}
        </Table.Td>
        <Table.Td>
          <When job={job} />
        </Table.Td>
        <Table.Td>
          <Group gap="xs" wrap="nowrap">
            {job.state !== 'running' && <RetryJob job={job} />}
            <DiscardJob job={job} />
          </Group>
        </Table.Td>
      </Table.Tr>
    ))}
  </DataTable>
)

const JobProgress = ({
  progress: { done, total },
  queue,
}: {
  progress: NonNullable<Job['progress']>
  queue: string
}) => (
  <Stack gap={4}>
    <Progress
      value={total === 0 ? 0 : Math.min(100, (100 * done) / total)}
      aria-label={t('admin.jobs.progressLabel', { queue })}
    />
    <Text size="sm">{t('admin.jobs.done', { done, total })}</Text>
  </Stack>
)

function When({ job: { failed_at, next_attempt_at, started_at, created_at } }: { job: Job }) {
  if (failed_at) return textParts('admin.jobs.failedAt', { time: <Time at={failed_at} /> })
  if (next_attempt_at) return textParts('admin.jobs.runsAt', { time: <Time at={next_attempt_at} /> })
  return textParts('admin.jobs.startedAt', { time: <Time at={started_at ?? created_at} /> })
}

/** Returns the function that reads jobs and queues again. */
function useRefresh() {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: keys.jobs })
}

/** Renders the button that runs a job now. */
function RetryJob({ job: { id, queue } }: { job: Job }) {
  const { rest } = usePlatform()
  const refresh = useRefresh()
  const retry = useMutation({
    mutationFn: () => answerOf(rest.POST('/api/admin/jobs/{id}/retry', { params: { path: { id } } })),
    onSettled: refresh,
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

/** Renders the button that removes a job, after a confirmation. */
function DiscardJob({ job: { id, queue, state } }: { job: Job }) {
  const { rest } = usePlatform()
  const refresh = useRefresh()
  const discard = async () => {
    await answerOf(rest.POST('/api/admin/jobs/{id}/discard', { params: { path: { id } } }))
    await refresh()
  }
  return (
    <ConfirmButton
      size="xs"
      variant="default"
      question={t('admin.job.discardQuestion', { queue })}
      consequence={t(state === 'running' ? 'admin.job.discardRunning' : 'admin.job.discardConsequence')}
      confirmLabel={t('admin.job.discard')}
      onConfirm={discard}
      aria-label={t('admin.job.discardLabel', { queue })}
    >
      {t('admin.job.discard')}
    </ConfirmButton>
  )
}

const columns = [
  t('admin.queues.queue'),
  ...[
    t('admin.queues.failed'),
    t('admin.queues.retrying'),
    t('admin.queues.running'),
    t('admin.queues.due'),
    t('admin.queues.later'),
    t('admin.queues.oldestDue'),
  ].map((label) => ({ label, align: 'right' as const })),
]

/** Lists the queues with the number of their unfinished jobs. */
function Queues() {
  const { rest } = usePlatform()
  const query = useQuery(queuesQuery(rest))
  return (
    <>
      <Freshness query={query} />
      <QueryView
        query={query}
        isEmpty={(queues) => queues.length === 0}
        empty={<Empty title={t('admin.queues.emptyTitle')} />}
      >
        {(queues) => (
          <DataTable label={t('admin.jobs.queues')} minWidth={760} columns={columns}>
            {queues.map((queue) => (
              <Table.Tr key={queue.name}>
                <Table.Td>
                  <Text fw={600}>{queue.name}</Text>
                  <Text size="sm" c="dimmed">
                    {queue.cron
                      ? t('admin.queues.scheduled', {
                          description: queue.description,
                          schedule: scheduleText(queue.cron),
                        })
                      : queue.description}
                  </Text>
                </Table.Td>
                <Count value={queue.failed} alarming />
                <Count value={queue.retrying} alarming />
                <Count value={queue.running} />
                <Count value={queue.due} />
                <Count value={queue.later} />
                <Table.Td ta="right">
                  {queue.due > 0 && <OldestDue seconds={queue.oldest_due_seconds} />}
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </QueryView>
    </>
  )
}

/** Shows for how long a job has waited, and whether its queue is stuck. */
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

const Count = ({ value, alarming = false }: { value: number; alarming?: boolean }) => (
  <Table.Td ta="right">
    <Text span inherit {...(alarming && value > 0 && { c: 'var(--mantine-color-error)', fw: 600 })}>
      {value.toLocaleString(language)}
    </Text>
  </Table.Td>
)
