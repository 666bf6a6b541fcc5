import { Button, Group, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { messageOf } from '../base/message-of.ts'
import { Problem } from '../base/states.tsx'
import { useMe } from '../platform/platform.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { t } from '../texts/texts.ts'
import { nextStep, StopClearing } from './clear-stop.tsx'
import { isOpen, type SessionDetail, useSession, useSessionAction, useSessionRoles } from './session-query.ts'

interface Props {
  readonly live: LiveSession
  /** Whether the page shows the stop and its clearing in another place. */
  readonly isStopElsewhere?: boolean
}

export function SessionActions(props: Props) {
  const { data: session } = useSession(props.live.room.sessionId)
  return session ? <Actions {...props} session={session} /> : null
}

function Actions({ live, session, isStopElsewhere = false }: Props & { session: SessionDetail }) {
  const me = useMe()
  const sessionAction = useSessionAction(session.id)
  const { operator: isOperator, manages } = useSessionRoles(session)
  const status = live.session?.status ?? session.status
  const isParticipant = isOperator || manages
  if (status === 'PENDING')
    return isParticipant && <ScheduledActions session={session} mayStart={isOperator} />
  if (!isOpen(status) || !(isParticipant || me.roles.includes('admin'))) return null
  const { stop, connected } = session.control
  const paused = status === 'PAUSED'
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
        {paused && isOperator && (
          <Button
            disabled={stop !== null || !connected}
            loading={sessionAction.isPending}
            onClick={() => sessionAction.mutate('resume')}
          >
            {t('session.actions.resume')}
          </Button>
        )}
        <ConfirmButton
          question={t('session.actions.endQuestion')}
          consequence={t('session.actions.endConsequence')}
          confirmLabel={t('session.actions.endConfirm')}
          onConfirm={() => sessionAction.mutateAsync('end')}
        >
          {t('session.actions.end')}
        </ConfirmButton>
      </Group>
      {paused && !(stop && isStopElsewhere) && <Text size="sm">{nextStep(isOperator, stop, connected)}</Text>}
      <Problem error={sessionAction.error} />
    </Stack>
  )
}

/** Starts or cancels a scheduled session. A row of a list has no room for an error, so that it appears as a notification. */
export function ScheduledActions(props: {
  session: { readonly id: string; readonly robot_name: string }
  mayStart: boolean
  size?: 'compact-xs' | 'xs' | 'sm'
}) {
  const { session, mayStart, size = 'sm' } = props
  const { id, robot_name: robot } = session
  const action = useSessionAction(id)
  const onError = (error: unknown) =>
    notifications.show({
      color: 'red',
      title: t('session.row.notStarted', { robot }),
      message: messageOf(error),
    })
  return (
    <Group gap="xs" wrap="nowrap">
      {mayStart && (
        <Button
          size={size}
          loading={action.isPending}
          onClick={() => action.mutate('start', { onError })}
          aria-label={t('session.actions.startLabel', { robot })}
        >
          {t('session.actions.start')}
        </Button>
      )}
      <ConfirmButton
        size={size}
        question={t('session.actions.cancelQuestion')}
        consequence={t('session.actions.cancelConsequence')}
        confirmLabel={t('session.actions.cancelConfirm')}
        dismissLabel={t('session.actions.cancelKeep')}
        onConfirm={() => action.mutateAsync('cancel')}
        aria-label={t('session.actions.cancelLabel', { robot })}
      >
        {t('session.actions.cancel')}
      </ConfirmButton>
    </Group>
  )
}
