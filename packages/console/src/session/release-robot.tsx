import { ConfirmButton } from '../ui/confirm-button.tsx'
import { useSessionAction } from './session-roles.ts'

/** Ends a session on behalf of the owner, after a confirmation, so that the robot becomes available. */
export function ReleaseRobot(props: { sessionId: string; robotName: string; children: string }) {
  const sessionAction = useSessionAction(props.sessionId)
  return (
    <ConfirmButton
      variant="default"
      question={`Release ${props.robotName}?`}
      consequence="This ends the session. The robot stops and becomes available. The charge is final. You cannot undo this."
      confirmLabel="End session"
      onConfirm={() => sessionAction.mutateAsync('end')}
    >
      {props.children}
    </ConfirmButton>
  )
}
