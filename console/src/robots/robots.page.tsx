import { Badge, Group, SegmentedControl, Table, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { DataTable } from '../ui/data-table.tsx'
import { LinkAnchor, LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { HeartbeatAge, RobotStatusBadge, StalenessNote } from './robot-status.tsx'
import { LISTED_AT_MOST, type Robot, useLiveRobots, useRobots } from './use-robots.ts'

/** The signed-in person's robots, and how they are. */
export function RobotsPage() {
  const query = useRobots()
  const register = <LinkButton to="/robots/new">Register a robot</LinkButton>
  return (
    <Page title="Robots" description="Yours, and how they are" actions={register}>
      <QueryView
        query={query}
        isEmpty={(robots) => robots.length === 0}
        empty={
          <Empty title="No robots yet" action={register}>
            Register one: you get a token for it, and code to connect it with.
          </Empty>
        }
      >
        {(robots) => (
          <>
            <StalenessNote asOfMs={query.dataUpdatedAt} />
            <Robots robots={robots} />
          </>
        )}
      </QueryView>
    </Page>
  )
}

const choices = [
  { value: 'all', label: 'All' },
  { value: 'online', label: 'Connected' },
  { value: 'OFFLINE', label: 'Offline' },
]

/** Whether every word that was typed is found in what the robot is called. */
function matches(robot: Robot, search: string): boolean {
  const text = [robot.name, robot.robot_type, robot.hardware_id, ...robot.tags].join(' ').toLowerCase()
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function Robots({ robots }: { robots: readonly Robot[] }) {
  const [search, setSearch] = useState('')
  const [choice, setChoice] = useState('all')
  const asOfNow = useLiveRobots()
  const shown = robots
    .map(asOfNow)
    .filter(({ status }) => choice === 'all' || (choice === 'OFFLINE') === (status === 'OFFLINE'))
    .filter((robot) => matches(robot, search))
  return (
    <>
      <Group align="flex-end">
        <TextInput
          label="Search"
          placeholder="Name, type, hardware or tag"
          type="search"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
          flex={1}
          miw={200}
        />
        <SegmentedControl data={choices} value={choice} onChange={setChoice} aria-label="Which robots" />
      </Group>
      {shown.length === 0 ? <Empty title="No robot is like that" /> : <RobotTable robots={shown} />}
      {robots.length >= LISTED_AT_MOST && (
        <Text size="sm" c="dimmed">
          These are the {LISTED_AT_MOST} newest robots; older ones are not listed.
        </Text>
      )}
    </>
  )
}

const RobotTable = ({ robots }: { robots: readonly Robot[] }) => (
  <DataTable
    label="Robots"
    minWidth={680}
    columns={['Name', 'Status', 'Last heartbeat', 'Hours in sessions', 'Tags']}
  >
    {robots.map((robot) => (
      <Row key={robot.id} robot={robot} />
    ))}
  </DataTable>
)

const Row = ({ robot }: { robot: Robot }) => (
  <Table.Tr>
    <Table.Td>
      <LinkAnchor to="/robots/$robotId" params={{ robotId: robot.id }} fw={600}>
        {robot.name}
      </LinkAnchor>
      <Text size="sm" c="dimmed">
        {robot.robot_type}
      </Text>
    </Table.Td>
    <Table.Td>
      <RobotStatusBadge status={robot.status} />
    </Table.Td>
    <Table.Td>
      <HeartbeatAge at={robot.last_heartbeat} />
    </Table.Td>
    <Table.Td>{robot.total_hours.toFixed(1)}</Table.Td>
    <Table.Td>
      <Group gap={4}>
        {robot.tags.map((tag) => (
          <Badge key={tag} variant="default" tt="none">
            {tag}
          </Badge>
        ))}
      </Group>
    </Table.Td>
  </Table.Tr>
)
