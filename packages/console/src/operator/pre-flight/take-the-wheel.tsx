import { Alert, Button, Group, Text } from '@mantine/core'
import { LinkButton } from '../../ui/links.tsx'
import { Problem } from '../../ui/states.tsx'
import { useAvailability } from '../queries.ts'
import { useStartNow } from '../use-start.ts'
import type { PreFlight } from './use-pre-flight.ts'

/** Starts a session and opens its cockpit, or says why the robot cannot be driven now. */
export function TakeTheWheel({ robot }: { robot: PreFlight }) {
  const openSessionId = useAvailability().data?.open_session_id ?? undefined
  const start = useStartNow()
  const obstacle = obstacleOf(robot, openSessionId)
  return (
    <>
      <Problem error={start.error} />
      {obstacle && (
        <Alert variant="outline" title={obstacle.title}>
          <Group justify="space-between">
            <Text size="sm">{obstacle.advice}</Text>
            <NextStep robot={robot} openSessionId={openSessionId} />
          </Group>
        </Alert>
      )}
      <Group>
        <Button
          size="lg"
          disabled={obstacle !== undefined}
          loading={start.isPending}
          onClick={() => start.mutate(robot.id)}
        >
          Take the wheel
        </Button>
      </Group>
    </>
  )
}

interface Obstacle {
  readonly title: string
  readonly advice: string
}

/** Returns why the operator cannot drive the robot now. */
function obstacleOf(robot: PreFlight, openSessionId: string | undefined): Obstacle | undefined {
  if (openSessionId !== undefined)
    return { title: 'You have an open session', advice: 'End your current session first.' }
  if (!robot.may_drive)
    return {
      title: 'Certification required',
      advice:
        robot.certification.status === 'PENDING'
          ? `Your certification for ${robot.robot_type} waits for a decision.`
          : `Only operators with a certification for ${robot.robot_type} may drive this robot.`,
    }
  if (robot.on_hold)
    return { title: 'The robot is on hold', advice: 'Its owner has to release it before the next session.' }
  if (robot.status === 'OFFLINE')
    return { title: 'The robot is offline', advice: 'You can drive it when it is connected.' }
  if (robot.status === 'IN_SESSION')
    return {
      title: 'The robot is in a session',
      advice: 'You can drive it when the session has ended.',
    }
  return undefined
}

function NextStep({ robot, openSessionId }: { robot: PreFlight; openSessionId: string | undefined }) {
  if (openSessionId !== undefined)
    return (
      <LinkButton to="/drive/$sessionId" params={{ sessionId: openSessionId }} size="xs">
        Continue driving
      </LinkButton>
    )
  if (robot.may_drive) return null
  return (
    <LinkButton to="/certifications" variant="default" size="xs">
      View certifications
    </LinkButton>
  )
}
