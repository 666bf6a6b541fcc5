import { Alert, Button, Group, Text } from '@mantine/core'
import { t } from '../../texts/texts.ts'
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
          {t('operator.preFlight.start')}
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
    return { title: t('operator.obstacle.openSession'), advice: t('operator.obstacle.openSessionAdvice') }
  if (!robot.may_drive)
    return {
      title: t('operator.obstacle.notCertified'),
      advice:
        robot.certification.status === 'PENDING'
          ? t('operator.obstacle.pendingAdvice', { type: robot.robot_type })
          : t('operator.obstacle.notCertifiedAdvice', { type: robot.robot_type }),
    }
  if (robot.on_hold)
    return { title: t('operator.obstacle.onHold'), advice: t('operator.obstacle.onHoldAdvice') }
  if (robot.status === 'OFFLINE')
    return { title: t('operator.obstacle.offline'), advice: t('operator.obstacle.offlineAdvice') }
  if (robot.status === 'IN_SESSION')
    return {
      title: t('operator.obstacle.inSession'),
      advice: t('operator.obstacle.inSessionAdvice'),
    }
  return undefined
}

function NextStep({ robot, openSessionId }: { robot: PreFlight; openSessionId: string | undefined }) {
  if (openSessionId !== undefined)
    return (
      <LinkButton to="/drive/$sessionId" params={{ sessionId: openSessionId }} size="xs">
        {t('operator.preFlight.continue')}
      </LinkButton>
    )
  if (robot.may_drive) return null
  return (
    <LinkButton to="/certifications" variant="default" size="xs">
      {t('operator.preFlight.certifications')}
    </LinkButton>
  )
}
