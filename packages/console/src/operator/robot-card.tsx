import { Badge, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import type { RobotStatusEvent } from '@wheelhouse/protocol'
import { Time } from '../ui/time.tsx'
import { type AvailableRobot, useModelName } from './queries.ts'

const shownAs = {
  AVAILABLE: { label: 'Available', color: 'teal.9' },
  IN_SESSION: { label: 'In a session', color: 'orange.9' },
  OFFLINE: { label: 'Offline', color: 'gray.7' },
} as const

interface Props {
  readonly robot: AvailableRobot
  /** The last live status, undefined until the first one arrives. */
  readonly now: RobotStatusEvent | undefined
  /** Whether the operator has an open session. */
  readonly busy: boolean
  readonly starting: boolean
  readonly onStart: (robot: AvailableRobot) => void
  readonly onSchedule: (robot: AvailableRobot) => void
}

/** Shows one robot with buttons to drive it now or to schedule a session. */
export function RobotCard({ robot, now, busy, starting, onStart, onSchedule }: Props) {
  const model = useModelName(robot.robot_type)
  const status = now?.status ?? robot.status
  const lastHeartbeat = newer(now?.last_heartbeat, robot.last_heartbeat)
  const { label, color } = shownAs[status]
  const free = status === 'AVAILABLE' && !busy
  return (
    <Card withBorder component="li">
      <Stack gap="xs" h="100%" justify="space-between">
        <div>
          <Group justify="space-between" align="flex-start" wrap="nowrap">
            <Title order={2} style={{ overflowWrap: 'anywhere' }}>
              {robot.name}
            </Title>
            <Badge color={color} style={{ flexShrink: 0 }}>
              {label}
            </Badge>
          </Group>
          <Text>{model ? `${model} (${robot.robot_type})` : robot.robot_type}</Text>
          <Text size="sm" c="dimmed">
            Last heartbeat: {lastHeartbeat ? <Time at={lastHeartbeat} /> : 'none yet'}
          </Text>
          {robot.tags.length > 0 && (
            <Text size="sm" c="dimmed">
              {robot.tags.join(' · ')}
            </Text>
          )}
        </div>
        {busy && (
          <Text size="sm" c="dimmed">
            End your current session first.
          </Text>
        )}
        <Group>
          <Button
            aria-label={`Drive now: ${robot.name}`}
            disabled={!free}
            loading={starting}
            onClick={() => onStart(robot)}
          >
            Drive now
          </Button>
          <Button
            variant="default"
            aria-label={`Schedule a session with ${robot.name}`}
            disabled={!free}
            onClick={() => onSchedule(robot)}
          >
            Schedule
          </Button>
        </Group>
      </Stack>
    </Card>
  )
}

/** Returns the later of two ISO 8601 times. */
const newer = (a: string | null | undefined, b: string | null) => [a ?? '', b ?? ''].sort().at(-1)
