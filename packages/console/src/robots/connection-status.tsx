import { Group, Loader, Text } from '@mantine/core'
import { HeartbeatAge, RobotStatusBadge } from './robot-status.tsx'
import { type Robot, useLiveRobots, useRobot } from './use-robots.ts'

/** Shows whether the robot has connected. */
export function ConnectionStatus({ robot }: { robot: Robot }) {
  const withLiveStatus = useLiveRobots()
  const { status, last_heartbeat } = withLiveStatus(useRobot(robot.id).data ?? robot)
  const online = status !== 'OFFLINE'
  return (
    <Group component="section" aria-label="Robot connection" mih={40}>
      <Group role="status" gap="xs">
        {online ? <RobotStatusBadge status={status} /> : <Loader size="sm" aria-hidden />}
        <Text>{online ? `${robot.name} is connected` : `Waiting for ${robot.name} to connect…`}</Text>
      </Group>
      {last_heartbeat && (
        <Text c="dimmed" size="sm">
          Last heartbeat <HeartbeatAge at={last_heartbeat} />
        </Text>
      )}
    </Group>
  )
}
