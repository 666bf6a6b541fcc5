import { Group, Paper, Stack, Text } from '@mantine/core'
import type { SessionStatus } from '@wheelhouse/protocol'
import type { ReactNode } from 'react'
import type { LiveSession } from '../live/hooks.ts'
import { money } from '../ui/format.ts'
import { reasonText } from './event-texts.ts'
import type { SessionDetail } from './session-query.ts'
import { estimate, statusSince } from './session-time.ts'
import { StatusBadge } from './status-badge.tsx'
import { clockText, useSecond } from './use-second.ts'
import type { WatchState } from './watching.ts'

interface Props {
  readonly session: SessionDetail
  /** When `session` was told, in Unix milliseconds. */
  readonly toldAtMs: number
  readonly live: LiveSession | undefined
  readonly watched: WatchState | undefined
}

/** How an open session stands: since when, what it costs so far, how its robot is reached. */
export function LiveFacts({ session, toldAtMs, live, watched }: Props) {
  const nowMs = useSecond()
  const status = live?.session?.status ?? session.status
  const sinceMs = live && statusSince(live.events, status)
  return (
    <Paper withBorder p="md">
      <Group gap="xl" align="flex-start">
        <Fact label="Status">
          <Group gap="xs">
            <StatusBadge status={status} />
            {sinceMs !== undefined && <span>for {clockText((nowMs - sinceMs) / 1_000)}</span>}
          </Group>
          {status === 'PAUSED' && session.pause_reason && (
            <Text size="sm" c="dimmed">
              {reasonText(session.pause_reason)}
            </Text>
          )}
        </Fact>
        <Cost {...{ session, status }} elapsedMs={nowMs - toldAtMs} />
        <Robot session={session} watched={watched} />
        <Latency watched={watched} />
      </Group>
    </Paper>
  )
}

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <Stack gap={2} maw={320}>
    <Text size="xs" c="dimmed">
      {label}
    </Text>
    <Text size="sm" component="div">
      {children}
    </Text>
  </Stack>
)

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

function Robot({ session, watched }: { session: SessionDetail; watched: WatchState | undefined }) {
  const online = watched?.connection === 'online'
  const connected = (online && watched.drive?.robot_connected) || (!online && session.control.connected)
  return (
    <Fact label="Robot">
      {connected ? 'Connected' : 'Not connected'}
      {watched && !online && (
        <Text size="sm" c="dimmed">
          as last told
        </Text>
      )}
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
