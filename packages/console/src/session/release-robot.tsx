import { t } from '../texts/texts.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { useSessionAction } from './session-roles.ts'

/** Ends a session on behalf of the owner, after a confirmation, so that the robot becomes available. */
export function ReleaseRobot(props: {
  sessionId: string
  robotName: string
  className?: string | undefined
  children: string
}) {
  const sessionAction = useSessionAction(props.sessionId)
  return (
    <ConfirmButton
      variant="default"
      className={props.className}
      question={t('session.release.question', { robot: props.robotName })}
      consequence={t('session.release.consequence')}
      confirmLabel={t('session.release.confirm')}
      onConfirm={() => sessionAction.mutateAsync('end')}
    >
      {props.children}
    </ConfirmButton>
  )
}
