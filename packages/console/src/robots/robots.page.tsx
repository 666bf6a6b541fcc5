import { useNavigate, useSearch } from '@tanstack/react-router'
import type { RobotStatus } from '@wheelhouse/protocol'
import type { Schemas } from '@wheelhouse/sdk'
import type { ReactNode } from 'react'
import { calendarDay, duration } from '../base/format.ts'
import { LinkAnchor, LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Empty } from '../base/states.tsx'
import { DataList } from '../list/data-list.tsx'
import { type ListColumn, type ListFilter, optionsOf } from '../list/list-types.ts'
import { useMay } from '../platform/organization.ts'
import { type LiveRobot, RobotStateLabel, useLiveRobotList } from '../status/live-robots.tsx'
import { StalenessNote } from '../status/staleness-note.tsx'
import { robotStatusTexts } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { t } from '../texts/texts.ts'
import { HeartbeatAge, RobotStatusLabel, RobotTags } from './robot-status.tsx'
import { batteryPercent, type RobotSearch, readRobotSearch } from './search.ts'
import { type Robot, useLiveRobots, useRobotCounts, useRobotList } from './use-robots.ts'

const statuses: readonly RobotStatus[] = ['AVAILABLE', 'IN_SESSION', 'OFFLINE']

const columns: readonly ListColumn<Robot>[] = [
  [
    t('robots.list.name'),
    'minmax(0, 2fr)',
    ({ id, name }) => (
      <LinkAnchor to="/robots/$robotId" params={{ robotId: id }} fw={600} inherit>
        {name}
      </LinkAnchor>
    ),
    { sort: 'name', card: 'title' },
  ],
  [t('robots.list.type'), 'minmax(9.5rem, 1.2fr)', ({ robot_type }) => robot_type],
  [t('robots.list.status'), '7rem', (robot) => <LiveStatus robot={robot} />, { card: 'end' }],
  [
    t('robots.list.operator'),
    'minmax(5.5rem, 1.2fr)',
    ({ id }) => <OfLiveRobot id={id} read={({ session }) => session?.operator_name} />,
  ],
  [
    t('robots.list.battery'),
    '4.5rem',
    ({ id }) => <OfLiveRobot id={id} read={({ battery }) => battery !== null && percent(battery)} />,
    { align: 'right' },
  ],
  [
    t('robots.list.lastHeartbeat'),
    '8.5rem',
    (robot) => <LiveHeartbeat robot={robot} />,
    { sort: 'last_heartbeat' },
  ],
  [
    t('robots.list.driveTime'),
    '6.5rem',
    ({ total_hours }) => duration(total_hours * 60),
    { align: 'right', sort: 'total_hours', card: 'none', from: 'lg' },
  ],
  [
    t('robots.list.registered'),
    '7.5rem',
    ({ created_at }) => <time dateTime={created_at}>{calendarDay(created_at)}</time>,
    { sort: 'created_at', card: 'none', from: 'xl' },
  ],
  [t('robots.list.tags'), 'minmax(0, 1.5fr)', ({ tags }) => <RobotTags tags={tags} to="/robots" />],
]

/** Lists the owner's robots and their status. The query string holds search, filters and order. */
export function RobotsPage() {
  const search = useSearch({ from: '/shell/robots' })
  const navigate = useNavigate({ from: '/robots' })
  const list = useRobotList(search)
  const { data: counts } = useRobotCounts(search)
  const go = (next: RobotSearch) => void navigate({ search: next, resetScroll: false, replace: true })
  const register = useMay()('robots.write') && (
    <LinkButton to="/robots/new">{t('robots.list.register')}</LinkButton>
  )
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

/** Shows the state of a robot: in one word what its session does, if it has one. */
function LiveStatus({ robot }: { robot: Robot }) {
  const { status } = useLiveRobots()(robot)
  const live = useLiveRobotList().data?.robots.find(({ id }) => id === robot.id)
  if (status === 'IN_SESSION' && live?.session) return <RobotStateLabel state={live.state} />
  return <RobotStatusLabel status={status} />
}

/** Shows what only robots that are connected or in a session have. */
const OfLiveRobot = (props: { id: string; read: (robot: LiveRobot) => ReactNode }) => {
  const robot = useLiveRobotList().data?.robots.find(({ id }) => id === props.id)
  return robot && props.read(robot)
}

const LiveHeartbeat = ({ robot }: { robot: Robot }) => (
  <HeartbeatAge at={useLiveRobots()(robot).last_heartbeat} />
)
