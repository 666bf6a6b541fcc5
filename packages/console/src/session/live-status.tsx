import { Group, Text } from '@mantine/core'
import type { SessionStatus } from '@wheelhouse/protocol'
import type { ReactNode } from 'react'
import { DescriptionItem, DescriptionList } from '../base/data-table.tsx'
import { clockText, money } from '../base/format.ts'
import { useNow } from '../base/time.tsx'
import type { LiveSession } from '../platform/use-live.ts'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { StateLabel } from '../status/state-label.tsx'
import { reasonText, robotStateTexts, speedLimitText } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { language, t } from '../texts/texts.ts'
import type { ObserverState } from './observer-connection.ts'
import type { SessionDetail } from './session-query.ts'
import { estimate, statusSince, useBillableSeconds } from './session-time.ts'

interface Props {
  readonly session: SessionDetail
  readonly live: LiveSession
  readonly observerState: ObserverState | undefined
  /** Whether nothing has arrived from the gateway for a second: the state of the robot is only the last known one. */
  readonly isOutdated: boolean
}

/** Shows session status, its duration and the robot connection in one line. */
export function SessionStatusLine({
  session,
  live,
  observerState,
  isOutdated,
  children,
}: Props & { readonly children?: ReactNode }) {
  const nowMs = useNow()
  const status = live.session?.status ?? session.status
  const sinceMs = statusSince(live.events, status)
  const reason = status === 'PAUSED' ? pauseText(session) : ''
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
      <RobotBadge session={session} observerState={observerState} isOutdated={isOutdated} />
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

function RobotBadge({ session, observerState, isOutdated }: Omit<Props, 'live'>) {
  const online = observerState?.connection === 'online'
  const connected = (online && observerState.drive?.robot_connected) || (!online && session.control.connected)
  return (
    <>
      <StateLabel shape={online && !isOutdated ? (connected ? 'live' : 'blind') : 'off'}>
        {connected ? t('session.status.robotConnected') : t('session.status.robotOffline')}
      </StateLabel>
      {observerState && (!online || isOutdated) && (
        <Text size="sm" c="dimmed" span>
          {t('session.status.lastKnown')}
        </Text>
      )}
    </>
  )
}

/** Shows the cost so far, latency and battery of an open session. */
export function LiveStatus({
  session,
  fetchedAtMs,
  live,
  observerState,
  isOutdated,
}: Props & { readonly fetchedAtMs: number }) {
  const status = live.session?.status ?? session.status
  return (
    <DescriptionList cols={{ base: 1, xs: 2 }}>
      <Cost session={session} status={status} fetchedAtMs={fetchedAtMs} isOutdated={isOutdated} />
      <Latency observerState={observerState} isOutdated={isOutdated} />
      <SpeedLimit observerState={observerState} isOutdated={isOutdated} />
      <Battery observerState={observerState} isOutdated={isOutdated} />
    </DescriptionList>
  )
}

function Cost(props: {
  session: SessionDetail
  status: SessionStatus
  fetchedAtMs: number
  isOutdated: boolean
}) {
  const { session, isOutdated } = props
  const seconds = useBillableSeconds({ ...props, isSilent: isOutdated })
  const { rate_cents_per_minute: rate } = session
  if (rate === null) return null
  const { minutes, cents } = estimate(seconds, rate)
  const share = 'operator_share_percent' in session ? (session.operator_share_percent ?? 0) : undefined
  const amount = money(share === undefined ? cents : Math.floor((cents * share) / 100))
  return (
    <DescriptionItem label={share === undefined ? t('session.status.cost') : t('drive.time.earned')}>
      <Figure isOutdated={isOutdated}>{t('session.status.about', { amount })}</Figure>
      <Text size="sm" c="dimmed">
        {t('session.status.startedMinutes', { count: minutes, rate: money(rate) })}
      </Text>
    </DescriptionItem>
  )
}

const milliseconds = new Intl.NumberFormat(language, {
  style: 'unit',
  unit: 'millisecond',
  maximumFractionDigits: 0,
})

const ms = (value: number | null | undefined) =>
  value == null ? t('session.status.unknown') : milliseconds.format(value)

/** Strikes a figure through that is older than a second. */
const Figure = ({ isOutdated, children }: { isOutdated: boolean; children: ReactNode }) =>
  isOutdated ? (
    <Text c="dimmed" component="s">
      {children}
    </Text>
  ) : (
    children
  )

function Latency({ observerState, isOutdated }: Pick<Props, 'observerState' | 'isOutdated'>) {
  if (observerState?.connection !== 'online') return null
  const { roundTripMs, driveLatency } = observerState
  return (
    <DescriptionItem label={t('session.status.latency')}>
      <Figure isOutdated={isOutdated}>
        {t('session.status.latencies', {
          you: ms(roundTripMs),
          operator: ms(driveLatency?.operator_ms),
          robot: ms(driveLatency?.robot_ms),
        })}
      </Figure>
    </DescriptionItem>
  )
}

function SpeedLimit({ observerState, isOutdated }: Pick<Props, 'observerState' | 'isOutdated'>) {
  const text =
    observerState?.connection === 'online' && observerState.limits && speedLimitText(observerState.limits)
  if (!text) return null
  return (
    <DescriptionItem label={t('session.status.latencyBudget')}>
      <Figure isOutdated={isOutdated}>{text}</Figure>
    </DescriptionItem>
  )
}

function Battery({ observerState, isOutdated }: Pick<Props, 'observerState' | 'isOutdated'>) {
  if (observerState?.battery === undefined) return null
  return (
    <DescriptionItem label={t('session.status.battery')}>
      <Figure isOutdated={isOutdated}>{percent(observerState.battery.battery)}</Figure>
    </DescriptionItem>
  )
}
