import { Badge, Button, Group } from '@mantine/core'
import { createContext, useContext } from 'react'
import { useRobotStatuses } from '../live/hooks.ts'
import { LinkAnchor } from '../ui/links.tsx'
import type { ListColumn } from '../ui/list/list-types.ts'
import { Time } from '../ui/time.tsx'
import { type AvailableRobot, useModelName } from './queries.ts'

/** Starts and schedules sessions on the listed robots. */
interface RobotActions {
  /** Whether the operator has an open session. */
  readonly busy: boolean
  readonly startingId: string | undefined
  readonly onStart: (robot: AvailableRobot) => void
  readonly onSchedule: (robot: AvailableRobot) => void
}

const nothing = () => undefined

export const RobotActionsContext = createContext<RobotActions>({
  busy: true,
  startingId: undefined,
  onStart: nothing,
  onSchedule: nothing,
})

/** The columns of the list of available robots. */
export const availableColumns: readonly ListColumn<AvailableRobot>[] = [
  {
    header: 'Name',
    width: 'minmax(0, 2fr)',
    sort: 'name',
    card: 'title',
    cell: ({ id, name }) => (
      <LinkAnchor to="/available/$robotId" params={{ robotId: id }} fw={600}>
        {name}
      </LinkAnchor>
    ),
  },
  {
    header: 'Type',
    width: 'minmax(0, 2fr)',
    cell: ({ robot_type }) => <ModelName robotType={robot_type} />,
  },
  { header: 'Status', width: '7.5rem', card: 'end', cell: (robot) => <LiveStatus robot={robot} /> },
  {
    header: 'Last heartbeat',
    width: '9rem',
    from: 'lg',
    cell: (robot) => <LastHeartbeat robot={robot} />,
  },
  {
    header: 'Tags',
    width: 'minmax(0, 1fr)',
    from: 'lg',
    card: 'none',
    cell: ({ tags }) => tags.join(' · '),
  },
  { header: 'Actions', width: '12rem', card: 'buttons', cell: (robot) => <Actions robot={robot} /> },
]

function ModelName({ robotType }: { robotType: string }) {
  const model = useModelName(robotType)
  return model ? `${model} (${robotType})` : robotType
}

const shownAs = {
  AVAILABLE: { label: 'Available', color: 'teal.9' },
  IN_SESSION: { label: 'In a session', color: 'orange.9' },
  OFFLINE: { label: 'Offline', color: 'gray.7' },
} as const

/** Returns the newest known status of a robot: that of the hub, else that of the list. */
const useLiveStatus = (robot: AvailableRobot) => useRobotStatuses()?.get(robot.id) ?? robot

function LiveStatus({ robot }: { robot: AvailableRobot }) {
  const { label, color } = shownAs[useLiveStatus(robot).status]
  return (
    <Badge color={color} style={{ flexShrink: 0 }}>
      {label}
    </Badge>
  )
}

function LastHeartbeat({ robot }: { robot: AvailableRobot }) {
  const live = useLiveStatus(robot).last_heartbeat
  const at = [robot.last_heartbeat ?? '', live ?? ''].sort().at(-1)
  return at ? <Time at={at} /> : 'none yet'
}

function Actions({ robot }: { robot: AvailableRobot }) {
  const { busy, startingId, onStart, onSchedule } = useContext(RobotActionsContext)
  const free = useLiveStatus(robot).status === 'AVAILABLE' && !busy
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-xs"
        aria-label={`Drive now: ${robot.name}`}
        disabled={!free}
        loading={robot.id === startingId}
        onClick={() => onStart(robot)}
      >
        Drive now
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Schedule a session with ${robot.name}`}
        disabled={!free}
        onClick={() => onSchedule(robot)}
      >
        Schedule
      </Button>
    </Group>
  )
}
