import { Badge, Group } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { RobotStatus, robotStatusTexts } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { RobotStatusBadge } from '../robots/robot-status.tsx'
import { LinkAnchor } from '../ui/links.tsx'
import { DataList } from '../ui/list/data-list.tsx'
import type { ListColumn } from '../ui/list/list-types.ts'
import { useListPages } from '../ui/list/use-list-pages.ts'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { AdminPage } from './admin-page.tsx'
import { ListFreshness } from './freshness.tsx'
import { nextCursorOf, PAGE_SIZE, REFRESH_MS, readRobotSearch } from './list-search.ts'
import { UserLink } from './user-link.tsx'

type Robot = Schemas['RobotEntry']

const columns: readonly ListColumn<Robot>[] = [
  {
    header: 'Robot',
    width: 'minmax(0, 2fr)',
    card: 'title',
    // An admin has no page of a robot: its sessions are found by its id.
    cell: ({ id, name }) => (
      <LinkAnchor to="/admin/sessions" search={{ search: id }} fw={600} inherit>
        {name}
      </LinkAnchor>
    ),
  },
  {
    header: 'Status',
    width: '12rem',
    card: 'end',
    cell: ({ status, on_hold }) => (
      <Group gap={4} wrap="nowrap">
        <RobotStatusBadge status={status} />
        {on_hold && <Badge color="orange.9">On hold</Badge>}
      </Group>
    ),
  },
  {
    header: 'Owner',
    width: 'minmax(0, 2fr)',
    cell: ({ owner_id, owner_name }) => <UserLink id={owner_id} name={owner_name} />,
  },
  { header: 'Type', width: 'minmax(0, 1fr)', cell: ({ robot_type }) => robot_type },
  { header: 'Hardware ID', width: 'minmax(0, 1fr)', card: 'none', cell: ({ hardware_id }) => hardware_id },
  {
    header: 'Last seen',
    width: '8rem',
    cell: ({ last_heartbeat: at }) => (at === null ? 'never' : <Time at={at} />),
  },
  {
    header: 'Session',
    width: '6rem',
    card: 'buttons',
    cell: ({ session_id: sessionId, name }) =>
      sessionId && (
        <LinkAnchor
          to="/sessions/$sessionId"
          params={{ sessionId }}
          aria-label={`Open session on ${name}`}
          inherit
        >
          Open
        </LinkAnchor>
      ),
  },
]

const statusFilter = {
  name: 'status',
  label: 'Status',
  options: RobotStatus.options.map((value) => ({ value, label: robotStatusTexts[value] })),
}

/** Lists the robots of all owners. */
export const AdminRobotsPage = () => (
  <AdminPage title="Robots" description="All robots of the platform, newest first.">
    <RobotList />
  </AdminPage>
)

function RobotList() {
  const { rest } = usePlatform()
  const search = useSearch({ from: '/shell/admin/robots' })
  const navigate = useNavigate({ from: '/admin/robots' })
  const list = useListPages<Robot>({
    queryKey: [...keys.robots, 'all', search],
    load: async (cursor, signal) => {
      const query = { ...search, limit: PAGE_SIZE, ...(cursor && { cursor }) }
      const request = rest.GET('/api/admin/robots', { params: { query }, signal })
      const { robots } = await answerOf(request)
      return { rows: robots, next: nextCursorOf(await request) }
    },
    refreshMs: REFRESH_MS,
  })
  return (
    <>
      <ListFreshness list={list} />
      <DataList
        label="Robots"
        name="admin-robots"
        columns={columns}
        list={list}
        search={search}
        readSearch={readRobotSearch}
        onSearch={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
        searchHint="Name, owner, hardware ID or id"
        filters={[statusFilter]}
        empty={<Empty title="No robots yet" />}
      />
    </>
  )
}
