import { SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { DataTable } from '../ui/data-table.tsx'
import { MoreButton } from '../ui/more-button.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { LevelBadge, lineTime } from './log-line.tsx'
import { type LogLevel, useRobotLogs } from './use-robot-logs.ts'

const choices: { value: LogLevel; label: string }[] = [
  { value: 'debug', label: 'All' },
  { value: 'info', label: 'Info' },
  { value: 'warn', label: 'Warnings' },
  { value: 'error', label: 'Errors' },
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
        aria-label="Minimum level"
        size="xs"
      />
      <QueryView
        query={query}
        isEmpty={(lines) => lines.length === 0}
        empty={<Empty title={level === 'debug' ? 'No recent log lines' : 'No matching log lines'} />}
      >
        {(lines) => (
          <>
            <DataTable label="Robot log" minWidth={480} columns={['Time', 'Level', 'Message']}>
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
            <MoreButton query={query}>Older lines</MoreButton>
          </>
        )}
      </QueryView>
    </Stack>
  )
}

const wrapped = { overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' } as const
