import { Button, Group, Text, TextInput } from '@mantine/core'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { type FormEvent, useState } from 'react'
import { useMe } from '../platform/platform.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { Shape } from '../status/shapes.tsx'
import { t } from '../texts/texts.ts'
import { StopClearing, useStopText } from './clear-stop.tsx'
import { nextStep } from './session-actions.tsx'
import styles from './session-page.module.css'
import { type SessionDetail, useSessionRoles } from './session-query.ts'

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
  const { operator } = useSessionRoles(session)
  const meId = useMe().id
  const { stop, connected } = session.control
  const said = stop && reasonSaid(live.events, stop)
  return (
    <section className={styles.stopPlate} aria-label={t('session.stopPlate.label')} data-testid="stop-plate">
      <Shape name="stopped" />
      <div>
        <Text fw={600}>{text || t('session.live.stopInForce')}</Text>
        {said && <Text>{said}</Text>}
        {stop && <Text size="sm">{nextStep(operator, stop, connected)}</Text>}
        {stop?.by === meId && !said && <Reasons onSay={(reason) => live.room.send(reason)} />}
      </div>
      <Group gap="xs">{stop && <StopClearing session={session} />}</Group>
    </section>
  )
}

/** Returns what the user who stopped wrote next: the reason, in the words of the chat. */
function reasonSaid(
  events: readonly SessionLogEvent[],
  { by, at }: { by: string | null; at: string },
): string | undefined {
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
    <form className={styles.reasons} onSubmit={submit}>
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
    </form>
  )
}
