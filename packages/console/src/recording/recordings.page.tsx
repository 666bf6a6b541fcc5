import { Group, Progress, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { answerOf } from '@wheelhouse/sdk'
import { MoreButton, RowTable, type TableColumn } from '../base/data-table.tsx'
import { clockText, dataSize } from '../base/format.ts'
import { LinkAnchor } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { RobotSelect } from '../list/robot-select.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { RecordingStatusLabel } from './recording-mark.tsx'
import { recordedLabel } from './recording-texts.ts'
import { isUnfinished, type Recording } from './recordings.ts'

const POLL_MS = 10_000
const BYTES_PER_MB = 1_000_000

export function RecordingsPage() {
  const { robot } = useSearch({ from: '/shell/recordings' })
  const navigate = useNavigate({ from: '/recordings' })
  const { rest } = usePlatform()
  const query = useInfiniteQuery({
    queryKey: [...keys.recordings, 'list', robot],
    queryFn: ({ pageParam: cursor, signal }) =>
      answerOf(rest.GET('/api/recordings', { params: { query: { robot_id: robot, cursor } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ recordings }) => recordings.some(isUnfinished)) ? POLL_MS : false,
  })
  return (
    <Page title={t('recording.list.title')} description={t('recording.list.description')}>
      <Group justify="space-between" align="flex-end">
        <RobotSelect
          value={robot}
          onChange={(chosen) =>
            void navigate({ search: chosen === undefined ? {} : { robot: chosen }, replace: true })
          }
        />
        {query.data?.pages[0] && <Usage {...query.data.pages[0]} />}
      </Group>
      <QueryView
        query={query}
        isEmpty={({ pages }) => pages.every(({ recordings }) => recordings.length === 0)}
        empty={<Empty title={t('recording.list.emptyTitle')}>{t('recording.list.emptyText')}</Empty>}
      >
        {({ pages }) => (
          <>
            <RowTable
              label={t('recording.list.title')}
              minWidth={760}
              columns={columns}
              rows={pages.flatMap(({ recordings }) => recordings)}
            />
            <MoreButton query={query}>{t('recording.list.older')}</MoreButton>
          </>
        )}
      </QueryView>
    </Page>
  )
}

function Usage({ used_bytes, quota_bytes }: { used_bytes: number; quota_bytes: number | null }) {
  const used = dataSize(used_bytes / BYTES_PER_MB)
  if (quota_bytes === null) return <Text size="sm">{t('recording.list.used', { used })}</Text>
  const share = Math.min(1, used_bytes / quota_bytes)
  const text = t('recording.list.usedOf', { used, quota: dataSize(quota_bytes / BYTES_PER_MB) })
  return (
    <Stack gap={4} miw={220}>
      <Text size="sm">{text}</Text>
      <Progress value={share * 100} color={share > 0.9 ? 'orange.9' : 'blue.8'} aria-label={text} />
    </Stack>
  )
}

const columns: readonly TableColumn<Recording>[] = [
  [
    t('recording.list.started'),
    ({ session_id, started_at }) => (
      <LinkAnchor to="/sessions/$sessionId/replay" params={{ sessionId: session_id }} fw={600}>
        <Time at={started_at} exact />
      </LinkAnchor>
    ),
  ],
  [t('recording.list.robot'), ({ robot_name }) => robot_name, { style: { overflowWrap: 'anywhere' } }],
  [t('recording.list.content'), ({ mode }) => recordedLabel(mode)],
  [{ label: t('recording.list.length'), align: 'right' }, lengthOf],
  [
    { label: t('recording.list.size'), align: 'right' },
    ({ size_bytes }) => dataSize(size_bytes / BYTES_PER_MB),
  ],
  [t('recording.list.status'), (recording) => <RecordingStatusLabel recording={recording} />],
  [
    t('recording.list.gaps'),
    ({ gaps }) => (gaps.length === 0 ? '–' : t('replay.header.gaps', { count: gaps.length })),
  ],
]

function lengthOf({ started_at, ended_at }: Recording): string {
  return ended_at === null ? '–' : clockText((Date.parse(ended_at) - Date.parse(started_at)) / 1_000)
}
