import { Group } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { RobotStatus, SessionStatus } from '@wheelhouse/protocol'
import type { RestClient, Schemas } from '@wheelhouse/sdk'
import type { ComponentProps, ReactNode } from 'react'
import { shortList } from '../base/format.ts'
import { LinkAnchor, SessionLink } from '../base/links.tsx'
import { Empty } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { DataList } from '../list/data-list.tsx'
import { type ListPage, pageOf, useListPages, type WithId } from '../list/list-pages.ts'
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

interface ListProps<Row extends WithId, S extends ListSearch>
  extends Omit<ComponentProps<typeof DataList<Row, S>>, 'list' | 'empty'> {
  readonly queryKey: readonly unknown[]
  /** Requests a page. */
  readonly load: (
    rest: RestClient,
    query: S & { limit: number; cursor?: string },
    signal: AbortSignal,
  ) => Promise<ListPage<Row>>
  readonly empty: string
}

function AdminList<Row extends WithId, S extends ListSearch>(props: ListProps<Row, S>) {
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

const timeOrNever = (at: string | null, never: string): ReactNode => (at === null ? never : <Time at={at} />)

type Session = Schemas['SessionEntry']

const sessionColumns: readonly ListColumn<Session>[] = [
  [
    t('admin.sessions.robot'),
    'minmax(0, 2fr)',
    ({ id, robot_name }) => <SessionLink id={id} fw={600} inherit name={robot_name} />,
    { card: 'title' },
  ],
  [
    t('admin.sessions.status'),
    '7rem',
    ({ status }) => <SessionStatusLabel status={status} />,
    { card: 'end' },
  ],
  [
    t('admin.sessions.operator'),
    'minmax(5.5rem, 2fr)',
    ({ operator_id, operator_name }) => <UserLink id={operator_id} name={operator_name} />,
  ],
  [
    t('admin.sessions.owner'),
    'minmax(0, 2fr)',
    ({ client_id, client_name }) => <UserLink id={client_id} name={client_name} />,
  ],
  [
    t('admin.sessions.time'),
    '13.5rem',
    ({ started_at, scheduled_for, created_at }) => <Time at={started_at ?? scheduled_for ?? created_at} />,
  ],
  [
    t('admin.sessions.reason'),
    'minmax(5rem, 2fr)',
    ({ stopped, pause_reason }) =>
      stopped ? (
        <StateLabel shape="blind">{t('admin.sessions.stopped')}</StateLabel>
      ) : (
        pause_reason !== null && reasonText(pause_reason)
      ),
    { card: 'none', from: 'lg' },
  ],
  [
    t('admin.sessions.stop'),
    '9rem',
    (session) =>
      (session.status === 'ACTIVE' || session.status === 'PAUSED') && <HoldToStop session={session} />,
    { card: 'buttons' },
  ],
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
  [
    t('admin.robots.robot'),
    'minmax(0, 2fr)',
    ({ id, name }) => (
      <LinkAnchor to="/admin/sessions" search={{ search: id }} fw={600} inherit>
        {name}
      </LinkAnchor>
    ),
    { card: 'title' },
  ],
  [
    t('admin.robots.status'),
    '11rem',
    ({ status, on_hold }) => (
      <Group gap={4} wrap="nowrap">
        <RobotStatusLabel status={status} />
        {on_hold && <StateLabel shape="delayed">{t('admin.robots.onHold')}</StateLabel>}
      </Group>
    ),
    { card: 'end' },
  ],
  [
    t('admin.robots.owner'),
    'minmax(0, 2fr)',
    ({ owner_id, owner_name }) => <UserLink id={owner_id} name={owner_name} />,
  ],
  [t('admin.robots.type'), 'minmax(9.5rem, 1.2fr)', ({ robot_type }) => robot_type],
  [
    t('admin.robots.hardwareId'),
    'minmax(8rem, 1.2fr)',
    ({ hardware_id }) => hardware_id,
    { card: 'none', from: 'xl' },
  ],
  [
    t('admin.robots.lastSeen'),
    '8rem',
    ({ last_heartbeat }) => timeOrNever(last_heartbeat, t('admin.robots.never')),
  ],
  [
    t('admin.robots.battery'),
    '6rem',
    ({ battery }) => battery !== null && percent(battery),
    { align: 'right', from: 'lg' },
  ],
  [
    t('admin.robots.tags'),
    'minmax(0, 1fr)',
    ({ tags }) => <RobotTags tags={tags} to="/admin/robots" />,
    { from: 'lg' },
  ],
  [
    t('admin.robots.session'),
    '6rem',
    ({ session_id: sessionId, name }) =>
      sessionId && (
        <SessionLink
          id={sessionId}
          aria-label={t('admin.robots.openLabel', { robot: name })}
          inherit
          name={t('admin.robots.open')}
        />
      ),
    { card: 'buttons' },
  ],
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
  [
    t('admin.people.name'),
    'minmax(0, 2fr)',
    ({ id, display_name }) => (
      <LinkAnchor to="/admin/users/$userId" params={{ userId: id }} fw={600} inherit>
        {display_name}
      </LinkAnchor>
    ),
    { card: 'title' },
  ],
  [t('admin.people.email'), 'minmax(0, 3fr)', ({ email }) => email ?? ''],
  [
    t('admin.people.roles'),
    'minmax(0, 2fr)',
    ({ roles }) => shortList.format(roles.map((role) => roleTexts[role])) || t('admin.people.noRoles'),
  ],
  [
    t('admin.people.status'),
    '8rem',
    ({ suspended_at }) =>
      suspended_at !== null && <StateLabel shape="blind">{t('admin.people.suspended')}</StateLabel>,
    { card: 'end' },
  ],
  [
    t('admin.people.lastSeen'),
    '8rem',
    ({ last_seen_at }) => timeOrNever(last_seen_at, t('admin.people.never')),
  ],
  [t('admin.people.joined'), '8rem', ({ created_at }) => <Time at={created_at} />, { card: 'none' }],
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
