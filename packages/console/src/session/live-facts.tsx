import { Badge, Group, Text } from '@mantine/core'
import { reasonText, type SessionStatus } from '@wheelhouse/protocol'
import type { LiveSession } from '../live/hooks.ts'
import { Fact, Facts } from '../ui/facts.tsx'
import { money } from '../ui/format.ts'
import { percent } from '../ui/percent.ts'
import type { SessionDetail } from './session-query.ts'
import { estimate, statusSince } from './session-time.ts'
import { StatusBadge } from './status-badge.tsx'
import { clockText, useSecond } from './use-second.ts'
import type { WatchState } from './watching.ts'

interface Props {
  readonly session: SessionDetail
  readonly live: LiveSession
  readonly watched: WatchState | undefined
}

/** In one line, above everything: what the session does, since when, and whether its robot is there. */
export function Standing({ session, live, watched }: Props) {
  const nowMs = useSecond()
  const status = live.session?.status ?? session.status
  const sinceMs = statusSince(live.events, status)
  const why = status === 'PAUSED' && session.pause_reason && reasonText(session.pause_reason)
  return (
    <Group component="section" aria-label="State" gap="xs">
      <StatusBadge status={status} />
      <Text size="sm" span>
        {[sinceMs !== undefined && `for ${clockText((nowMs - sinceMs) / 1_000)}`, why]
          .filter(Boolean)
          .join(': ')}
      </Text>
      <RobotBadge session={session} watched={watched} />
    </Group>
  )
}

function RobotBadge({ session, watched }: Pick<Props, 'session' | 'watched'>) {
  const online = watched?.connection === 'online'
  const connected = (online && watched.drive?.robot_connected) || (!online && session.control.connected)
  return (
    <>
      <Badge color={online ? (connected ? 'teal.9' : 'red.9') : 'gray.7'} variant="filled">
        {connected ? 'Robot connected' : 'Robot away'}
      </Badge>
      {watched && !online && (
        <Text size="sm" c="dimmed" span>
          as last told
        </Text>
      )}
    </>
  )
}

/** What an open session costs so far, and how its robot is reached. */
export function LiveFacts({ session, toldAtMs, live, watched }: Props & { readonly toldAtMs: number }) {
  const status = live.session?.status ?? session.status
  return (
    <Facts cols={{ base: 1, xs: 2 }}>
      <Cost {...{ session, status }} elapsedMs={useSecond() - toldAtMs} />
      <Latency watched={watched} />
      <Battery watched={watched} />
    </Facts>
  )
}

function Cost(props: { session: SessionDetail; status: SessionStatus; elapsedMs: number }) {
  const { session, status, elapsedMs } = props
  const { rate_cents_per_minute: rate, billable_seconds: told } = session
  if (rate === null) return null
  const running = status === 'ACTIVE' && session.status === 'ACTIVE'
  const { minutes, cents } = estimate(told + (running ? elapsedMs / 1_000 : 0), rate)
  return (
    <Fact label="Cost so far (estimate)">
      about {money(cents)}
      <Text size="sm" c="dimmed">
        {minutes} begun {minutes === 1 ? 'minute' : 'minutes'} at {money(rate)}; fixed at the end
      </Text>
    </Fact>
  )
}

const ms = (value: number | null | undefined) =>
  value === null || value === undefined ? 'unknown' : `${Math.round(value)} ms`

function Latency({ watched }: { watched: WatchState | undefined }) {
  if (watched?.connection !== 'online') return null
  const { roundTripMs, driving } = watched
  return (
    <Fact label="Round trips to the gateway">
      you {ms(roundTripMs)}, operator {ms(driving?.operator_ms)}, robot {ms(driving?.robot_ms)}
    </Fact>
  )
}

function Battery({ watched }: { watched: WatchState | undefined }) {
  if (watched?.battery === undefined) return null
  return <Fact label="Battery of the robot">{percent(watched.battery.battery)}</Fact>
}
