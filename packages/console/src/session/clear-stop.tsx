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

/** What a stop that is in force says of itself. */
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
  return `${actorName(stop.by, participants)} pressed stop, ${dateTime(stop.at)}: ${reasonText(stop.reason)}.`
}

/** Clears the stop, or asks those who may to clear it. */
export const StopClearing = ({ session }: { session: SessionDetail }) =>
  session.control.stop?.may_clear === false ? (
    <AskToClear session={session} />
  ) : (
    <ClearStop session={session} />
  )

/** The stop is the owner's or an admin's: one button, or the key C, asks them to clear it. */
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
          You asked for it <Time at={askedAt} />.
        </Text>
      )}
      <Problem error={sessionAction.error} />
    </>
  )
}

/** Clears the stop, after it was read. The session stays paused. */
function ClearStop({ session }: { session: SessionDetail }) {
  const sessionAction = useSessionAction(session.id)
  const stopText = useStopText(session)
  const isClearRequested = session.control.stop?.clear_requested_at != null
  return (
    <ConfirmButton
      variant={isClearRequested ? 'filled' : 'default'}
      question="Clear the stop?"
      consequence={`${stopText} Look at the robot before you clear it. The session stays paused until its operator resumes it.`}
      confirmLabel="Clear the stop"
      onConfirm={() => sessionAction.mutateAsync('clear_stop')}
    >
      Clear the stop
    </ConfirmButton>
  )
}
