import { Badge, Button, Group, Table, Text } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { DataTable } from '../ui/data-table.tsx'
import { LinkAnchor, LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { PAGE_SIZE, type RobotSearch } from './list-search.ts'
import { RobotFilters } from './robot-filters.tsx'
import { HeartbeatAge, RobotStatusBadge, StalenessNote } from './robot-status.tsx'
import { type Robot, useLiveRobots, useRobots } from './use-robots.ts'

/** Lists the owner's robots and their status. The query string holds filters and page. */
export function RobotsPage() {
  const search = useSearch({ from: '/shell/robots' })
  const navigate = useNavigate({ from: '/robots' })
  const query = useRobots(search)
  const go = (next: RobotSearch) => void navigate({ search: next, resetScroll: false, replace: true })
  const filtered = Boolean(search.search || search.status || search.type)
  const register = <LinkButton to="/robots/new">Register robot</LinkButton>
  return (
    <Page title="Robots" description="Your robots and their status" actions={register}>
      {(filtered || query.data?.total !== 0) && <RobotFilters search={search} onChange={go} />}
      {query.data && <StalenessNote asOfMs={query.dataUpdatedAt} />}
      <QueryView
        query={query}
        isEmpty={({ total }) => total === 0}
        empty={
          filtered ? (
            <Empty title="No matching robots" />
          ) : (
            <Empty title="No robots yet" action={register}>
              Register your first robot. You get a token and code to connect it.
            </Empty>
          )
        }
      >
        {({ robots, total }) => (
          <>
            <RobotTable robots={robots} />
            <Pages search={search} total={total} busy={query.isPlaceholderData} onChange={go} />
          </>
        )}
      </QueryView>
    </Page>
  )
}

/** Shows the range of listed robots and buttons to page through them. */
function Pages(props: {
  search: RobotSearch
  total: number
  busy: boolean
  onChange: (next: RobotSearch) => void
}) {
  const { search, total, busy, onChange } = props
  const { page = 1 } = search
  const first = (page - 1) * PAGE_SIZE
  const last = Math.min(total, first + PAGE_SIZE)
  const to = (next: number) => onChange({ ...search, page: next > 1 ? next : undefined })
  return (
    <Group component="nav" aria-label="Pages" justify="space-between">
      <Text size="sm" c="dimmed" role="status">
        {first < total ? `${first + 1} to ${last} of ${total}` : `${total} in total`}
      </Text>
      {(total > PAGE_SIZE || page > 1) && (
        <Group gap="xs">
          <Button variant="default" disabled={page === 1 || busy} onClick={() => to(page - 1)}>
            Newer
          </Button>
          <Button variant="default" disabled={last >= total || busy} onClick={() => to(page + 1)}>
            Older
          </Button>
        </Group>
      )}
    </Group>
  )
}

function RobotTable({ robots }: { robots: readonly Robot[] }) {
  const withLiveStatus = useLiveRobots()
  return (
    <DataTable
      label="Robots"
      minWidth={680}
      columns={['Name', 'Status', 'Last heartbeat', 'Drive time', 'Tags']}
    >
      {robots.map((robot) => (
        <Row key={robot.id} robot={withLiveStatus(robot)} />
      ))}
    </DataTable>
  )
}

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
    <Table.Td>{robot.total_hours.toFixed(1)} h</Table.Td>
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
