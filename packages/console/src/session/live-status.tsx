import { Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { DescriptionItem, DescriptionList } from '../base/data-table.tsx'
import { clockText, money } from '../base/format.ts'
import { Note } from '../base/states.tsx'
import { useNow } from '../base/time.tsx'
import type { LiveSession } from '../platform/use-live.ts'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { StateLabel } from '../status/state-label.tsx'
import { reasonText, robotStateTexts, speedLimitText } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { language, t } from '../texts/texts.ts'
import type { ObserverState } from './observer-connection.ts'
import type { SessionDetail } from './session-query.ts'
import { amountOf, statusSince, useBillableSeconds } from './session-time.ts'

export interface LiveStatusProps {
  readonly session: SessionDetail
  readonly live: LiveSession
  readonly observerState: ObserverState | undefined
  /** Whether nothing has arrived from the gateway for a second: the state of the robot is only the last known one. */
  readonly isOutdated: boolean
}

export function SessionStatusLine(props: LiveStatusProps & { children: ReactNode }) {
  const { session, live, observerState, isOutdated, children } = props
  const nowMs = useNow()
  const status = live.session?.status ?? session.status
  const sinceMs = statusSince(live.events, status)
  const reason = status === 'PAUSED' ? pauseText(session) : ''
  const online = observerState?.connection === 'online'
  const connected = online ? observerState.drive?.robot_connected === true : session.control.connected
  return (
    <Group component="section" aria-label={t('session.status.label')} gap="xs">
      {children}
      {session.control.stop ? (
        <StateLabel shape={isOutdated ? 'off' : 'stopped'} state="STOPPED">
          {robotStateTexts.STOPPED}
        </StateLabel>
      ) : (
        <SessionStatusLabel status={status} isOutdated={isOutdated} />
      )}
      <Text size="sm" span>
        {sinceText(sinceMs === undefined ? undefined : nowMs - sinceMs, reason)}
      </Text>
      <StateLabel shape={online && !isOutdated ? (connected ? 'live' : 'blind') : 'off'}>
        {connected ? t('session.status.robotConnected') : t('session.status.robotOffline')}
      </StateLabel>
      {observerState && (!online || isOutdated) && <Note span>{t('session.status.lastKnown')}</Note>}
    </Group>
  )
}

/** Returns how long the session has its status, and why, as far as both are known. */
function sinceText(elapsedMs: number | undefined, reason: string): string {
  if (elapsedMs === undefined) return reason
  const time = clockText(elapsedMs / 1_000)
  return reason === ''
    ? t('session.status.since', { time })
    : t('session.status.sinceBecause', { time, reason })
}

/** Returns why a session is paused now. A stop that was requested during a pause is what keeps it paused. */
function pauseText({ control: { stop, operator_gone_since }, pause_reason }: SessionDetail): string {
  if (stop) return reasonText(stop.reason)
  const wasGone = pause_reason === 'operator_lost' || pause_reason === 'operator_absent'
  return wasGone && operator_gone_since === null ? t('session.status.operatorBack') : reasonText(pause_reason)
}

const milliseconds = new Intl.NumberFormat(language, {
  style: 'unit',
  unit: 'millisecond',
  maximumFractionDigits: 0,
})

const ms = (value: number | null | undefined) =>
  value == null ? t('session.status.unknown') : milliseconds.format(value)

export function LiveStatus(props: LiveStatusProps & { readonly fetchedAtMs: number }) {
  const { session, live, observerState, isOutdated, fetchedAtMs } = props
  const status = live.session?.status ?? session.status
  const seconds = useBillableSeconds({ session, status, fetchedAtMs, isSilent: isOutdated })
  const amount = amountOf(session, seconds)
  const online = observerState?.connection === 'online' ? observerState : undefined
  const speedLimit = online?.limits && speedLimitText(online.limits)
  // A figure that is older than a second is struck through.
  const figure = (text: string) =>
    isOutdated ? (
      <Text c="dimmed" component="s">
        {text}
      </Text>
    ) : (
      text
    )
  return (
    <DescriptionList cols={{ base: 1, xs: 2 }}>
      {session.own_operator && (
        <DescriptionItem label={t('session.status.cost')}>{t('session.summary.ownOperator')}</DescriptionItem>
      )}
      {amount && (
        <DescriptionItem label={amount.isEarned ? t('drive.time.earned') : t('session.status.cost')}>
          {figure(t('session.status.about', { amount: money(amount.cents) }))}
          <Note>
            {t('session.status.startedMinutes', { count: amount.minutes, rate: money(amount.rate) })}
          </Note>
        </DescriptionItem>
      )}
      {online && (
        <DescriptionItem label={t('session.status.latency')}>
          {figure(
            t('session.status.latencies', {
              you: ms(online.roundTripMs),
              operator: ms(online.driveLatency?.operator_ms),
              robot: ms(online.driveLatency?.robot_ms),
            }),
          )}
        </DescriptionItem>
      )}
      {speedLimit && (
        <DescriptionItem label={t('session.status.latencyBudget')}>{figure(speedLimit)}</DescriptionItem>
      )}
      {observerState?.battery && (
        <DescriptionItem label={t('session.status.battery')}>
          {figure(percent(observerState.battery.battery))}
        </DescriptionItem>
      )}
    </DescriptionList>
  )
}
