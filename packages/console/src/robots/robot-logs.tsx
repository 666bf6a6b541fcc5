import { SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { t } from '../texts/texts.ts'
import { DataTable } from '../ui/data-table.tsx'
import { MoreButton } from '../ui/more-button.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { LevelBadge, lineTime } from './log-line.tsx'
import { type LogLevel, useRobotLogs } from './use-robot-logs.ts'

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
