import { Button, Text } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { dateTime, timeOfDay } from '../base/format.ts'
import { Problem } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useMe } from '../platform/platform.ts'
import { reasonText } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { actorName } from './event-texts.ts'
import type { SessionDetail } from './session-query.ts'
import { useSessionAction } from './session-query.ts'

const DAY_MS = 86_400_000

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
  return t('session.clearStop.stopped', {
    actor: actorName(stop.by, participants),
    time: Date.now() - Date.parse(stop.at) < DAY_MS ? timeOfDay(new Date(stop.at)) : dateTime(stop.at),
    reason: reasonText(stop.reason),
  })
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
        {t('session.clearStop.ask')}
      </Button>
      {askedAt && (
        <Text size="sm" role="status">
          {textParts('session.clearStop.requested', { time: <Time at={askedAt} /> })}
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
      question={t('session.clearStop.question')}
      consequence={t('session.clearStop.consequence', { stop: stopText })}
      confirmLabel={t('session.clearStop.button')}
      confirmColor="blue"
      dismissLabel={t('session.clearStop.keep')}
      onConfirm={() => sessionAction.mutateAsync('clear_stop')}
    >
      {t('session.clearStop.button')}
    </ConfirmButton>
  )
}
