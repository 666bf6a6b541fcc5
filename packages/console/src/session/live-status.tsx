import { Badge, Group, Text } from '@mantine/core'
import { reasonText, type SessionStatus, speedLimitText } from '@wheelhouse/protocol'
import type { LiveSession } from '../live/hooks.ts'
import { DescriptionItem, DescriptionList } from '../ui/description-list.tsx'
import { clockText, money } from '../ui/format.ts'
import { percent } from '../ui/percent.ts'
import { useNow } from '../ui/use-now.ts'
import type { ObserverState } from './observer-connection.ts'
import type { SessionDetail } from './session-query.ts'
import { estimate, statusSince } from './session-time.ts'
import { StatusBadge } from './status-badge.tsx'

interface Props {
  readonly session: SessionDetail
  readonly live: LiveSession
  readonly observerState: ObserverState | undefined
}

/** Shows session status, its duration and the robot connection in one line. */
export function SessionStatusLine({ session, live, observerState }: Props) {
  const nowMs = useNow()
  const status = live.session?.status ?? session.status
  const sinceMs = statusSince(live.events, status)
  const reason = status === 'PAUSED' && pauseText(session)
  return (
    <Group component="section" aria-label="Status" gap="xs">
      <StatusBadge status={status} />
      <Text size="sm" span>
        {[sinceMs !== undefined && `for ${clockText((nowMs - sinceMs) / 1_000)}`, reason]
          .filter(Boolean)
          .join(': ')}
      </Text>
      <RobotBadge session={session} observerState={observerState} />
    </Group>
  )
}

/** Returns why a session is paused now. A stop that was requested during a pause is what keeps it paused. */
function pauseText({ control: { stop, operator_gone_since }, pause_reason }: SessionDetail): string {
  if (stop) return reasonText(stop.reason)
  const wasGone = pause_reason === 'operator_lost' || pause_reason === 'operator_absent'
  return wasGone && operator_gone_since === null ? 'the operator is back' : reasonText(pause_reason)
}

function RobotBadge({ session, observerState }: Pick<Props, 'session' | 'observerState'>) {
  const online = observerState?.connection === 'online'
  const connected = (online && observerState.drive?.robot_connected) || (!online && session.control.connected)
  return (
    <>
      <Badge color={online ? (connected ? 'teal.9' : 'red.9') : 'gray.7'} variant="filled">
        {connected ? 'Robot connected' : 'Robot offline'}
      </Badge>
      {observerState && !online && (
        <Text size="sm" c="dimmed" span>
          last known
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
}: Props & { readonly fetchedAtMs: number }) {
  const status = live.session?.status ?? session.status
  return (
    <DescriptionList cols={{ base: 1, xs: 2 }}>
      <Cost session={session} status={status} elapsedMs={useNow() - fetchedAtMs} />
      <Latency observerState={observerState} />
      <SpeedLimit observerState={observerState} />
      <Battery observerState={observerState} />
    </DescriptionList>
  )
}

function Cost(props: { session: SessionDetail; status: SessionStatus; elapsedMs: number }) {
  const { session, status, elapsedMs } = props
  const { rate_cents_per_minute: rate, billable_seconds: billableSeconds } = session
  if (rate === null) return null
  const running = status === 'ACTIVE' && session.status === 'ACTIVE'
  const { minutes, cents } = estimate(billableSeconds + (running ? elapsedMs / 1_000 : 0), rate)
  return (
    <DescriptionItem label="Cost so far (estimate)">
      about {money(cents)}
      <Text size="sm" c="dimmed">
        {minutes} started {minutes === 1 ? 'minute' : 'minutes'} at {money(rate)}
      </Text>
    </DescriptionItem>
  )
}

const ms = (value: number | null | undefined) =>
  value === null || value === undefined ? 'unknown' : `${Math.round(value)} ms`

function Latency({ observerState }: { observerState: ObserverState | undefined }) {
  if (observerState?.connection !== 'online') return null
  const { roundTripMs, driveLatency } = observerState
  return (
    <DescriptionItem label="Latency to the gateway">
      you {ms(roundTripMs)}, operator {ms(driveLatency?.operator_ms)}, robot {ms(driveLatency?.robot_ms)}
    </DescriptionItem>
  )
}

function SpeedLimit({ observerState }: { observerState: ObserverState | undefined }) {
  const text =
    observerState?.connection === 'online' && observerState.limits && speedLimitText(observerState.limits)
  return text ? <DescriptionItem label="Latency budget">{text}</DescriptionItem> : null
}

function Battery({ observerState }: { observerState: ObserverState | undefined }) {
  if (observerState?.battery === undefined) return null
  return <DescriptionItem label="Robot battery">{percent(observerState.battery.battery)}</DescriptionItem>
}
