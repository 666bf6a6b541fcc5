import { Button, Text } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { reasonText } from '@wheelhouse/protocol'
import { useMe } from '../auth/me.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { dateTime } from '../ui/format.ts'
import { Problem } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { actorName } from './event-texts.ts'
import type { SessionDetail } from './session-query.ts'
import { useSessionAction } from './session-roles.ts'

/** Returns a description of the stop in force, or an empty string. */
export function useStopText({
  control: { stop },
  operator_id,
  operator_name,
  client_id,
}: SessionDetail): string {
  const me = useMe()
  if (!stop) return ''
  const participants = {
    meId: me.id,
    operatorId: operator_id,
    operatorName: operator_name,
    clientId: client_id,
  }
  return `${actorName(stop.by, participants)} stopped the robot, ${dateTime(stop.at)}: ${reasonText(stop.reason)}.`
}

/** Shows a button that clears the stop or, without permission, asks for that. */
export const StopClearing = ({ session }: { session: SessionDetail }) =>
  session.control.stop?.may_clear === false ? (
    <AskToClear session={session} />
  ) : (
    <ClearStop session={session} />
  )

/** Asks the owner or an admin to clear their stop, by button or with the key C. */
function AskToClear({ session }: { session: SessionDetail }) {
  const sessionAction = useSessionAction(session.id)
  const ask = () => sessionAction.mutate('request_clear_stop')
  useHotkeys([['c', ask]])
  const askedAt = session.control.stop?.clear_requested_at
  return (
    <>
      <Button loading={sessionAction.isPending} onClick={ask}>
        Ask to clear (C)
      </Button>
      {askedAt && (
        <Text size="sm" role="status">
          Requested <Time at={askedAt} />.
        </Text>
      )}
      <Problem error={sessionAction.error} />
    </>
  )
}

/** Clears the stop after a confirmation. The session stays paused. */
function ClearStop({ session }: { session: SessionDetail }) {
  const sessionAction = useSessionAction(session.id)
  const stopText = useStopText(session)
  const isClearRequested = session.control.stop?.clear_requested_at != null
  return (
    <ConfirmButton
      variant={isClearRequested ? 'filled' : 'default'}
      question="Clear the stop?"
      consequence={`${stopText} Check the robot before you clear the stop. The session stays paused until the operator resumes it.`}
      confirmLabel="Clear stop"
      dismissLabel="Keep stopped"
      onConfirm={() => sessionAction.mutateAsync('clear_stop')}
    >
      Clear stop
    </ConfirmButton>
  )
}
