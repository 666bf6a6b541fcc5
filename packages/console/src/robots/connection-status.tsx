import { Group, Loader, Text } from '@mantine/core'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { HeartbeatAge, RobotStatusBadge } from './robot-status.tsx'
import { type Robot, useLiveRobots, useRobot } from './use-robots.ts'

/** Shows whether the robot has connected. */
export function ConnectionStatus({ robot }: { robot: Robot }) {
  const withLiveStatus = useLiveRobots()
  const { status, last_heartbeat } = withLiveStatus(useRobot(robot.id).data ?? robot)
  const online = status !== 'OFFLINE'
  return (
    <Group component="section" aria-label={t('robots.connect.statusLabel')} mih={40}>
      <Group role="status" gap="xs">
        {online ? <RobotStatusBadge status={status} /> : <Loader size="sm" aria-hidden />}
        <Text>
          {t(online ? 'robots.connect.connected' : 'robots.connect.waiting', { robot: robot.name })}
        </Text>
      </Group>
      {last_heartbeat && (
        <Text c="dimmed" size="sm">
          {textParts('robots.connect.lastHeartbeat', { age: <HeartbeatAge at={last_heartbeat} /> })}
        </Text>
      )}
    </Group>
  )
}
