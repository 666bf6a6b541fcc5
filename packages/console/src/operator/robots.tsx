import { Select, SimpleGrid, Stack, Text } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import { useRobotStatuses } from '../live/hooks.ts'
import type { RobotStatuses } from '../live/robot-board.ts'
import { LinkButton } from '../ui/links.tsx'
import { Empty, Problem, QueryView } from '../ui/states.tsx'
import { type AvailableRobot, useAvailability, useAvailableRobots, useCertifications } from './queries.ts'
import { RobotCard } from './robot-card.tsx'
import { useStartNow } from './use-start.ts'

const PlanSession = lazy(() => import('./plan-session.tsx'))

/** No robot type is empty. */
const ALL = ''

/** The robots that can be taken, as they come and go. What is begun with one stays when its card goes. */
export function AvailableRobots() {
  const query = useAvailableRobots()
  // Followed while there is none, too: that is how the first one shows up.
  const statuses = useRobotStatuses()
  const start = useStartNow()
  const [wanted, setWanted] = useState<AvailableRobot>()
  const [planned, setPlanned] = useState<AvailableRobot>()
  const onStart = (robot: AvailableRobot) => {
    setWanted(robot)
    start.mutate(robot.id)
  }
  return (
    <Stack>
      {start.error && <Text fw={600}>{wanted?.name} was not started</Text>}
      <Problem error={start.error} />
      <QueryView query={query} isEmpty={({ robots }) => robots.length === 0} empty={<NoRobotsNotice />}>
        {({ robots }) => (
          <RobotList
            robots={robots}
            statuses={statuses}
            startingId={start.isPending ? wanted?.id : undefined}
            onStart={onStart}
            onPlan={setPlanned}
          />
        )}
      </QueryView>
      <Suspense>{planned && <PlanSession robot={planned} onClose={() => setPlanned(undefined)} />}</Suspense>
    </Stack>
  )
}

interface ListProps {
  readonly robots: readonly AvailableRobot[]
  readonly statuses: RobotStatuses | undefined
  readonly startingId: string | undefined
  readonly onStart: (robot: AvailableRobot) => void
  readonly onPlan: (robot: AvailableRobot) => void
}

function RobotList({ robots, statuses, startingId, onStart, onPlan }: ListProps) {
  const [type, setType] = useState(ALL)
  const busy = useAvailability().data?.open_session_id != null
  // The last of a type may leave while it is chosen.
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
            onPlan={onPlan}
          />
        ))}
      </SimpleGrid>
    </Stack>
  )
}

/** An empty list says what would fill it. */
function NoRobotsNotice() {
  const { data } = useCertifications()
  const certifications = data?.certifications
  if (certifications?.some(({ status }) => status === 'APPROVED')) {
    return (
      <Empty title="No robot is available just now">
        Those that you may drive are offline or with another operator. They appear here as soon as they are
        free.
      </Empty>
    )
  }
  const waiting = certifications?.some(({ status }) => status === 'PENDING')
  return (
    <Empty
      title={waiting ? 'Your certification is being looked at' : 'You are not certified yet'}
      action={
        <LinkButton to="/certifications" variant={waiting ? 'default' : 'filled'}>
          {waiting ? 'Your certifications' : 'Ask for a certification'}
        </LinkButton>
      }
    >
      {waiting
        ? 'Robots of the type appear here as soon as it is approved.'
        : 'No robot that requires no certification is free. Of the others you see those of the types that you are certified for.'}
    </Empty>
  )
}
