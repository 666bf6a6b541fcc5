import { Badge, Group } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type RobotStatus, robotStatusTexts } from '@wheelhouse/protocol'
import { LinkAnchor, LinkButton } from '../ui/links.tsx'
import { DataList } from '../ui/list/data-list.tsx'
import type { ListColumn } from '../ui/list/list-types.ts'
import { optionsOf } from '../ui/list/options-of.ts'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import { type RobotSearch, readRobotSearch } from './list-search.ts'
import { HeartbeatAge, RobotStatusBadge, StalenessNote } from './robot-status.tsx'
import { type Robot, useLiveRobots, useRobotCounts, useRobotList } from './use-robots.ts'

const statuses: readonly RobotStatus[] = ['AVAILABLE', 'IN_SESSION', 'OFFLINE']

const columns: readonly ListColumn<Robot>[] = [
  {
    header: 'Name',
    width: 'minmax(0, 2fr)',
    sort: 'name',
    card: 'title',
    cell: ({ id, name }) => (
      <LinkAnchor to="/robots/$robotId" params={{ robotId: id }} fw={600} inherit>
        {name}
      </LinkAnchor>
    ),
  },
  { header: 'Type', width: 'minmax(0, 1fr)', cell: ({ robot_type }) => robot_type },
  { header: 'Status', width: '7rem', card: 'end', cell: (robot) => <LiveStatus robot={robot} /> },
  {
    header: 'Last heartbeat',
    width: '8.5rem',
    sort: 'last_heartbeat',
    cell: (robot) => <LiveHeartbeat robot={robot} />,
  },
  {
    header: 'Drive time',
    width: '6.5rem',
    align: 'right',
    sort: 'total_hours',
    card: 'none',
    cell: ({ total_hours }) => `${total_hours.toFixed(1)} h`,
  },
  { header: 'Registered', width: '7.5rem', sort: 'created_at', card: 'none', from: 'lg', cell: registered },
  { header: 'Tags', width: 'minmax(0, 1.5fr)', cell: ({ tags }) => <Tags tags={tags} /> },
]

/** Lists the owner's robots and their status. The query string holds search, filters and order. */
export function RobotsPage() {
  const search = useSearch({ from: '/shell/robots' })
  const navigate = useNavigate({ from: '/robots' })
  const list = useRobotList(search)
  const { data: counts } = useRobotCounts(search)
  const go = (next: RobotSearch) => void navigate({ search: next, resetScroll: false, replace: true })
  const register = <LinkButton to="/robots/new">Register robot</LinkButton>
  return (
    <Page title="Robots" actions={register}>
      {list.rows && <StalenessNote asOfMs={list.updatedAtMs} />}
      <DataList
        label="Robots"
        name="robots"
        columns={columns}
        list={list}
        search={search}
        readSearch={readRobotSearch}
        onSearch={go}
        searchHint="Name, type, hardware or tag"
        filters={[
          {
            name: 'status',
            label: 'Status',
            options: statuses.map((value) => ({
              value,
              label: robotStatusTexts[value],
              count: counts?.by_status[value],
            })),
          },
          {
            name: 'type',
            label: 'Type',
            options: optionsOf(
              counts?.by_type.map(({ robot_type, count }) => ({ value: robot_type, count })),
              search.type,
            ),
          },
        ]}
        empty={
          <Empty title="No robots yet" action={register}>
            Register your first robot. You get a token and code to connect it.
          </Empty>
        }
        rowProps={() => ({ 'data-testid': 'robot-row' })}
      />
    </Page>
  )
}

const LiveStatus = ({ robot }: { robot: Robot }) => (
  <RobotStatusBadge status={useLiveRobots()(robot).status} />
)

const LiveHeartbeat = ({ robot }: { robot: Robot }) => (
  <HeartbeatAge at={useLiveRobots()(robot).last_heartbeat} />
)

function registered({ created_at }: Robot) {
  return (
    <time dateTime={created_at}>
      {new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }).format(new Date(created_at))}
    </time>
  )
}

const Tags = ({ tags }: { tags: readonly string[] }) => (
  <Group gap={4} wrap="nowrap">
    {tags.map((tag) => (
      <Badge key={tag} variant="default" tt="none" style={{ flexShrink: 0 }}>
        {tag}
      </Badge>
    ))}
  </Group>
)
