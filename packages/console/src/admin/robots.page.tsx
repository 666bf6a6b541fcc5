import { Group } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { RobotStatus } from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { LinkAnchor } from '../base/links.tsx'
import { Empty } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { DataList } from '../list/data-list.tsx'
import { useListPages } from '../list/list-pages.ts'
import type { ListColumn } from '../list/list-types.ts'
import { optionsOf } from '../list/list-types.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { RobotStatusLabel, RobotTags } from '../robots/robot-status.tsx'
import { StateLabel } from '../status/state-label.tsx'
import { robotStatusTexts } from '../texts/code-texts.ts'
import { language, t } from '../texts/texts.ts'
import { AdminPage, UserLink } from './admin-page.tsx'
import { ListFreshness } from './freshness.tsx'
import { nextCursorOf, PAGE_SIZE, REFRESH_MS, readRobotSearch } from './search.ts'

type Robot = Schemas['RobotEntry']

const percent = new Intl.NumberFormat(language, { style: 'percent' })

const columns: readonly ListColumn<Robot>[] = [
  {
    header: t('admin.robots.robot'),
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
    header: t('admin.robots.status'),
    width: '11rem',
    card: 'end',
    cell: ({ status, on_hold }) => (
      <Group gap={4} wrap="nowrap">
        <RobotStatusLabel status={status} />
        {on_hold && <StateLabel shape="delayed">{t('admin.robots.onHold')}</StateLabel>}
      </Group>
    ),
  },
  {
    header: t('admin.robots.owner'),
    width: 'minmax(0, 2fr)',
    cell: ({ owner_id, owner_name }) => <UserLink id={owner_id} name={owner_name} />,
  },
  { header: t('admin.robots.type'), width: 'minmax(7rem, 1.2fr)', cell: ({ robot_type }) => robot_type },
  {
    header: t('admin.robots.hardwareId'),
    width: 'minmax(8rem, 1.2fr)',
    card: 'none',
    from: 'xl',
    cell: ({ hardware_id }) => hardware_id,
  },
  {
    header: t('admin.robots.lastSeen'),
    width: '8rem',
    cell: ({ last_heartbeat: at }) => (at === null ? t('admin.robots.never') : <Time at={at} />),
  },
  {
    header: t('admin.robots.battery'),
    width: '6rem',
    align: 'right',
    from: 'lg',
    cell: ({ battery }) => battery !== null && percent.format(battery),
  },
  {
    header: t('admin.robots.tags'),
    width: 'minmax(0, 1fr)',
    from: 'lg',
    cell: ({ tags }) => <RobotTags tags={tags} to="/admin/robots" />,
  },
  {
    header: t('admin.robots.session'),
    width: '6rem',
    card: 'buttons',
    cell: ({ session_id: sessionId, name }) =>
      sessionId && (
        <LinkAnchor
          to="/sessions/$sessionId"
          params={{ sessionId }}
          aria-label={t('admin.robots.openLabel', { robot: name })}
          inherit
        >
          {t('admin.robots.open')}
        </LinkAnchor>
      ),
  },
]

const statusFilter = {
  name: 'status',
  label: t('admin.robots.status'),
  options: RobotStatus.options.map((value) => ({ value, label: robotStatusTexts[value] })),
}

const batteryFilter = {
  name: 'battery_low',
  label: t('admin.robots.battery'),
  options: [{ value: 'true', label: t('admin.robots.lowBattery') }],
}

/** Lists the robots of all owners. */
export const AdminRobotsPage = () => (
  <AdminPage title={t('admin.robots.title')} description={t('admin.robots.description')}>
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
        label={t('admin.robots.title')}
        name="admin-robots"
        columns={columns}
        list={list}
        search={search}
        readSearch={readRobotSearch}
        onSearch={(next) => void navigate({ search: next, replace: true, resetScroll: false })}
        searchHint={t('admin.robots.searchHint')}
        filters={[
          statusFilter,
          batteryFilter,
          // The platform has too many tags for a list. Rows show those to select.
          { name: 'tag', label: t('admin.robots.tags'), options: optionsOf([], search.tag) },
        ]}
        empty={<Empty title={t('admin.robots.emptyTitle')} />}
      />
    </>
  )
}
