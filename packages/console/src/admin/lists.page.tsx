import { Group } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { RobotStatus, SessionStatus } from '@wheelhouse/protocol'
import type { RestClient, Schemas } from '@wheelhouse/sdk'
import type { ReactNode } from 'react'
import { shortList } from '../base/format.ts'
import { LinkAnchor } from '../base/links.tsx'
import { Empty } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { DataList } from '../list/data-list.tsx'
import { type ListPage, pageOf, useListPages } from '../list/list-pages.ts'
import type { ListSearch } from '../list/list-search.ts'
import { type ListColumn, type ListFilter, optionsOf } from '../list/list-types.ts'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { RobotStatusLabel, RobotTags } from '../robots/robot-status.tsx'
import { SessionStatusLabel } from '../status/session-status.tsx'
import { StateLabel } from '../status/state-label.tsx'
import { HoldButton } from '../stop/hold-button.tsx'
import { reasonText, robotStatusTexts, roleTexts, sessionStatusTexts } from '../texts/code-texts.ts'
import { percent } from '../texts/percent.ts'
import { t } from '../texts/texts.ts'
import styles from './admin.module.css'
import { AdminPage, ListFreshness, UserLink, useAdminStop } from './admin-page.tsx'
import { readRobotSearch, readSessionSearch, readUserSearch } from './search.ts'

/** Rows per request: the maximum of the API. */
const PAGE_SIZE = 100
const REFRESH_MS = 5_000

interface ListProps<Row, S extends ListSearch> {
  readonly label: string
  readonly name: string
  readonly columns: readonly ListColumn<Row>[]
  readonly queryKey: readonly unknown[]
  readonly search: S
  readonly readSearch: (raw: Record<string, unknown>) => S
  readonly onSearch: (next: S) => void
  /** Requests a page. */
  readonly load: (
    rest: RestClient,
    query: S & { limit: number; cursor?: string },
    signal: AbortSignal,
  ) => Promise<ListPage<Row>>
  readonly searchHint: string
  readonly filters: readonly ListFilter[]
  readonly empty: string
}

function AdminList<Row extends { readonly id: string }, S extends ListSearch>(props: ListProps<Row, S>) {
  const { queryKey, load, empty, ...list } = props
  const { rest } = usePlatform()
  const rows = useListPages<Row>({
    queryKey: [...queryKey, 'all', list.search],
    load: (cursor, signal) =>
      load(rest, { ...list.search, limit: PAGE_SIZE, ...(cursor && { cursor }) }, signal),
    refreshMs: REFRESH_MS,
  })
  return (
    <>
      <ListFreshness list={rows} />
      <DataList {...list} list={rows} empty={<Empty title={empty} />} />
    </>
  )
}

/** How a list writes its search to the address. */
const IN_PLACE = { replace: true, resetScroll: false } as const

/** Renders the name of a row as the title of its card. */
const titleColumn = { width: 'minmax(0, 2fr)', card: 'title' } as const

const timeOrNever = (at: string | null, never: string): ReactNode => (at === null ? never : <Time at={at} />)

type Session = Schemas['SessionEntry']

const sessionColumns: readonly ListColumn<Session>[] = [
  {
    header: t('admin.sessions.robot'),
    ...titleColumn,
    cell: ({ id, robot_name }) => (
      <LinkAnchor to="/sessions/$sessionId" params={{ sessionId: id }} fw={600} inherit>
        {robot_name}
      </LinkAnchor>
    ),
  },
  {
    header: t('admin.sessions.status'),
    width: '7rem',
    card: 'end',
    cell: ({ status }) => <SessionStatusLabel status={status} />,
  },
  {
    header: t('admin.sessions.operator'),
    width: 'minmax(5.5rem, 2fr)',
    cell: ({ operator_id, operator_name }) => <UserLink id={operator_id} name={operator_name} />,
  },
  {
    header: t('admin.sessions.owner'),
    width: 'minmax(0, 2fr)',
    cell: ({ client_id, client_name }) => <UserLink id={client_id} name={client_name} />,
  },
  {
    header: t('admin.sessions.time'),
    width: '13.5rem',
    cell: ({ started_at, scheduled_for, created_at }) => (
      <Time at={started_at ?? scheduled_for ?? created_at} />
    ),
  },
  {
    header: t('admin.sessions.reason'),
    width: 'minmax(5rem, 2fr)',
    card: 'none',
    from: 'lg',
    cell: ({ stopped, pause_reason }) =>
      stopped ? (
        <StateLabel shape="blind">{t('admin.sessions.stopped')}</StateLabel>
      ) : (
        pause_reason !== null && reasonText(pause_reason)
      ),
  },
  {
    header: t('admin.sessions.stop'),
    width: '9rem',
    card: 'buttons',
    cell: (session) =>
      (session.status === 'ACTIVE' || session.status === 'PAUSED') && <HoldToStop session={session} />,
  },
]

/** A stop in a list is held, so that no stray click stops a robot. */
const HOLD_MS = 600

function HoldToStop({ session: { id, robot_name: robot } }: { session: Session }) {
  const stop = useAdminStop(id)
  return (
    <>
      <HoldButton
        className={styles.stop ?? ''}
        aria-label={t('admin.sessions.holdLabel', { robot })}
        holdMs={HOLD_MS}
        onHold={() => stop.mutate()}
      >
        {t('admin.sessions.hold')}
      </HoldButton>
      {stop.isError && <b role="alert"> {t('admin.stop.failed')}</b>}
    </>
  )
}

const sessionFilters: readonly ListFilter[] = [
  {
    name: 'status',
    label: t('admin.sessions.status'),
    options: SessionStatus.options.map((value) => ({ value, label: sessionStatusTexts[value] })),
  },
]

/** Lists the sessions of all users. */
export function AdminSessionsPage() {
  const navigate = useNavigate({ from: '/admin/sessions' })
  return (
    <AdminPage title={t('admin.sessions.title')} description={t('admin.sessions.description')}>
      <AdminList
        label={t('admin.sessions.title')}
        name="admin-sessions"
        columns={sessionColumns}
        queryKey={keys.sessions}
        search={useSearch({ from: '/shell/admin/sessions' })}
        readSearch={readSessionSearch}
        onSearch={(search) => void navigate({ search, ...IN_PLACE })}
        load={(rest, query, signal) =>
          pageOf(rest.GET('/api/admin/sessions', { params: { query }, signal }), ({ sessions }) => sessions)
        }
        searchHint={t('admin.sessions.searchHint')}
        filters={sessionFilters}
        empty={t('admin.sessions.emptyTitle')}
      />
    </AdminPage>
  )
}

const robotColumns: readonly ListColumn<Schemas['RobotEntry']>[] = [
  {
    header: t('admin.robots.robot'),
    ...titleColumn,
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
  { header: t('admin.robots.type'), width: 'minmax(9.5rem, 1.2fr)', cell: ({ robot_type }) => robot_type },
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
    cell: ({ last_heartbeat }) => timeOrNever(last_heartbeat, t('admin.robots.never')),
  },
  {
    header: t('admin.robots.battery'),
    width: '6rem',
    align: 'right',
    from: 'lg',
    cell: ({ battery }) => battery !== null && percent(battery),
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

const robotFilters = (tag: string | undefined): readonly ListFilter[] => [
  {
    name: 'status',
    label: t('admin.robots.status'),
    options: RobotStatus.options.map((value) => ({ value, label: robotStatusTexts[value] })),
  },
  {
    name: 'battery_low',
    label: t('admin.robots.battery'),
    options: [{ value: 'true', label: t('admin.robots.lowBattery') }],
  },
  // The platform has too many tags for a list. Rows show those to select.
  { name: 'tag', label: t('admin.robots.tags'), options: optionsOf([], tag) },
]

/** Lists the robots of all owners. */
export function AdminRobotsPage() {
  const search = useSearch({ from: '/shell/admin/robots' })
  const navigate = useNavigate({ from: '/admin/robots' })
  return (
    <AdminPage title={t('admin.robots.title')} description={t('admin.robots.description')}>
      <AdminList
        label={t('admin.robots.title')}
        name="admin-robots"
        columns={robotColumns}
        queryKey={keys.robots}
        search={search}
        readSearch={readRobotSearch}
        onSearch={(next) => void navigate({ search: next, ...IN_PLACE })}
        load={(rest, query, signal) =>
          pageOf(rest.GET('/api/admin/robots', { params: { query }, signal }), ({ robots }) => robots)
        }
        searchHint={t('admin.robots.searchHint')}
        filters={robotFilters(search.tag)}
        empty={t('admin.robots.emptyTitle')}
      />
    </AdminPage>
  )
}

const userColumns: readonly ListColumn<Schemas['UserEntry']>[] = [
  {
    header: t('admin.people.name'),
    ...titleColumn,
    cell: ({ id, display_name }) => (
      <LinkAnchor to="/admin/users/$userId" params={{ userId: id }} fw={600} inherit>
        {display_name}
      </LinkAnchor>
    ),
  },
  { header: t('admin.people.email'), width: 'minmax(0, 3fr)', cell: ({ email }) => email ?? '' },
  {
    header: t('admin.people.roles'),
    width: 'minmax(0, 2fr)',
    cell: ({ roles }) => shortList.format(roles.map((role) => roleTexts[role])) || t('admin.people.noRoles'),
  },
  {
    header: t('admin.people.status'),
    width: '8rem',
    card: 'end',
    cell: ({ suspended_at }) =>
      suspended_at !== null && <StateLabel shape="blind">{t('admin.people.suspended')}</StateLabel>,
  },
  {
    header: t('admin.people.lastSeen'),
    width: '8rem',
    cell: ({ last_seen_at }) => timeOrNever(last_seen_at, t('admin.people.never')),
  },
  {
    header: t('admin.people.joined'),
    width: '8rem',
    card: 'none',
    cell: ({ created_at }) => <Time at={created_at} />,
  },
]

const userFilters: readonly ListFilter[] = [
  {
    name: 'role',
    label: t('admin.people.role'),
    options: [
      { value: 'operator', label: t('admin.people.operators') },
      { value: 'client', label: t('admin.people.owners') },
      { value: 'admin', label: t('admin.people.admins') },
    ],
  },
  {
    name: 'suspended',
    label: t('admin.people.account'),
    options: [
      { value: 'true', label: t('admin.people.suspended') },
      { value: 'false', label: t('admin.people.notSuspended') },
    ],
  },
]

/** Lists all users. */
export function UsersPage() {
  const navigate = useNavigate({ from: '/admin/users' })
  return (
    <AdminPage title={t('admin.people.title')} description={t('admin.people.description')}>
      <AdminList
        label={t('admin.people.title')}
        name="admin-users"
        columns={userColumns}
        queryKey={keys.users}
        search={useSearch({ from: '/shell/admin/users' })}
        readSearch={readUserSearch}
        onSearch={(search) => void navigate({ search, ...IN_PLACE })}
        load={(rest, query, signal) =>
          pageOf(rest.GET('/api/admin/users', { params: { query }, signal }), ({ users }) => users)
        }
        searchHint={t('admin.people.searchHint')}
        filters={userFilters}
        empty={t('admin.people.emptyTitle')}
      />
    </AdminPage>
  )
}
