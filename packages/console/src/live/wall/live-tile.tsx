import { Button, Card, Group, Stack, Text } from '@mantine/core'
import { reasonText } from '@wheelhouse/protocol'
import { useSyncExternalStore } from 'react'
import { clockText, timeOfDay } from '../../ui/format.ts'
import { LinkAnchor } from '../../ui/links.tsx'
import { percent } from '../../ui/percent.ts'
import { Time } from '../../ui/time.tsx'
import { useNow } from '../../ui/use-now.ts'
import { RobotStateBadge } from '../robot-state-badge.tsx'
import { type LiveRobot, useLastHeartbeat } from '../use-live-robots.ts'
import type { FleetStop } from './fleet-stop.ts'
import type { PictureSlots } from './picture-slots.ts'
import { stopResultText } from './stop-result-text.ts'
import { TilePicture } from './tile-picture.tsx'
import styles from './wall.module.css'

/** A heartbeat older than this is late: robots send one a second. */
const LATE_HEARTBEAT_S = 5

interface Props {
  readonly robot: LiveRobot
  readonly slots: PictureSlots
  readonly fleetStop: FleetStop
}

/** Shows one live robot: picture, state, operator, session clock, battery, age and stop. */
export function LiveTile({ robot, slots, fleetStop }: Props) {
  const { session, state } = robot
  const needsAttention = state === 'STOPPED' || state === 'LOST'
  return (
    <Card
      component="li"
      withBorder
      p="sm"
      className={`${styles.tile} ${needsAttention ? styles.attention : ''}`}
      data-testid="live-tile"
      data-robot={robot.id}
    >
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap">
          <LinkAnchor to="/robots/$robotId" params={{ robotId: robot.id }} fw={600} truncate>
            {robot.name}
          </LinkAnchor>
          <RobotStateBadge state={state} />
        </Group>
        <TilePicture robot={robot} slots={slots} />
        <Group justify="space-between" gap="xs">
          <Text size="sm" data-testid="battery">
            {robot.battery === null ? 'Battery unknown' : `Battery ${percent(robot.battery)}`}
          </Text>
          <HeartbeatLine robot={robot} />
        </Group>
        {session ? <SessionLines session={session} /> : <Text size="sm">No session</Text>}
        {session && <TileStop robot={robot} sessionId={session.id} fleetStop={fleetStop} />}
      </Stack>
    </Card>
  )
}

/** Shows the age of the last heartbeat, marked when it is late. */
function HeartbeatLine({ robot }: { robot: LiveRobot }) {
  const nowMs = useNow()
  const at = useLastHeartbeat(robot)
  if (at === null) return <Text size="sm">No heartbeat</Text>
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(at)) / 1_000))
  return (
    <Text size="sm" className={seconds > LATE_HEARTBEAT_S ? styles.late : undefined} data-testid="age">
      {seconds < 60 ? `Heartbeat ${seconds} s ago` : <Time at={at} />}
    </Text>
  )
}

function SessionLines({ session }: { session: NonNullable<LiveRobot['session']> }) {
  const { id, stop, pause_reason } = session
  const reason = stop ? reasonText(stop.reason) : reasonText(pause_reason)
  return (
    <>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: id }} size="sm" truncate>
          {session.operator_name}
        </LinkAnchor>
        <SessionClock startedAt={session.started_at} />
      </Group>
      {session.ends_at !== null && (
        <Text size="sm" className={styles.late}>
          Operator gone. Ends at {timeOfDay(new Date(session.ends_at))}.
        </Text>
      )}
      {stop?.by_name && <Text size="sm">Stopped by {stop.by_name}</Text>}
      {reason !== '' && (
        <Text size="sm" c="dimmed" lineClamp={2}>
          {reason}
        </Text>
      )}
    </>
  )
}

const SessionClock = ({ startedAt }: { startedAt: string }) => (
  <Text size="sm" data-testid="session-clock" style={{ fontVariantNumeric: 'tabular-nums' }}>
    {clockText((useNow() - Date.parse(startedAt)) / 1_000)}
  </Text>
)

function TileStop(props: { robot: LiveRobot; sessionId: string; fleetStop: FleetStop }) {
  const { robot, sessionId, fleetStop } = props
  const result = useSyncExternalStore(fleetStop.results.subscribe, () =>
    fleetStop.results.get().get(sessionId),
  )
  return (
    <>
      <Button
        color="red.9"
        fullWidth
        className={styles.stop}
        data-testid="stop"
        aria-label={`Stop ${robot.name}`}
        onClick={() => fleetStop.stop([{ sessionId, robotName: robot.name }])}
      >
        STOP
      </Button>
      {result && result.phase !== 'recorded' && (
        <Text size="sm" role="alert">
          {stopResultText(result)}
        </Text>
      )}
    </>
  )
}
