import { Group, Text } from '@mantine/core'
import type { RobotState } from '@wheelhouse/protocol'
import type { LiveRobot } from '../../live/live-robots.tsx'
import { RobotStateBadge } from '../../live/live-robots.tsx'
import { percent } from '../../texts/percent.ts'
import { t } from '../../texts/texts.ts'
import { LinkButton } from '../../ui/links.tsx'
import { type RobotDetail, useLiveRobots } from '../use-robots.ts'

/** Shows state, battery and operator of a robot, with a link to its open session. */
export function RobotHeader({ robot, live }: { robot: RobotDetail; live: LiveRobot | null | undefined }) {
  const state = useRobotState(robot, live)
  const session = live?.session
  return (
    <Group gap="sm">
      {state && <RobotStateBadge state={state} />}
      <Text data-testid="battery">
        {robot.battery === null
          ? t('robots.header.batteryUnknown')
          : t('robots.header.battery', { charge: percent(robot.battery) })}
      </Text>
      {session && (
        <>
          <Text>{session.operator_name}</Text>
          <LinkButton to="/sessions/$sessionId" params={{ sessionId: session.id }}>
            {t('robots.header.watch')}
          </LinkButton>
          <LinkButton to="/watch/$sessionId" params={{ sessionId: session.id }} variant="default">
            {t('robots.header.fullView')}
          </LinkButton>
        </>
      )}
    </Group>
  )
}

/**
 * Returns the state of a robot, undefined until it is known. Its status, which arrives over the hub, is newer than the list
 * of live robots, but does not distinguish the states in a session.
 */
function useRobotState(robot: RobotDetail, live: LiveRobot | null | undefined): RobotState | undefined {
  const { status } = useLiveRobots()(robot)
  if (status === 'OFFLINE') return 'OFFLINE'
  if (status === 'AVAILABLE') return 'READY'
  return live?.session ? live.state : undefined
}
