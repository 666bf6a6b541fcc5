import { Button, Group, Text, TextInput } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { type FormEvent, useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { dateTime, timeOfDay } from '../base/format.ts'
import { Problem } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useMe } from '../platform/platform.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { Shape } from '../status/shapes.tsx'
import { reasonText } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { actorName, participantsOf } from './event-texts.ts'
import styles from './session-page.module.css'
import { type SessionDetail, useSessionAction } from './session-query.ts'

const DAY_MS = 86_400_000

/** Returns a description of the stop in force, or an empty string. */
export function useStopText(session: SessionDetail): string {
  const me = useMe()
  const { stop } = session.control
  if (!stop) return ''
  return t('session.clearStop.stopped', {
    actor: actorName(stop.by, participantsOf(session, me.id)),
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

/** Returns what a paused session needs to resume. */
export function nextStep(
  isOperator: boolean,
  stop: SessionDetail['control']['stop'],
  connected: boolean,
): string {
  if (stop && !stop.may_clear) return t('session.nextStep.askOwner')
  if (stop?.clear_requested_at && !isOperator) return t('session.nextStep.asked')
  if (stop) return t('session.nextStep.clear')
  if (!connected) return t('session.nextStep.robotOffline')
  return isOperator ? t('session.nextStep.resume') : t('session.nextStep.waiting')
}

/** What a stop is mostly for. The user of the page says it after the stop, which waits for nothing. */
const reasons: readonly string[] = [
  t('session.stopPlate.person'),
  t('session.stopPlate.obstacle'),
  t('session.stopPlate.strange'),
  t('session.stopPlate.connection'),
]

/** Says that a stop is in force: who, when and why, what comes next, and its clearing. Who stopped says why. */
export function StopPlate({ session, live }: { session: SessionDetail; live: LiveSession }) {
  const text = useStopText(session)
  const meId = useMe().id
  const { stop, connected } = session.control
  const said = stop && reasonSaid(live.events, stop)
  return (
    <section className={styles.stopPlate} aria-label={t('session.stopPlate.label')} data-testid="stop-plate">
      <Shape name="stopped" />
      <div>
        <Text fw={600}>{text || t('session.live.stopInForce')}</Text>
        {said && <Text>{said}</Text>}
        {stop && <Text size="sm">{nextStep(session.operator_id === meId, stop, connected)}</Text>}
        {stop?.by === meId && !said && <Reasons onSay={(reason) => live.room.send(reason)} />}
      </div>
      <Group gap="xs">{stop && <StopClearing session={session} />}</Group>
    </section>
  )
}

/** Returns what the user who stopped wrote next: the reason, in the words of the chat. */
function reasonSaid(events: readonly SessionLogEvent[], { by, at }: { by: string | null; at: string }) {
  const message = events.find(
    ({ type, at: saidAt, data }) => type === 'chat.message' && data.sender_id === by && saidAt > at,
  )
  const { sender_name: sender, body } = message?.data ?? {}
  return message && t('session.events.message', { sender: String(sender), message: String(body) })
}

/** Sends the reason as a message: the stop keeps the words that it was recorded with. */
function Reasons({ onSay }: { onSay: (message: string) => void }) {
  const [own, setOwn] = useState('')
  const say = (reason: string) => onSay(t('session.stopPlate.message', { reason }))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (own.trim() !== '') say(own.trim())
  }
  return (
    <Group component="form" className={styles.reasons} gap="xs" mt="xs" onSubmit={submit}>
      <Text size="sm">{t('session.stopPlate.why')}</Text>
      {reasons.map((reason) => (
        <Button key={reason} size="xs" variant="default" onClick={() => say(reason)}>
          {reason}
        </Button>
      ))}
      <TextInput
        size="xs"
        w={180}
        maxLength={500}
        aria-label={t('session.stopPlate.own')}
        placeholder={t('session.stopPlate.own')}
        value={own}
        onChange={({ currentTarget: { value } }) => setOwn(value)}
      />
    </Group>
  )
}
