import { Group, ScrollArea, Stack, Text } from '@mantine/core'
import { LevelBadge, lineTime } from '../robots/log-line.tsx'
import { t } from '../texts/texts.ts'
import type { ObserverState } from './observer-connection.ts'

/** Lists the robot's log lines since the page connected, newest first. */
export function RobotLogPanel({ observerState }: { observerState: ObserverState | undefined }) {
  const lines = observerState?.logs ?? []
  if (lines.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('session.robotLog.empty')}
      </Text>
    )
  }
  return (
    <ScrollArea.Autosize
      mah={240}
      viewportProps={{ tabIndex: 0, role: 'group', 'aria-label': t('session.robotLog.label') }}
    >
      <Stack gap={4} component="ol" m={0} p={0} style={{ listStyle: 'none' }}>
        {lines.map(({ number, level, message, at }) => (
          <Group component="li" key={number} gap="xs" wrap="nowrap" align="baseline">
            <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
              <time dateTime={new Date(at).toISOString()}>{lineTime(at)}</time>
            </Text>
            <LevelBadge level={level} />
            <Text size="sm" style={{ overflowWrap: 'anywhere' }} translate="no">
              {message}
            </Text>
          </Group>
        ))}
      </Stack>
    </ScrollArea.Autosize>
  )
}
