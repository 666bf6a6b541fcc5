import { Badge, Button, Group } from '@mantine/core'
import { createContext, useContext } from 'react'
import type { ListColumn } from '../list/list-types.ts'
import { useRobotStatuses } from '../platform/use-live.ts'
import { t } from '../texts/texts.ts'
import { LinkAnchor } from '../ui/links.tsx'
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
    header: t('operator.available.name'),
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
    header: t('operator.available.type'),
    width: 'minmax(0, 2fr)',
    cell: ({ robot_type }) => <ModelName robotType={robot_type} />,
  },
  {
    header: t('operator.available.status'),
    width: '7.5rem',
    card: 'end',
    cell: (robot) => <LiveStatus robot={robot} />,
  },
  {
    header: t('operator.available.lastHeartbeat'),
    width: '9rem',
    from: 'lg',
    cell: (robot) => <LastHeartbeat robot={robot} />,
  },
  {
    header: t('operator.available.tags'),
    width: 'minmax(0, 1fr)',
    from: 'lg',
    card: 'none',
    cell: ({ tags }) => tags.join(' · '),
  },
  {
    header: t('operator.available.actions'),
    width: '12rem',
    card: 'buttons',
    cell: (robot) => <Actions robot={robot} />,
  },
]

function ModelName({ robotType }: { robotType: string }) {
  const model = useModelName(robotType)
  return model ? `${model} (${robotType})` : robotType
}

const shownAs = {
  AVAILABLE: { label: t('operator.available.free'), color: 'teal.9' },
  IN_SESSION: { label: t('operator.available.inSession'), color: 'orange.9' },
  OFFLINE: { label: t('operator.available.offline'), color: 'gray.7' },
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
  return at ? <Time at={at} /> : t('operator.available.noHeartbeat')
}

function Actions({ robot }: { robot: AvailableRobot }) {
  const { busy, startingId, onStart, onSchedule } = useContext(RobotActionsContext)
  const free = useLiveStatus(robot).status === 'AVAILABLE'
  return (
    <Group gap="xs" wrap="nowrap">
      <Button
        size="compact-xs"
        aria-label={t('operator.available.driveLabel', { robot: robot.name })}
        disabled={!free || busy}
        loading={robot.id === startingId}
        onClick={() => onStart(robot)}
      >
        {t('operator.available.drive')}
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={t('operator.available.scheduleLabel', { robot: robot.name })}
        disabled={!free}
        onClick={() => onSchedule(robot)}
      >
        {t('operator.available.schedule')}
      </Button>
    </Group>
  )
}
