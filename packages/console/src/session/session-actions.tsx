import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { Problem } from '../base/states.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { t } from '../texts/texts.ts'
import { StopClearing } from './clear-stop.tsx'
import {
  isOpen,
  type SessionDetail,
  sessionQuery,
  useSessionAction,
  useSessionRoles,
} from './session-query.ts'

interface Props {
  readonly live: LiveSession
  /** Whether the page shows the stop and its clearing in another place. */
  readonly isStopElsewhere?: boolean
}

/** Shows the actions that the user may perform on a session. */
export function SessionActions({ live, isStopElsewhere = false }: Props) {
  const { rest } = usePlatform()
  const { data } = useQuery(sessionQuery(rest, live.room.sessionId))
  if (!data) return null
  const session = { ...data, status: live.session?.status ?? data.status }
  return <Actions session={session} isStopElsewhere={isStopElsewhere} />
}

function Actions({ session, isStopElsewhere }: { session: SessionDetail; isStopElsewhere: boolean }) {
  const sessionRoles = useSessionRoles(session)
  const sessionAction = useSessionAction(session.id)
  const isAdmin = useMe().roles.includes('admin')
  if (!sessionRoles.operator && !sessionRoles.client && !isAdmin) return null
  const isParticipant = sessionRoles.operator || sessionRoles.client
  if (session.status === 'PENDING' && !isParticipant) return null
  if (session.status === 'PENDING')
    return <ScheduledActions session={session} mayStart={sessionRoles.operator} />
  if (!isOpen(session.status)) return null
  const { stop, connected } = session.control
  const paused = session.status === 'PAUSED'
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {!paused && (
          <Button
            variant="default"
            loading={sessionAction.isPending}
            onClick={() => sessionAction.mutate('pause')}
          >
            {t('session.actions.pause')}
          </Button>
        )}
        {stop && !isStopElsewhere && <StopClearing session={session} />}
        {paused && sessionRoles.operator && (
          <Button
            disabled={stop !== null || !connected}
            loading={sessionAction.isPending}
            onClick={() => sessionAction.mutate('resume')}
          >
            {t('session.actions.resume')}
          </Button>
        )}
        <ConfirmButton
          variant="default"
          question={t('session.actions.endQuestion')}
          consequence={t('session.actions.endConsequence')}
          confirmLabel={t('session.actions.endConfirm')}
          onConfirm={() => sessionAction.mutateAsync('end')}
        >
          {t('session.actions.end')}
        </ConfirmButton>
      </Group>
      {paused && !(stop && isStopElsewhere) && (
        <Text size="sm">{nextStep(sessionRoles.operator, stop, connected)}</Text>
      )}
      <Problem error={sessionAction.error} />
    </Stack>
  )
}

/** Returns what a paused session needs to resume. */
export function nextStep(
  isOperator: boolean,
  stop: SessionDetail['control']['stop'],
  connected: boolean,
): string {
  if (stop && !stop.may_clear) {
    return t('session.nextStep.askOwner')
  }
  if (stop?.may_clear && stop.clear_requested_at && !isOperator) {
    return t('session.nextStep.asked')
  }
  if (stop) return t('session.nextStep.clear')
  if (!connected) return t('session.nextStep.robotOffline')
  return isOperator ? t('session.nextStep.resume') : t('session.nextStep.waiting')
}

/** Starts or cancels a scheduled session. */
export function ScheduledActions(props: {
  session: { readonly id: string; readonly robot_name: string }
  mayStart: boolean
  size?: 'xs' | 'sm'
}) {
  const { session, mayStart, size = 'sm' } = props
  const sessionAction = useSessionAction(session.id)
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {mayStart && (
          <Button
            size={size}
            loading={sessionAction.isPending}
            onClick={() => sessionAction.mutate('start')}
            aria-label={t('session.actions.startLabel', { robot: session.robot_name })}
          >
            {t('session.actions.start')}
          </Button>
        )}
        <ConfirmButton
          size={size}
          variant="default"
          question={t('session.actions.cancelQuestion')}
          consequence={t('session.actions.cancelConsequence')}
          confirmLabel={t('session.actions.cancelConfirm')}
          dismissLabel={t('session.actions.cancelKeep')}
          onConfirm={() => sessionAction.mutateAsync('cancel')}
          aria-label={t('session.actions.cancelLabel', { robot: session.robot_name })}
        >
          {t('session.actions.cancel')}
        </ConfirmButton>
      </Group>
      <Problem error={sessionAction.variables === 'start' ? sessionAction.error : undefined} />
    </Stack>
  )
}
