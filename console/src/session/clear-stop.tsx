import { reasonText } from '@wheelhouse/protocol'
import { useMe } from '../auth/me.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { dateTime } from '../ui/format.ts'
import { actorName } from './event-texts.ts'
import type { SessionDetail } from './session-query.ts'
import { useAct } from './session-side.ts'

/** What a stop that is in force says of itself. */
export function useStopText({
  control: { stop },
  operator_id,
  operator_name,
  client_id,
}: SessionDetail): string {
  const me = useMe()
  if (!stop) return ''
  const cast = { meId: me.id, operatorId: operator_id, operatorName: operator_name, clientId: client_id }
  return `${actorName(stop.by, cast)} pressed stop, ${dateTime(stop.at)}: ${reasonText(stop.reason)}.`
}

/** Takes the stop away, after it was read. The session stays paused. */
export function ClearStop({ session }: { session: SessionDetail }) {
  const act = useAct(session.id)
  const told = useStopText(session)
  return (
    <ConfirmButton
      variant="default"
      question="Clear the stop?"
      consequence={`${told} Look at the robot before you clear it. The session stays paused until its operator resumes it.`}
      act="Clear the stop"
      onConfirm={() => act.mutateAsync('clear_stop')}
    >
      Clear the stop
    </ConfirmButton>
  )
}
