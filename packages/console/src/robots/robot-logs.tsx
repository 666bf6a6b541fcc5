import { SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { LevelBadge, lineTime } from '../session/event-log.tsx'
import { t } from '../texts/texts.ts'
import { DataTable, MoreButton } from '../ui/data-table.tsx'
import { Empty, QueryView } from '../ui/states.tsx'

type LogLevel = Schemas['RobotLogLine']['level']

const PAGE_SIZE = 50
/** No event announces new log lines, so the page polls. */
const POLL_INTERVAL_MS = 3_000

/** Queries the log of a robot page by page, newest line first. */
function useRobotLogs(id: string, level: LogLevel) {
  const { rest } = usePlatform()
  return useInfiniteQuery({
    queryKey: [...keys.robots, 'logs', id, level],
    queryFn: async ({ pageParam: before }) => {
      const query = { level, limit: PAGE_SIZE, ...(before !== undefined && { before }) }
      return (await answerOf(rest.GET('/api/client/robots/{id}/logs', { params: { path: { id }, query } })))
        .logs
    },
    initialPageParam: undefined as number | undefined,
    getNextPageParam: (page) => (page.length < PAGE_SIZE ? undefined : page.at(-1)?.seq),
    select: ({ pages }) => pages.flat(),
    refetchInterval: POLL_INTERVAL_MS,
  })
}

const choices: { value: LogLevel; label: string }[] = [
  { value: 'debug', label: t('robots.logs.all') },
  { value: 'info', label: t('robots.logs.info') },
  { value: 'warn', label: t('robots.logs.warnings') },
  { value: 'error', label: t('robots.logs.errors') },
]

/** Shows the log of a robot, newest line first. Polls for new lines. */
export function RobotLogs({ robotId }: { robotId: string }) {
  const [level, setLevel] = useState<LogLevel>('debug')
  const query = useRobotLogs(robotId, level)
  return (
    <Stack>
      <SegmentedControl
        data={choices}
        value={level}
        onChange={(value) => setLevel(value as LogLevel)}
        aria-label={t('robots.logs.minimumLevel')}
        size="xs"
      />
      <QueryView
        query={query}
        isEmpty={(lines) => lines.length === 0}
        empty={<Empty title={t(level === 'debug' ? 'robots.logs.emptyTitle' : 'robots.logs.noMatch')} />}
      >
        {(lines) => (
          <>
            <DataTable
              label={t('robots.logs.label')}
              minWidth={480}
              columns={[t('robots.logs.time'), t('robots.logs.level'), t('robots.logs.message')]}
            >
              {lines.map((line) => (
                <Table.Tr key={line.seq}>
                  <Table.Td style={{ whiteSpace: 'nowrap' }}>
                    <time dateTime={line.at}>{lineTime(line.at)}</time>
                  </Table.Td>
                  <Table.Td>
                    <LevelBadge level={line.level} />
                  </Table.Td>
                  <Table.Td>
                    <Text
                      size="sm"
                      fs={line.dropped > 0 ? 'italic' : 'normal'}
                      style={wrapped}
                      translate="no"
                    >
                      {line.message}
                    </Text>
                  </Table.Td>
                </Table.Tr>
              ))}
            </DataTable>
            <MoreButton query={query}>{t('robots.logs.older')}</MoreButton>
          </>
        )}
      </QueryView>
    </Stack>
  )
}

const wrapped = { overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' } as const
