import { Button, Group } from '@mantine/core'
import { useSessionAction } from '../session/session-roles.ts'
import { t } from '../texts/texts.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Problem } from '../ui/states.tsx'
import type { OpenSession } from './overview-query.ts'

/** Pauses or ends a session as an admin. The audit log records both actions. */
export function SessionButtons({ session }: { session: OpenSession }) {
  const sessionAction = useSessionAction(session.id)
  const robot = session.robot_name
  return (
    <>
      <Group gap="xs" grow>
        {session.status === 'ACTIVE' && (
          <Button
            variant="default"
            loading={sessionAction.isPending}
            onClick={() => sessionAction.mutate('pause')}
            aria-label={t('admin.sessionActions.pauseLabel', { robot })}
          >
            {t('admin.sessionActions.pause')}
          </Button>
        )}
        <ConfirmButton
          variant="default"
          question={t('admin.sessionActions.endQuestion', { robot })}
          consequence={t('admin.sessionActions.endConsequence')}
          confirmLabel={t('admin.sessionActions.endSession')}
          onConfirm={() => sessionAction.mutateAsync('end')}
          aria-label={t('admin.sessionActions.endLabel', { robot })}
        >
          {t('admin.sessionActions.end')}
        </ConfirmButton>
      </Group>
      <Problem error={sessionAction.variables === 'pause' ? sessionAction.error : undefined} />
    </>
  )
}
