import { Select, SimpleGrid, Stack, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useRobotStatuses } from '../live/hooks.ts'
import type { RobotStatuses } from '../live/robot-board.ts'
import { LinkButton } from '../ui/links.tsx'
import { Empty, Problem, QueryView } from '../ui/states.tsx'
import { type AvailableRobot, useAvailability, useAvailableRobots, useCertifications } from './queries.ts'
import { RobotCard } from './robot-card.tsx'
import { useStartNow } from './use-start.ts'

const ScheduleSession = lazy(() => import('./schedule-session.tsx'))

/** The option for all types. No robot type is empty. */
const ALL = ''

/** Lists the available robots live. An open dialog stays when its robot leaves the list. */
export function AvailableRobots() {
  const query = useAvailableRobots()
  // Subscribes even while the list is empty, so that the first robot appears.
  const statuses = useRobotStatuses()
  const start = useStartNow()
  const [selected, setSelected] = useState<AvailableRobot>()
  const [scheduling, setScheduling] = useState<AvailableRobot>()
  const onStart = (robot: AvailableRobot) => {
    setSelected(robot)
    start.mutate(robot.id)
  }
  return (
    <Stack>
      {start.error && <Text fw={600}>{selected?.name} could not be started</Text>}
      <Problem error={start.error} />
      <QueryView query={query} isEmpty={({ robots }) => robots.length === 0} empty={<NoRobotsNotice />}>
        {({ robots }) => (
          <RobotList
            robots={robots}
            statuses={statuses}
            startingId={start.isPending ? selected?.id : undefined}
            onStart={onStart}
            onSchedule={setScheduling}
          />
        )}
      </QueryView>
      <Suspense>
        {scheduling && <ScheduleSession robot={scheduling} onClose={() => setScheduling(undefined)} />}
      </Suspense>
    </Stack>
  )
}

interface ListProps {
  readonly robots: readonly AvailableRobot[]
  readonly statuses: RobotStatuses | undefined
  readonly startingId: string | undefined
  readonly onStart: (robot: AvailableRobot) => void
  readonly onSchedule: (robot: AvailableRobot) => void
}

function RobotList({ robots, statuses, startingId, onStart, onSchedule }: ListProps) {
  const [type, setType] = useState(ALL)
  const busy = useAvailability().data?.open_session_id != null
  // The last robot of the chosen type may leave the list.
  const types = [...new Set([...robots.map((robot) => robot.robot_type), type])]
    .filter((candidate) => candidate !== ALL)
    .sort()
  const shown = robots.filter((robot) => type === ALL || robot.robot_type === type)
  return (
    <Stack>
      <Select
        label="Type"
        allowDeselect={false}
        data={[{ value: ALL, label: 'All types' }, ...types]}
        value={type}
        onChange={(chosen) => setType(chosen ?? ALL)}
        maw={320}
      />
      <Text size="sm" c="dimmed" role="status">
        {shown.length === 1 ? '1 robot' : `${shown.length} robots`}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
        {shown.map((robot) => (
          <RobotCard
            key={robot.id}
            robot={robot}
            now={statuses?.get(robot.id)}
            busy={busy}
            starting={robot.id === startingId}
            onStart={onStart}
            onSchedule={onSchedule}
          />
        ))}
      </SimpleGrid>
    </Stack>
  )
}

/** Explains an empty list and how to get access to robots. */
function NoRobotsNotice() {
  const { data } = useCertifications()
  const certifications = data?.certifications
  if (certifications?.some(({ status }) => status === 'APPROVED')) {
    return (
      <Empty title="No robots available">
        All robots that you may drive are offline or in use. They appear here when they become available.
      </Empty>
    )
  }
  const pending = certifications?.some(({ status }) => status === 'PENDING')
  return (
    <Empty
      title={pending ? 'Your certification is pending' : 'You are not certified yet'}
      action={
        <LinkButton to="/certifications" variant={pending ? 'default' : 'filled'}>
          {pending ? 'View certifications' : 'Request a certification'}
        </LinkButton>
      }
    >
      {pending
        ? 'Robots of this type appear here after approval.'
        : 'No robot is available without a certification. Request one for a robot type to see more robots.'}
    </Empty>
  )
}
