import { Code, Group, Progress, Stack, Table, Text } from '@mantine/core'
import { type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { textParts } from '../texts/text-parts.tsx'
import { language, t } from '../texts/texts.ts'
import { DataTable, MoreButton } from '../ui/data-table.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { Freshness } from './freshness.tsx'
import { DiscardJob, RetryJob } from './job-buttons.tsx'

type Job = Schemas['Job']

const emptyTitles: Record<Schemas['JobState'], string> = {
  failed: t('admin.jobs.noFailed'),
  retrying: t('admin.jobs.noRetrying'),
  running: t('admin.jobs.noRunning'),
  waiting: t('admin.jobs.noWaiting'),
}

const PAGE_SIZE = 50
const POLL_INTERVAL_MS = 3_000

/** Lists the jobs in a state, newest first. Polls while only the first page is loaded. */
export function JobList({ state }: { state: Schemas['JobState'] }) {
  const { rest } = usePlatform()
  const query = useInfiniteQuery({
    queryKey: [...keys.jobs, state],
    queryFn: ({ pageParam, signal }) => {
      const params = { query: { state, limit: PAGE_SIZE, before: pageParam } }
      return answerOf(rest.GET('/api/admin/jobs', { params, signal }))
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: (current) => ((current.state.data?.pages.length ?? 0) > 1 ? false : POLL_INTERVAL_MS),
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
