import { useNavigate, useSearch } from '@tanstack/react-router'
import type { RobotStatus } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty } from '../base/states.tsx'
import { DataList } from '../list/data-list.tsx'
import type { ListColumn, ListFilter } from '../list/list-types.ts'
import { optionsOf } from '../list/list-types.ts'
import { robotStatusTexts } from '../texts/code-texts.ts'
import { language, t } from '../texts/texts.ts'
import { HeartbeatAge, RobotStatusLabel, RobotTags, StalenessNote } from './robot-status.tsx'
import { batteryPercent, type RobotSearch, readRobotSearch } from './search.ts'
import { type Robot, useLiveRobots, useRobotCounts, useRobotList } from './use-robots.ts'

const statuses: readonly RobotStatus[] = ['AVAILABLE', 'IN_SESSION', 'OFFLINE']

const oneDecimal = new Intl.NumberFormat(language, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
  useGrouping: false,
})

const columns: readonly ListColumn<Robot>[] = [
  {
    header: t('robots.list.name'),
    width: 'minmax(0, 2fr)',
    sort: 'name',
    card: 'title',
    cell: ({ id, name }) => (
      <LinkAnchor to="/robots/$robotId" params={{ robotId: id }} fw={600} inherit>
        {name}
      </LinkAnchor>
    ),
  },
  { header: t('robots.list.type'), width: 'minmax(0, 1fr)', cell: ({ robot_type }) => robot_type },
  {
    header: t('robots.list.status'),
    width: '7rem',
    card: 'end',
    cell: (robot) => <LiveStatus robot={robot} />,
  },
  {
    header: t('robots.list.lastHeartbeat'),
    width: '8.5rem',
    sort: 'last_heartbeat',
    cell: (robot) => <LiveHeartbeat robot={robot} />,
  },
  {
    header: t('robots.list.driveTime'),
    width: '6.5rem',
    align: 'right',
    sort: 'total_hours',
    card: 'none',
    cell: ({ total_hours }) => t('robots.list.hours', { hours: oneDecimal.format(total_hours) }),
  },
  {
    header: t('robots.list.registered'),
    width: '7.5rem',
    sort: 'created_at',
    card: 'none',
    from: 'lg',
    cell: registered,
  },
  {
    header: t('robots.list.tags'),
    width: 'minmax(0, 1.5fr)',
    cell: ({ tags }) => <RobotTags tags={tags} to="/robots" />,
  },
]

/** Lists the owner's robots and their status. The query string holds search, filters and order. */
export function RobotsPage() {
  const search = useSearch({ from: '/shell/robots' })
  const navigate = useNavigate({ from: '/robots' })
  const list = useRobotList(search)
  const { data: counts } = useRobotCounts(search)
  const go = (next: RobotSearch) => void navigate({ search: next, resetScroll: false, replace: true })
  const register = <LinkButton to="/robots/new">{t('robots.list.register')}</LinkButton>
  return (
    <Page title={t('robots.list.title')} actions={register}>
      {list.rows && <StalenessNote asOfMs={list.updatedAtMs} />}
      <DataList
        label={t('robots.list.label')}
        name="robots"
        columns={columns}
        list={list}
        search={search}
        readSearch={readRobotSearch}
        onSearch={go}
        searchHint={t('robots.list.searchHint')}
        filters={filtersOf(search, counts)}
        empty={
          <Empty title={t('robots.list.emptyTitle')} action={register}>
            {t('robots.list.emptyText')}
          </Empty>
        }
        rowProps={() => ({ 'data-testid': 'robot-row' })}
      />
    </Page>
  )
}

/** Returns the filters of the list with the number of robots of each value, once it is known. */
const filtersOf = (search: RobotSearch, counts: Schemas['RobotCounts'] | undefined): ListFilter[] => [
  {
    name: 'status',
    label: t('robots.list.status'),
    options: statuses.map((value) => ({
      value,
      label: robotStatusTexts[value],
      count: counts?.by_status[value],
    })),
  },
  {
    name: 'type',
    label: t('robots.list.type'),
    options: optionsOf(
      counts?.by_type.map(({ robot_type, count }) => ({ value: robot_type, count })),
      search.type,
    ),
  },
  {
    name: 'tag',
    label: t('robots.list.tags'),
    options: optionsOf(
      counts?.by_tag.map(({ tag, count }) => ({ value: tag, count })),
      search.tag,
    ),
  },
  {
    name: 'battery',
    label: t('robots.list.battery'),
    options: optionsOf(
      counts?.by_battery.map(({ battery_below, count }) => ({
        value: `below-${Math.round(battery_below * 100)}`,
        count,
      })),
      search.battery,
    ).map((option) => ({
      ...option,
      label: t('robots.list.batteryBelow', { percent: batteryPercent(option.value) }),
    })),
  },
]

const LiveStatus = ({ robot }: { robot: Robot }) => (
  <RobotStatusLabel status={useLiveRobots()(robot).status} />
)

const LiveHeartbeat = ({ robot }: { robot: Robot }) => (
  <HeartbeatAge at={useLiveRobots()(robot).last_heartbeat} />
)

function registered({ created_at }: Robot) {
  return (
    <time dateTime={created_at}>
      {new Intl.DateTimeFormat(language, { dateStyle: 'medium' }).format(new Date(created_at))}
    </time>
  )
}
