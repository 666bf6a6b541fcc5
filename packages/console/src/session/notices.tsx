import { Button, Group, Text } from '@mantine/core'
import type { SessionLogEvent } from '@wheelhouse/protocol'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { clockText } from '../base/format.ts'
import { Warning } from '../base/states.tsx'
import { useNow } from '../base/time.tsx'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import type { ObserverConnection, ObserverState } from './observer-connection.ts'
import { type SessionDetail, useSessionAction, useSessionRoles } from './session-query.ts'

/** Shows that the operator of a paused session is gone, when the session ends, and lets the owner release the robot. */
export function AbandonedNotice({ session }: { session: SessionDetail }) {
  const { manages } = useSessionRoles(session)
  if (session.status !== 'PAUSED' || session.control.operator_gone_since === null) return null
  return (
    <Warning title={t('session.abandoned.title')} data-testid="abandoned">
      <Group justify="space-between">
        <Text size="sm" maw={640}>
          {session.ends_at === null ? t('session.abandoned.text') : <Countdown endsAt={session.ends_at} />}
        </Text>
        {manages && (
          <ReleaseRobot sessionId={session.id} robotName={session.robot_name}>
            {t('session.abandoned.release')}
          </ReleaseRobot>
        )}
      </Group>
    </Warning>
  )
}

/** Shows when the session of an operator who is gone ends. */
export function Countdown({ endsAt }: { endsAt: string }) {
  const seconds = Math.max(0, Math.ceil((Date.parse(endsAt) - useNow()) / 1_000))
  return textParts('session.abandoned.countdown', {
    time: (
      <span role="timer" data-testid="countdown">
        {clockText(seconds)}
      </span>
    ),
  })
}

/** Shows a notice while the live data from the gateway is outdated. */
export function ConnectionProblem(props: {
  observerConnection: ObserverConnection | undefined
  observerState: ObserverState | undefined
}) {
  const { observerConnection, observerState } = props
  if (observerState === undefined || observerState.connection === 'online') return null
  const ended = observerState.connection === 'ended'
  return (
    <Warning title={ended ? t('session.live.endedTitle') : t('session.live.connectingTitle')}>
      <Text size="sm">{ended ? observerState.problem : t('session.live.connectingText')}</Text>
      {ended && (
        <Button mt="xs" variant="default" size="xs" onClick={() => observerConnection?.reconnect()}>
          {t('session.live.reconnect')}
        </Button>
      )}
    </Warning>
  )
}

/** Ends a session on behalf of the owner, after a confirmation, so that the robot becomes available. */
export function ReleaseRobot(props: { sessionId: string; robotName: string; children: string }) {
  const sessionAction = useSessionAction(props.sessionId)
  return (
    <ConfirmButton
      variant="default"
      question={t('session.release.question', { robot: props.robotName })}
      consequence={t('session.release.consequence')}
      confirmLabel={t('session.release.confirm')}
      onConfirm={() => sessionAction.mutateAsync('end')}
    >
      {props.children}
    </ConfirmButton>
  )
}

/** Returns when a session ends because its robot is lost, in Unix milliseconds; undefined while that is not announced. */
export function lostUntil(events: readonly SessionLogEvent[]): number | undefined {
  const newest = events.findLast(({ type }) => type === 'robot.lost' || type === 'robot.back')
  const { ends_at: endsAt } = newest?.data ?? {}
  const endsAtMs = typeof endsAt === 'string' ? Date.parse(endsAt) : Number.NaN
  return Number.isNaN(endsAtMs) ? undefined : endsAtMs
}
